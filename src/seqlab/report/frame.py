"""Names for pandas objects in annotations.

pandas ships no annotations that a type checker can follow through `frame[mask]`, so they are
opaque to it.
"""

from typing import Any

Frame = Any  # pandas.DataFrame: one row a run
Column = Any  # pandas.Series: one value a run
