"""Mean, spread and 95 % intervals of a few seeds.

Welch's t interval of a difference of means, mean_a - mean_b +- t(0.975, nu) * sqrt(s_a^2/n_a +
s_b^2/n_b), nu from Welch-Satterthwaite; Wilson's interval of a fraction and Newcombe's (1998,
method 10) of a difference of fractions, which stay honest for 0 of 2 and 2 of 2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation (n - 1 in the denominator; nan for one value) of n values."""

    mean: float
    sd: float
    n: int


def summary(values: Sequence[float]) -> Summary:
    """Summary of finite values; mean nan for none."""
    n = len(values)
    mean = float(np.mean(values)) if n else math.nan
    return Summary(mean, float(np.std(values, ddof=1)) if n > 1 else math.nan, n)


def welch(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Interval of mean(a) - mean(b); (-inf, inf) when either has fewer than two values.

    Values that do not vary at all give an interval of width 0.
    """
    first, second = summary(a), summary(b)
    if min(first.n, second.n) < 2:
        return -math.inf, math.inf
    parts = first.sd**2 / first.n, second.sd**2 / second.n
    difference, error = first.mean - second.mean, math.sqrt(sum(parts))
    if error == 0:
        return difference, difference
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (first.n - 1) + parts[1] ** 2 / (second.n - 1))
    reach = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    return difference - reach, difference + reach


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """Interval of a mean; (-inf, inf) for fewer than two values."""
    found = summary(values)
    if found.n < 2:
        return -math.inf, math.inf
    reach = float(stats.t.ppf((1 + LEVEL) / 2, found.n - 1)) * found.sd / math.sqrt(found.n)
    return found.mean - reach, found.mean + reach


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Interval of a fraction of n trials; (0, 1) for none."""
    if n == 0:
        return 0.0, 1.0
    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    p = successes / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def newcombe(k_a: int, n_a: int, k_b: int, n_b: int) -> tuple[float, float]:
    """Interval of k_a/n_a - k_b/n_b; (-1, 1) when either has no trial."""
    if min(n_a, n_b) == 0:
        return -1.0, 1.0
    a, b = k_a / n_a, k_b / n_b
    (low_a, high_a), (low_b, high_b) = wilson(k_a, n_a), wilson(k_b, n_b)
    below = math.hypot(a - low_a, high_b - b)
    above = math.hypot(high_a - a, b - low_b)
    return a - b - below, a - b + above
