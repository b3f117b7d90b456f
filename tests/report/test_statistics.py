"""Intervals against scipy and against published numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from seqlab.report.statistics import newcombe, summary, t_interval, welch, wilson


def test_summary_by_hand():
    found = summary([1.0, 3.0])
    assert (found.mean, found.sd, found.n) == (2.0, math.sqrt(2), 2)
    assert math.isnan(summary([1.0]).sd)
    assert math.isnan(summary([]).mean)


def test_welch_and_t_agree_with_scipy():
    rng = np.random.default_rng(0)
    a, b = list(rng.normal(3, 1, 5)), list(rng.normal(2, 3, 8))
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert welch(a, b) == pytest.approx((expected.low, expected.high))
    alone = stats.ttest_1samp(a, 0.0).confidence_interval(0.95)
    assert t_interval(a) == pytest.approx((alone.low, alone.high))


def test_one_value_gives_no_interval_and_equal_values_a_point():
    assert welch([1.0], [2.0, 3.0]) == (-math.inf, math.inf)
    assert t_interval([1.0]) == (-math.inf, math.inf)
    assert welch([2.0, 2.0], [1.0, 1.0]) == (1.0, 1.0)


def test_fractions_as_published():
    # Newcombe 1998, table II, example a, method 10: 56/70 - 48/80.
    assert newcombe(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    # Newcombe 1998 (single proportion), 0 of 20 and 81 of 263, Wilson's score method.
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert newcombe(0, 0, 1, 2) == (-1.0, 1.0)
