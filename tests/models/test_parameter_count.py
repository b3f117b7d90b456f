"""One parameter count a config, equal to its formula."""

import pytest

from seqlab.config import defaults
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.size import abstract_params, count, make_model

D, L, V_SOURCE, V, F = 16, 3, 11, 13, 4
ATTENTION = 4 * (D * D + D)
FEEDFORWARD = 2 * F * D * D + F * D + D
NORM = 2 * D
RNN = 2 * D * D + D


def parameters(**changes):
    base = {"model.width": D, "model.heads": 2, "model.depth": L}
    config = apply_overrides(defaults(), base | changes)
    return count(abstract_params(make_model(config, V_SOURCE, V)))


def lm(mixer, **changes):
    return parameters(**{"model.kind": "models.lm.LM", "model.mixers": {"a": mixer}, **changes})


SELF = "mixers.attention.MultiHead"
# Norms: two a layer; Pre-LN has a final one besides, Post-LN must not have it.
LAYERS = V * D + L * (ATTENTION + FEEDFORWARD + 2 * NORM)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, LAYERS + NORM),
        ({"model.placement": "placements.post.Post"}, LAYERS),
        ({"model.placement": "placements.no_norm.NoNorm"}, LAYERS - 2 * L * NORM),
        ({"model.norm": "nn.norms.RMSNorm"}, LAYERS - L * NORM + NORM // 2),
        ({"model.tie_embeddings": False}, LAYERS + NORM + V * D),
        ({"model.kv_heads": 1}, LAYERS + NORM - L * (D * D + D)),
        (
            {"model.position": {"kind": "positions.learned.Learned", "max_length": 70}},
            LAYERS + NORM + 70 * D,
        ),
        ({"model.position": "positions.t5.T5"}, LAYERS + NORM + 32 * 2),  # one for all layers
        ({"model.position": "positions.shaw.Shaw"}, LAYERS + NORM + L * 33 * D // 2),  # one each
    ],
)
def test_decoder_only_attention(changes, expected):
    assert lm(SELF, **changes) == expected


@pytest.mark.parametrize(
    ("mixer", "expected"),
    [
        ("mixers.rnn.Rnn", RNN),
        ("mixers.lstm.Lstm", 4 * RNN),
        ("mixers.gru.Gru", 3 * RNN + D),  # the bias inside the reset
        ({"kind": "mixers.gru.Gru", "reset_after": False}, 3 * RNN),
        ({"kind": "mixers.lstm.Lstm", "hidden": 6}, 4 * (D + 6 + 1) * 6 + 6 * D + D),
    ],
)
def test_recurrences(mixer, expected):
    assert lm(mixer) == LAYERS + NORM + L * (expected - ATTENTION)


def test_encoder_decoder():
    mixers = {"a": SELF, "x": "mixers.cross.Cross"}
    encoder = V_SOURCE * D + L * (ATTENTION + FEEDFORWARD + 2 * NORM) + NORM
    decoder = V * D + L * (2 * ATTENTION + FEEDFORWARD + 3 * NORM) + NORM
    changes = {"model.mixers": mixers, "model.decoder": {"pattern": "a+x"}}
    assert parameters(**changes) == encoder + decoder


def test_the_first_experiment():
    """The counts that its committed table shows."""
    base = {"model.width": 64, "model.heads": 4, "model.depth": 2}
    mixers = {"a": SELF, "x": "mixers.cross.Cross"}
    config = apply_overrides(
        defaults(), base | {"model.mixers": mixers, "model.decoder": {"pattern": "a+x"}}
    )
    assert count(abstract_params(make_model(config, 34, 44))) == 238_720
