"""The trigram baseline: by hand, and on the real dictionary."""

import math

import numpy as np
import pytest

from seqlab.data.encode import Ragged
from seqlab.tasks.ngram import trigram_loss


def ragged(*rows):
    return Ragged(np.array([t for row in rows for t in row]), np.cumsum([0, *map(len, rows)]))


def test_by_hand():
    """Trained on "a EOS": after (BOS, BOS) only a, after (BOS, a) only EOS was seen.

    Token EOS after a: unigram (1 + 2 * 1/2) / (2 + 2) = 1/2, bigram (1 + 1/2) / 2 = 3/4, trigram
    (1 + 3/4) / 2 = 7/8; the same for a at the start.
    """
    text = ragged([5, 2])
    assert trigram_loss(text, text) == pytest.approx(-math.log(7 / 8))


def test_an_unseen_history_falls_back():
    """ "EOS" at once: unigram 1/2, bigram (0 + 1/2) / 2, trigram (0 + 1/4) / 2 = 1/8."""
    assert trigram_loss(ragged([5, 2]), ragged([2])) == pytest.approx(-math.log(1 / 8))


def test_probabilities_sum_to_one():
    generator = np.random.default_rng(0)
    train = ragged(*([*generator.integers(5, 9, 6), 2] for _ in range(20)))
    # The losses of all possible one-token continuations of the start.
    losses = [trigram_loss(train, ragged([token])) for token in (2, 5, 6, 7, 8)]
    assert sum(math.exp(-loss) for loss in losses) == pytest.approx(1)


def test_random_tokens_cost_their_entropy():
    generator = np.random.default_rng(0)
    rows = [generator.integers(5, 9, 50) for _ in range(400)]
    assert trigram_loss(ragged(*rows[:300]), ragged(*rows[300:])) == pytest.approx(
        math.log(4), abs=0.01
    )
