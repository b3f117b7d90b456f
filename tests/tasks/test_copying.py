"""Copy and reverse: the examples they generate and the scores they give."""

from collections import Counter

import pytest

from seqlab.build import ConfigError
from seqlab.tasks.probes.copying import Copy, Reverse


@pytest.mark.parametrize("task", [Copy(train_max=6), Reverse(train_max=6)])
def test_targets_are_the_source_in_order_or_backwards(task):
    for record in task.load({}, "test"):
        source, target = record.source.split(), record.target.split()
        assert target == (source if type(task) is Copy else source[::-1])
        assert record.references == (record.target,)


def test_every_epoch_has_new_examples_of_the_same_lengths():
    task = Copy(train_min=3, train_max=8, epoch_examples=600)
    epochs = [task.generate(0, 0), task.generate(0, 1), task.generate(1, 0)]
    lengths = [Counter(len(record.source.split()) for record in epoch) for epoch in epochs]
    assert lengths[0] == lengths[1] == lengths[2] == dict.fromkeys(range(3, 9), 100)
    assert epochs[0] == task.generate(0, 0)
    assert len({tuple(epoch) for epoch in epochs}) == 3
    drawn = Counter(symbol for record in epochs[0] for symbol in record.source.split())
    assert set(drawn) == set(task.alphabet())
    assert max(drawn.values()) < 1.5 * min(drawn.values())


def test_test_lengths_go_to_twice_the_training_length():
    assert Copy(train_max=20).tested == (5, 10, 15, 20, 25, 30, 35, 40)
    assert Copy(train_max=1).tested == (1, 2)
    task = Copy(test_lengths=(7, 3), test_examples=4)
    assert [len(record.source.split()) for record in task.load({}, "test")] == [3] * 4 + [7] * 4
    assert max(len(record.source.split()) for record in Copy().load({}, "valid")) == 20


def test_unique_symbols_do_not_repeat():
    task = Copy(symbols=12, train_max=5, unique=True)
    assert all(len(set(r.source.split())) == len(r.source.split()) for r in task.generate(0, 0))
    with pytest.raises(ConfigError, match=r"task\.symbols: 9 symbols cannot fill .* of 10"):
        Copy(symbols=9, train_max=5, unique=True)


def test_score_by_hand():
    task = Copy(test_lengths=(2, 4), test_examples=2, solved=0.5)
    records = task.load({}, "test")
    right = [record.target for record in records]
    wrong_first = "? " + right[1].split()[1]
    scores = task.score([right[0], wrong_first, right[2] + " a", ""], records)
    assert scores == {
        "accuracy": (2 + 1 + 4 + 0) / 12,
        "exact": 0.25,
        "accuracy@2": 0.75,
        "exact@2": 0.5,
        "accuracy@4": 0.5,
        "exact@4": 0.0,
        "extrapolation_length": 2.0,
    }
    assert task.score(right, records)["extrapolation_length"] == 4
    assert task.score(["", "", *right[2:]], records)["extrapolation_length"] == 0


def test_large_alphabets_have_distinct_names():
    assert len(set(Copy(symbols=100).alphabet())) == 100


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"train_min": 5, "train_max": 4}, r"task\.train_min"),
        ({"test_lengths": (0, 3)}, r"task\.test_lengths"),
    ],
)
def test_bad_options_are_named(options, key):
    with pytest.raises(ConfigError, match=key):
        Copy(**options)
