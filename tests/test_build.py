"""From names to parts, and what is said when there is none."""

import pytest

from seqlab.build import ConfigError, build, check_type, parts, resolve, suggest, trust
from seqlab.positions.rope import Rope
from seqlab.positions.t5 import T5


def test_a_part_by_its_path():
    assert build("positions.rope.Rope", "model.position") == Rope()


def test_options_and_defaults():
    spec = {"kind": "positions.t5.T5", "buckets": 8}
    assert build(spec, "model.position", causal=False, width=3) == T5(buckets=8, causal=False)
    own = {**spec, "causal": True}
    assert build(own, "model.position", causal=False) == T5(buckets=8, causal=True)


def test_what_is_no_description_is_returned():
    part = Rope()
    assert build(part, "model.position") is part


def test_an_int_becomes_a_float_and_nothing_else():
    assert build({"kind": "positions.rope.Rope", "base": 500}, "model.position").base == 500.0
    assert type(check_type(3, float, "")) is float
    for value, annotation in [
        (1.5, int),
        (True, int),
        ("1", int),
        (1, bool),
        (1, str),
        ("x", float),
    ]:
        with pytest.raises(ConfigError, match=f"expected {annotation.__name__}"):
            check_type(value, annotation, "key")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "positions.rope.Rop",
            r"no part 'positions.rope.Rop'; did you mean .*`positions.rope.Rope`",
        ),
        ("positions.rop.Rope", r"did you mean `positions.rope.Rope`"),
        ("Rope", r"`kind` is a dotted path, got 'Rope'"),
        ("", r"`kind` is a dotted path"),
        ({"buckets": 3}, r"needs a `kind`, got keys \['buckets'\]"),
        ({"kind": 3}, r"`kind` is a dotted path, got 3"),
        (
            {"kind": "positions.t5.T5", "bucket": 3},
            r"position.bucket: .*did you mean `buckets`",
        ),
        ({"kind": "positions.t5.T5", "buckets": "3"}, r"buckets: expected int, got str '3'"),
        ({"kind": "positions.t5.T5", "buckets": 3.0}, r"buckets: expected int, got float"),
        ({"kind": "mixers.rnn.Rnn"}, r"needs a value for width"),
        ("nowhere.at.All", r"no part 'nowhere.at.All'"),
    ],
)
def test_errors_name_key_value_and_the_nearest(spec, message):
    with pytest.raises(ConfigError, match=message) as caught:
        build(spec, "model.position")
    assert str(caught.value).startswith("model.position")


def test_trust_ends_with_its_block():
    with trust([]):
        resolve("positions.rope.Rope", "key")
        resolve("seqlab.positions.rope.Rope", "key")
        with pytest.raises(ConfigError, match=r"outside seqlab \(json.decoder\)"):
            resolve("json.decoder.JSONDecoder", "key")
        with trust(["json"]):
            resolve("json.decoder.JSONDecoder", "key")
        with pytest.raises(ConfigError):
            resolve("json.decoder.JSONDecoder", "key")
    resolve("json.decoder.JSONDecoder", "key")


def test_a_trusted_name_is_no_prefix():
    with trust(["js"]), pytest.raises(ConfigError):
        resolve("json.decoder.JSONDecoder", "key")


def test_parts_are_found_by_walking():
    found = parts("positions")
    assert found["positions.rope.Rope"] is Rope
    assert "positions.base.Position" in found
    assert "mixers.base.Mixer" not in parts("mixers")
    assert not any("_" in name.rpartition(".")[2] for name in found)


def test_suggestions():
    assert suggest("placment", ["placement", "width"]) == "; did you mean `placement`?"
    assert suggest("zzz", ["b", "a"]) == "; choose from: a, b"
