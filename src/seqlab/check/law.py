"""What a check is: a law, how it is measured, and what to do where it is broken."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Found:
    """Whether a law holds, and the number that says so, in words."""

    holds: bool
    measured: str


@dataclass(frozen=True)
class Law:
    """name: as the table shows it. check: its subject -> what was found; what it raises counts as
    broken. remedy: where to look then."""

    name: str
    check: Callable[[Any], Found]
    remedy: str


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest |a - b|, relative to the largest |a| where that is above 1; inf where not finite."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    largest = np.abs(a - b).max(initial=0) / max(1.0, np.abs(a).max(initial=0))
    return float(largest) if math.isfinite(largest) else math.inf


def at_most(largest: float, limit: float) -> Found:
    """A difference that must not exceed a limit."""
    return Found(largest <= limit, f"{largest:.1e} (limit {limit:.0e})")
