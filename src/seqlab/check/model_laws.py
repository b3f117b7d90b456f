"""The laws that every model keeps, whatever it has learnt: causality, padding, chunks.

Measured on the logits of a random model, in float32; differences are relative to the largest logit.
"""

import dataclasses

import numpy as np

from seqlab.check.law import Found, Law, at_most, difference
from seqlab.check.probe import CHUNK, CHUNKS, ROWS, TIME, VOCABULARY, Probe

LIMIT = 1e-4
LENGTH, SOURCE = 3, 2  # real tokens of a padded row and of its source
SPLITS = ((3, 3, 2), (1,) * 8, (2, 0, 3, 1, 2), (0, 0, 3, 2, 3), (1, 3, 3, 0, 1), (3, 1, 1, 3))


def causality(probe: Probe) -> Found:
    """Row r reads other tokens from place r on: no output before r changes, one from r on does."""
    tokens = probe.tokens(1)
    later = np.arange(TIME) >= np.maximum(np.arange(ROWS), 1)[:, None]
    later[0] = False  # row 0 is what the others are compared to
    inputs = np.where(later, (tokens.inputs + 1) % VOCABULARY, tokens.inputs)
    logits, _ = probe.whole(dataclasses.replace(tokens, inputs=inputs))
    before = max(difference(logits[0, :r], logits[r, :r]) for r in range(1, ROWS))
    after = min(difference(logits[0, r:], logits[r, r:]) for r in range(1, ROWS))
    return Found(
        before <= LIMIT and LIMIT < after < np.inf,
        f"{before:.1e} before, {after:.1e} after (limit {LIMIT:.0e})",
    )


def padding(probe: Probe) -> Found:
    """The same few tokens, with noise before and after them in every proportion, in the source
    too: outputs and loss are those of the first row, which is padded on the right."""
    tokens = probe.tokens(2)
    starts = np.arange(ROWS) % (TIME - LENGTH + 1)
    columns = starts[:, None] + np.arange(LENGTH)
    inputs, mask = _padded(tokens.inputs, LENGTH, starts, 3)
    targets, _ = _padded(tokens.targets, LENGTH, starts, 4)
    changed = {"inputs": inputs, "mask": mask, "targets": targets}
    if probe.source:
        ends = np.arange(ROWS)[::-1] % (probe.source - SOURCE + 1)
        source, source_mask = _padded(tokens.source, SOURCE, ends, 5)
        changed |= {"source": source, "source_mask": source_mask}
    logits, loss = probe.whole(dataclasses.replace(tokens, **changed))
    real = logits[np.arange(ROWS)[:, None], columns]
    outputs = max(difference(real[0], row) for row in real)
    return at_most(max(outputs, difference(loss[:1], loss)), LIMIT)


def chunks(probe: Probe) -> Found:
    """Every row splits the same tokens in its own way, chunks padded at random places: outputs are
    those of the whole row."""
    tokens, random = probe.tokens(6), np.random.default_rng(7)
    logits, _ = probe.whole(tokens)
    shape = CHUNKS, ROWS, CHUNK
    inputs = random.integers(VOCABULARY, size=shape, dtype=np.int32)
    mask = np.zeros(shape, bool)
    for row in range(ROWS):
        for number, size in enumerate(SPLITS[row % len(SPLITS)]):
            mask[number, row, np.sort(random.permutation(CHUNK)[:size])] = True
        inputs[:, row][mask[:, row]] = tokens.inputs[row]
    found = probe.chunked(tokens, inputs, mask)
    rows = [found[:, row][mask[:, row]] for row in range(ROWS)]
    return at_most(difference(logits, np.stack(rows)), LIMIT)


def _padded(
    tokens: np.ndarray, length: int, starts: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first `length` tokens of each row moved to start at its place, noise around them, and
    the mask."""
    noise = np.random.default_rng(seed).integers(VOCABULARY, size=tokens.shape, dtype=np.int32)
    place = np.arange(tokens.shape[1]) - starts[:, None]
    mask = (place >= 0) & (place < length)
    moved = np.take_along_axis(tokens, np.clip(place, 0, length - 1), axis=1)
    return np.where(mask, moved, noise), mask


MODEL_LAWS = (
    Law(
        "causality",
        causality,
        "An output depends on a later input (or, where later outputs do not change either, on no "
        "input at all). A mixer or its mask lets position t see t+1: mixers get `causal` as an "
        "option and compare slots by seqlab.nn.masks.causal_mask, see mixers/base.py; a norm or a "
        "sum over time leaks as well. `pytest tests/laws --parts=YOUR.PACKAGE -k causal` tries "
        "each part alone.",
    ),
    Law(
        "padding",
        padding,
        "What stands in the padding reaches real positions or the loss. Something does not read "
        "view.mask: scores need seqlab.nn.masks.visible, sums and means over time the mask, a "
        "recurrence seqlab.nn.recurrence.masked_scan; positions count real tokens and come from "
        "view.positions, never from arange. The law of a part: padding_changes_nothing in "
        "tests/laws/laws.py.",
    ),
    Law(
        "chunks",
        chunks,
        "Decoding, which goes on from a carry, would not see what training saw. A mixer's carry "
        "misses a part of its state, counts padding, or restarts positions (take view.positions, "
        "which go on from the carry); if the layer draws random numbers outside of Flax's "
        "make_rng, that breaks this law as well. See mixers/base.py for the contract and "
        "chunks_equal_whole in tests/laws/laws.py.",
    ),
)
