"""The table of runs: names for pandas objects in annotations, and config values as cells.

pandas ships no annotations that a type checker can follow through `frame[mask]`, so its objects
are opaque to it.
"""

import json
from collections.abc import Mapping
from typing import Any

Frame = Any  # pandas.DataFrame: one row a run
Column = Any  # pandas.Series: one value a run


def cell(value: Any) -> Any:
    """A config value as a cell: a part without options by its path, containers as JSON."""
    if isinstance(value, Mapping) and set(value) == {"kind"}:
        return value["kind"]
    if isinstance(value, Mapping | tuple):
        return json.dumps(value, sort_keys=True)
    return "" if value is None else value
