"""Sums of attention weights, by hand."""

import numpy as np
import pytest

from seqlab.analysis import weights

UNIFORM = np.full((3, 4), 0.25, np.float32)
DIAGONAL = np.eye(4, dtype=np.float32)
SINK = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]], np.float32)


def test_entropy_is_0_for_one_column_and_ln_s_for_all_alike():
    assert weights.entropy(DIAGONAL) == 0
    assert weights.entropy(UNIFORM) == pytest.approx(np.log(4))
    # ln 2 / 2 + 2 * ln 4 / 4 = 1.0397 nats in the first row, 0 in the second
    assert weights.entropy(SINK) == pytest.approx(1.0397 / 2, abs=1e-4)


def test_relative_entropy_is_a_share_of_ln_s():
    assert weights.relative_entropy(UNIFORM) == pytest.approx(1.0)
    assert weights.relative_entropy(SINK) == pytest.approx(1.0397 / 2 / np.log(3), abs=1e-4)
    assert weights.relative_entropy(np.ones((2, 1), np.float32)) == 0


def test_distance():
    assert weights.distance(DIAGONAL) == 0
    # Row 0 at 0, 1, 2 tokens: 0.75; row 1 at its last column: 1.
    assert weights.distance(SINK) == pytest.approx((0.75 + 1) / 2)
    # Scaled, row 0 is at 0 and sees 0, 1/2, 1; row 1 is at 1 and sees 1.
    assert weights.distance(SINK, scaled=True) == pytest.approx(0.375 / 2)


def test_share_and_what_is_left_without_it():
    assert weights.share(SINK, -1) == pytest.approx(0.625)
    np.testing.assert_allclose(weights.without(SINK, -1), [[2 / 3, 1 / 3], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(weights.without(SINK, 0), [[0.5, 0.5], [0, 1]], rtol=1e-6)


def test_heads_come_one_by_one():
    both = np.stack([UNIFORM[:, :3] / 0.75, SINK[[0, 1, 1]]])
    assert weights.entropy(both).shape == (2,)
    assert weights.without(both, -1).shape == (2, 3, 2)
    np.testing.assert_allclose(weights.entropy(both)[1], weights.entropy(both[1]), rtol=1e-6)
