"""Plans: nothing dropped, nothing doubled, few shapes, another order every epoch."""

import itertools

import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.data import plan

LENGTHS = np.random.default_rng(0).integers(1, 33, 1000)
BUCKETS = plan.buckets_of(LENGTHS, (8, 16, 24, 32))


def test_every_example_stands_once_in_its_smallest_bucket():
    batches = plan.epoch(BUCKETS, 32, "examples", (0, 0))
    rows = np.concatenate([rows for _, rows in batches])
    assert sorted(rows.tolist()) == list(range(1000))
    for bucket, members in batches:
        assert (LENGTHS[members] <= bucket).all()
        assert (LENGTHS[members] > bucket - 8).all()


def test_a_ragged_epoch_has_one_shape_a_bucket():
    shapes = {
        (plan.rows_in(bucket, 1024, "tokens"), bucket)
        for bucket, rows in plan.epoch(BUCKETS, 1024, "tokens", (0, 0))
    }
    assert shapes == {(128, 8), (64, 16), (42, 24), (32, 32)}


def test_buckets_come_in_runs():
    order = [bucket for bucket, _ in plan.epoch(BUCKETS, 4, "examples", (0, 0))]
    runs = [len(list(run)) for _, run in itertools.groupby(order)]
    assert np.mean(runs) > plan.GROUP / 2


def test_order_depends_on_seed_and_epoch_only():
    def order(*seed):
        return [rows.tolist() for _, rows in plan.epoch(BUCKETS, 32, "examples", seed)]

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1)
    assert order(0, 0) != order(1, 0)


def test_even_ten_examples_of_one_file_are_shuffled_and_all_seen():
    lengths = np.full(10, 8)
    epochs = [plan.epoch(lengths, 4, "examples", (0, number)) for number in range(20)]
    orders = [np.concatenate([rows for _, rows in epoch]).tolist() for epoch in epochs]
    assert len({tuple(order) for order in orders}) > 15
    assert all(sorted(order) == list(range(10)) for order in orders)
    assert all([len(rows) for _, rows in epoch] == [4, 4, 2] for epoch in epochs)


def test_once_keeps_the_order():
    rows = [rows for bucket, rows in plan.once(BUCKETS, 32, "examples") if bucket == 16]
    assert np.concatenate(rows).tolist() == np.flatnonzero(BUCKETS == 16).tolist()


def test_errors_name_the_key():
    with pytest.raises(ConfigError, match=r"data\.buckets: the longest row has 33 .* at least 33"):
        plan.buckets_of(np.array([3, 33]), (32, 8))
    with pytest.raises(ConfigError, match=r"train\.batch: 16 tokens are not one row of bucket 32"):
        plan.rows_in(32, 16, "tokens")
    with pytest.raises(ConfigError, match=r"train\.batch_unit: 'sentences'"):
        plan.rows_in(32, 16, "sentences")
