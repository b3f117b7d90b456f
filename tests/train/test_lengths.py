"""Positions that would run out stop a run before it starts."""

import pytest

from seqlab.build import ConfigError
from seqlab.config import defaults
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.lengths import check_lengths
from seqlab.train.size import make_model

LEARNED = {"kind": "positions.learned.Learned", "max_length": 20}


def check(kind, **changes):
    mixers = {"a": "mixers.attention.MultiHead", "x": "mixers.cross.Cross"}
    base = {
        "model.kind": kind,
        "model.mixers": mixers,
        "model.decoder": {"pattern": "a+x" if "seq2seq" in kind else "a"},
        "model.position": LEARNED,
        "data.max_length": {"source": 20, "target": 20},
        "decode.max_length": 20,
    }
    config = apply_overrides(defaults(), base | changes)
    check_lengths(config, make_model(config, 11, 13))


def test_an_encoder_decoder_needs_a_position_for_each_token_of_a_side():
    check("models.seq2seq.Seq2Seq")
    for key in ("data.max_length.source", "data.max_length.target", "decode.max_length"):
        with pytest.raises(ConfigError, match=r"21 tokens.* 20 positions"):
            check("models.seq2seq.Seq2Seq", **{key: 21})


def test_a_language_model_needs_them_for_source_and_target_in_one_row():
    shorter = {"data.max_length": {"source": 9, "target": 10}, "decode.max_length": 10}
    check("models.lm.LM", **shorter)
    with pytest.raises(ConfigError, match="21 tokens"):
        check("models.lm.LM", **shorter | {"decode.max_length": 11})


def test_encodings_without_a_limit_always_fit():
    check("models.lm.LM", **{"model.position": "positions.rope.Rope", "decode.max_length": 500})
