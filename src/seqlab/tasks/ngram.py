"""A count-based n-gram model: the least that a neural model has to beat."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator

from seqlab.data.encode import Ragged
from seqlab.data.text.base import BOS

ORDER = 3


def trigram_loss(train: Ragged, valid: Ragged) -> float:
    """Cross-entropy of a trigram model in nats per token of `valid`, EOS included.

    Witten-Bell interpolation, without parameters: with c(h) tokens seen after the history h, T(h)
    of them different,

        p(w | h) = (c(h w) + T(h) p(w | shorter h)) / (c(h) + T(h)),

    down to a uniform distribution over the tokens that occur in either split.
    """
    grams: Counter[tuple[int, ...]] = Counter()
    for history, token in _events(train):
        for start in range(ORDER):
            grams[*history[start:], token] += 1
    totals: Counter[tuple[int, ...]] = Counter()
    kinds: Counter[tuple[int, ...]] = Counter()
    for gram, count in grams.items():
        totals[gram[:-1]] += count
        kinds[gram[:-1]] += 1
    uniform = 1 / len({*train.tokens.tolist(), *valid.tokens.tolist()})

    def probability(history: tuple[int, ...], token: int) -> float:
        p = uniform
        for start in reversed(range(ORDER)):
            shorter = history[start:]
            if shorter in totals:
                kind = kinds[shorter]
                p = (grams[*shorter, token] + kind * p) / (totals[shorter] + kind)
        return p

    # Each distinct event once: most of them are frequent.
    events = Counter(_events(valid))
    loss = -sum(count * math.log(probability(*event)) for event, count in events.items())
    return loss / events.total()


def _events(ragged: Ragged) -> Iterator[tuple[tuple[int, ...], int]]:
    """(the two tokens before, the token) for every token; a row begins with BOS BOS."""
    for row in _rows(ragged):
        history = (BOS,) * (ORDER - 1)
        for token in row:
            yield history, token
            history = (*history[1:], token)


def _rows(ragged: Ragged) -> Iterable[list[int]]:
    tokens, offsets = ragged.tokens.tolist(), ragged.offsets.tolist()
    return (tokens[start:end] for start, end in itertools.pairwise(offsets))
