"""Where two curves part: from which number on every run of one lies above every run of the other.

With two or three seeds a t interval is wider than most differences, so the rule is one of ranks:
at a number n the curves are apart when min(upper) > max(lower) + margin over their runs. They part
at the smallest n from which on, at every larger n, they are apart with the same curve above.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Runs = Mapping[float, Sequence[float]]  # number -> the values of the runs there


@dataclass(frozen=True)
class Parting:
    """at: the smallest n; above: 0 when the first curve lies above from there on, 1: the second."""

    at: float
    above: int


def parting(first: Runs, second: Runs, margin: float = 0.0) -> Parting | None:
    """Where the two curves part for good; None where they do not, or share no number.

    Only numbers at which both have a finite value count.
    """
    found = None
    for n in sorted(first.keys() & second.keys(), reverse=True):
        sides = [[y for y in runs[n] if math.isfinite(y)] for runs in (first, second)]
        if not all(sides):
            continue
        above = _above(sides[0], sides[1], margin)
        if above is None or (found and above != found.above):
            break
        found = Parting(n, above)
    return found


def _above(first: Sequence[float], second: Sequence[float], margin: float) -> int | None:
    if min(first) > max(second) + margin:
        return 0
    return 1 if min(second) > max(first) + margin else None
