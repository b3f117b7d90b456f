"""Variants are checked when a sweep is planned."""

import pytest

from seqlab.build import ConfigError
from seqlab.sweep.validation import validate
from toys import pair


def checked(*triples):
    validate(pair(evaluate__variants=triples))


def test_variants_of_model_and_decoding_pass():
    checked(
        ("uniform", "model.mixers.x.weights", "nn.weights.Uniform"),
        ("beam_4", "decode.method", "beam"),
        ("beam_4", "decode.beam", 4),
    )


@pytest.mark.parametrize(
    ("triple", "message"),
    [
        (("u", "model.mixers.x.weigths", "nn.weights.Uniform"), "has no option `weigths`.*weights"),
        (("u", "model.mixers.x.weights", "nn.weights.Unifrom"), "did you mean|there is no part"),
        (("u", "model.mixrs.x.weights", "nn.weights.Uniform"), "no key 'mixrs'"),
        (("u", "decode.beam", 0), "must be above 0"),
        (("u", "decode.beam", "many"), "expected int"),
        (("u", "data.max_length", {}), "changes data.max_length"),
        (("u", "model.kind", "models.lm.LM"), "changes model.kind"),
        (("a/b", "decode.beam", 2), "letters, digits"),
        (("decode.beam", 2), "expected triples"),
        ("decode.beam", "expected triples"),
    ],
)
def test_a_wrong_one_stops_before_any_work(triple, message):
    with pytest.raises(ConfigError, match=rf"evaluate\.variants.*({message})"):
        checked(triple)
