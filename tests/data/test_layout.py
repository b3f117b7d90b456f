"""Layouts: the rows of the two drawings in layout.py, and the same against a plain loop."""

import numpy as np
import pytest

from seqlab.data.encode import Examples, Ragged
from seqlab.data.layout import LAYOUTS
from seqlab.data.text.base import BOS, EOS, SEP


def examples_of(*pairs):
    def ragged(rows):
        tokens = np.array([token for row in rows for token in row], np.int32)
        return Ragged(tokens, np.cumsum([0, *map(len, rows)]))

    sources, targets = zip(*pairs, strict=True)
    index = np.arange(len(pairs), dtype=np.int32) + 100
    return Examples(ragged(sources), ragged(targets), index, {})


PAIRS = examples_of(([11, 12, 13, EOS], [21, 22, EOS]), ([14, EOS], [23, 24]))  # the second is cut
BOTH = np.array([0, 1])


def test_pair():
    batch = LAYOUTS["pair"].batch(PAIRS, BOTH, 5, 3)
    assert batch.source.tolist() == [[11, 12, 13, EOS, 0], [14, EOS, 0, 0, 0], [0] * 5]
    assert batch.source_mask.sum(axis=1).tolist() == [4, 2, 0]
    assert batch.inputs.tolist() == [[BOS, 21, 22, 0, 0], [BOS, 23, 0, 0, 0], [0] * 5]
    assert batch.targets.tolist() == [[21, 22, EOS, 0, 0], [23, 24, 0, 0, 0], [0] * 5]
    assert batch.weights.tolist() == [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0] * 5]
    assert batch.mask.tolist() == (batch.weights > 0).tolist()
    assert batch.index.tolist() == [100, 101, -1]


def test_prefix():
    batch = LAYOUTS["prefix"].batch(PAIRS, BOTH, 8, 3)
    assert batch.inputs.tolist() == [
        [BOS, 11, 12, 13, SEP, 21, 22, 0],
        [BOS, 14, SEP, 23, 0, 0, 0, 0],
        [0] * 8,
    ]
    assert batch.targets.tolist() == [
        [11, 12, 13, SEP, 21, 22, EOS, 0],
        [14, SEP, 23, 24, 0, 0, 0, 0],
        [0] * 8,
    ]
    assert batch.weights.tolist() == [
        [0, 0, 0, 0, 1, 1, 1, 0],
        [0, 0, 1, 1, 0, 0, 0, 0],
        [0] * 8,
    ]
    assert batch.mask.sum(axis=1).tolist() == [7, 4, 0]
    assert batch.source.shape == batch.source_mask.shape == (3, 0)


def test_prompts():
    pair = LAYOUTS["pair"].prompt(PAIRS, BOTH, 5, 3)
    assert pair.inputs.tolist() == [[BOS], [BOS], [0]]
    assert pair.mask.tolist() == [[True], [True], [False]]
    assert pair.source.tolist() == LAYOUTS["pair"].batch(PAIRS, BOTH, 5, 3).source.tolist()
    prefix = LAYOUTS["prefix"].prompt(PAIRS, BOTH, 6, 3)
    assert prefix.inputs.tolist() == [[BOS, 11, 12, 13, SEP, 0], [BOS, 14, SEP, 0, 0, 0], [0] * 6]
    assert prefix.mask.sum(axis=1).tolist() == [5, 3, 0]
    assert not pair.weights.any()
    assert not prefix.weights.any()


@pytest.mark.parametrize("name", LAYOUTS)
def test_rows_just_fit_the_width_that_lengths_tells(name):
    layout = LAYOUTS[name]
    width = int(layout.lengths(PAIRS).max())
    whole = layout.batch(PAIRS, BOTH, width, 2)
    assert whole.weights.sum() == len(PAIRS.target.tokens)
    assert (np.logical_or(whole.mask, whole.source_mask) if name == "pair" else whole.mask)[
        :, -1
    ].any()
    with pytest.raises((ValueError, IndexError)):
        layout.batch(PAIRS, BOTH, width - 1, 2)
    layout.prompt(PAIRS, BOTH, int(layout.prompt_lengths(PAIRS).max()), 2)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_target_token_is_predicted_from_the_token_before(name):
    generator = np.random.default_rng(0)

    def row(low, ends):
        return [*generator.integers(low, low + 9, generator.integers(0, 6)), *[EOS] * ends]

    many = examples_of(*((row(10, 1), row(30, 1)) for _ in range(40)))
    batch = LAYOUTS[name].batch(many, np.arange(40), 16, 40)
    for number in range(40):
        real = batch.weights[number] > 0
        target = many.target.row(number).tolist()
        assert batch.targets[number][real].tolist() == target
        before = [SEP if name == "prefix" else BOS, *target[:-1]]
        assert batch.inputs[number][real].tolist() == before
