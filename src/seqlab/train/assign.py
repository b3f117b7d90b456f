"""Setting one key of a plain config."""

import copy
from typing import Any


def assign(config: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key in place; a part that is given as a path becomes a dict with `kind`."""
    *path, last = key.split(".")
    group = config
    for name in path:
        if not isinstance(group.get(name), dict):  # a part given as a path gets an option
            group[name] = {"kind": group[name]} if group.get(name) else {}
        group = group[name]
    group[last] = copy.deepcopy(value)
