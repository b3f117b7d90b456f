"""Where curves part, on numbers made by hand."""

import math

from seqlab.report.parting import Parting, parting


def curve(*pairs):
    """Runs at 5, 15, 25, ... words."""
    return {5.0 + 10 * n: [float(run) for run in runs] for n, runs in enumerate(pairs)}


FLAT = curve((30, 31), (30, 31), (30, 31))


def test_curves_part_where_every_run_is_above_from_there_on():
    assert parting(FLAT, curve((30, 32), (28, 29), (10, 12))) == Parting(15.0, 0)
    assert parting(curve((30, 32), (28, 29), (10, 12)), FLAT) == Parting(15.0, 1)
    assert parting(FLAT, curve((28, 29), (28, 29), (10, 12))) == Parting(5.0, 0)
    assert parting(FLAT, curve((30, 32), (30, 31), (10, 12))) == Parting(25.0, 0)


def test_curves_that_meet_again_part_only_after_it():
    assert parting(FLAT, curve((20, 21), (29, 30.5), (10, 12))) == Parting(25.0, 0)
    assert parting(FLAT, curve((20, 21), (20, 21), (30, 30))) is None


def test_a_change_of_sides_is_where_they_part():
    assert parting(FLAT, curve((20, 21), (35, 36), (35, 36))) == Parting(15.0, 1)


def test_runs_that_touch_are_not_apart():
    assert parting(FLAT, FLAT) is None
    assert parting(FLAT, curve((30, 30), (30, 30), (29, 30))) is None


def test_the_margin_must_be_exceeded():
    lower = curve((30, 31), (28, 29), (10, 12))
    assert parting(FLAT, lower, margin=0.9) == Parting(15.0, 0)
    assert parting(FLAT, lower, margin=1.0) == Parting(25.0, 0)
    assert parting(FLAT, lower, margin=18.0) is None


def test_only_numbers_that_both_have():
    nan = math.nan
    assert parting(FLAT, {15.0: (1.0, 2.0), 99.0: (50.0, 60.0)}) == Parting(15.0, 0)
    assert parting(FLAT, curve((30, nan), (nan, 29), (10, nan))) == Parting(15.0, 0)
    assert parting(FLAT, curve((1, 2), (nan, nan), (nan, nan))) == Parting(5.0, 0)
    assert parting(FLAT, {99.0: (1.0, 2.0)}) is None
    assert parting({}, FLAT) is None
