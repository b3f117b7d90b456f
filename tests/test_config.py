"""The config: written and read back, overridden, checked."""

import math

import pytest

from seqlab.build import ConfigError
from seqlab.config import complete, defaults, flatten, from_json, to_json
from seqlab.sweep.overrides import apply_overrides, check, parse, split_values
from seqlab.sweep.validation import validate
from seqlab.train.fingerprint import fingerprint


def test_json_round_trip_keeps_everything():
    config = check(defaults())
    config["task"] |= {
        "nested": {"empty": {}, "tuple": (1, (2.5, None), {"deep": ()})},
        "small": 1e-8,
        "big": math.inf,
        "unicode": "æʒ… ",
        "flag": True,
        "one": 1,
        "one_float": 1.0,
    }
    again = from_json(to_json(config))
    assert again == config
    assert type(again["task"]["one_float"]) is float
    assert type(again["task"]["one"]) is int
    assert type(again["task"]["nested"]["tuple"]) is tuple
    assert math.isnan(from_json(to_json({"x": math.nan}))["x"])


def test_json_leaves_the_live_config_alone_and_is_strict():
    config = defaults()
    config.evaluate.at = (5, 10)
    before = config.to_dict()
    text = to_json(config)
    assert config.to_dict() == before
    assert config.is_locked
    assert "Infinity" not in to_json({"x": -math.inf})
    assert from_json(text)["evaluate"]["at"] == (5, 10)


@pytest.mark.parametrize("value", [object(), len, {1: 2}, {"$float": "inf"}])
def test_json_refuses_what_is_no_data(value):
    with pytest.raises(ValueError, match="train"):
        to_json({"train": {"bad": value}})


def test_every_key_of_a_config_is_locked_but_for_options_of_parts():
    config = defaults()
    with pytest.raises((AttributeError, KeyError)):
        config.model.placment = "placements.pre.Pre"
    config.task.anything = 3
    config.model.encoder.pattern = "a"
    config.model.position = {"kind": "positions.rope.Rope", "base": 500.0}
    assert check(config)["model"]["position"]["base"] == 500.0


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("train.lr", "1", 1.0),
        ("train.lr", "1e-4", 1e-4),
        ("train.lr", "-1", -1.0),
        ("train.steps", "7", 7),
        ("train.progress", "false", False),
        ("train.progress", "True", True),
        ("data.buckets", "16,32", (16, 32)),
        ("data.buckets", "[16]", (16,)),
        ("data.source", "a,b", "a,b"),
        ("data.source", "1", "1"),
        ("data.source", "'1'", "1"),
        ("task.train_max", "8", 8),
        ("task.unique", "false", False),
        ("task.option", "null", None),
        ("task", "tasks.mine.Mine", {"kind": "tasks.mine.Mine"}),
        ("model.encoder.depth", "3", 3),
        ("model.mixers.a.heads", "8", 8),
        ("model.position", '{"kind": "positions.rope.Rope"}', {"kind": "positions.rope.Rope"}),
    ],
)
def test_flags_get_the_type_of_their_key(key, text, value):
    got = parse(key, text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("train.steps", "1e3", "config.train.steps: expected int, got '1e3'"),
        ("train.lr", "fast", "config.train.lr: expected float, got 'fast'"),
        ("train.progress", "1", "bool"),
        ("data.buckets", "5", "tuple"),
        ("model.placment", "x", "did you mean `placement`"),
        ("placement", "x", "did you mean `model.placement`"),
        ("model.encoder.num_layer", "x", "'num_layer'"),
        ("model.encoder.dept", "3", "did you mean `depth`"),
        ("data.source.x", "3", "'x'"),
        ("model.position", "{'base': 1}", "`kind`"),
    ],
)
def test_wrong_flags_name_key_value_and_what_is_right(key, text, says):
    with pytest.raises(ConfigError, match=says.replace("(", r"\(")) as error:
        parse(key, text)
    assert key in str(error.value)


def test_overrides_from_python():
    config = apply_overrides(
        defaults(),
        {
            "train.lr": 1,
            "train.progress": "false",
            "model.position.base": 3.0,
            "model.encoder.depth": 5,
            "data.source": "gs://b/c d",
            "data.buckets": [8, 64],
        },
    )
    assert config["train"]["lr"] == 1.0
    assert type(config["train"]["lr"]) is float
    assert config["train"]["progress"] is False
    position = {"kind": "positions.sinusoidal.Sinusoidal", "base": 3.0}
    assert config["model"]["position"] == position
    assert config["model"]["encoder"] == {"depth": 5}
    assert config["data"]["buckets"] == (8, 64)
    with pytest.raises(ConfigError, match=r"train.steps: expected int, got 1000.0 \(float\)"):
        apply_overrides(defaults(), {"train.steps": 1e3})
    with pytest.raises(ConfigError, match="did you mean `placement`"):
        apply_overrides(defaults(), {"model": {"placment": "x"}})


def test_values_are_split_at_outer_commas_only():
    assert split_values("(1,2),'a,b',{'c': [3,4]},d") == ["(1,2)", "'a,b'", "{'c': [3,4]}", "d"]


def test_flatten_names_every_key():
    assert flatten({"a": {"b": 1, "c": {}}, "d": (1,)}) == {"a.b": 1, "a.c": {}, "d": (1,)}


def valid(**changes):
    validate(apply_overrides(defaults(), {key.replace("__", "."): v for key, v in changes.items()}))


def test_the_defaults_are_valid():
    valid()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model__width": 63}, "60 or 64.* 3 or 7"),
        ({"model__width": 64, "model__heads": 5}, "60 or 65.* 4 or 8"),
        ({"model__encoder__heads": 5}, "not divisible"),
        ({"model__kv_heads": 3}, "choose from 1, 2, 4"),
        ({"train__schedule": "cosin"}, "did you mean `cosine`"),
        ({"train__precision": "fp16"}, "did you mean `bf16`"),
        ({"train__steps": 0}, "train.steps: must be above 0"),
        ({"train__warmup": -1}, "train.warmup: must be 0 or more"),
        ({"model__dropout": 1.0}, r"\[0, 1\)"),
        ({"train__lr": math.nan}, "train.lr"),
        ({"data__buckets": (64, 16)}, "ascend"),
        ({"data__buckets": (16, 32)}, "shorter than data.max_length 64"),
        ({"train__accumulate": 5}, "accumulate"),
        ({"train__batch": 32, "train__batch_unit": "tokens"}, "at least 64"),
        ({"model__position": "positions.rope.Rop"}, "positions.rope.Rope"),
        ({"model__position": {"kind": "positions.rope.Rope", "bas": 1.0}}, "did you mean `base`"),
        ({"model__position__base": "x"}, "expected float, got str 'x'"),
    ],
)
def test_validation_says_what_would_be_right(changes, says):
    with pytest.raises(ConfigError, match=says):
        valid(**changes)


def test_fingerprint_counts_only_what_changes_results():
    base = check(defaults())

    def changed(key, value):
        return fingerprint(apply_overrides(base, {key: value})) != fingerprint(base)

    assert not changed("train.progress", False)
    assert not changed("data.workers", 2)
    assert not changed("report.question", "another")
    assert not changed("train.steps", 5)
    assert changed("train.lr", 1e-4)
    assert changed("seed", 1)
    cosine = apply_overrides(base, {"train.schedule": "cosine"})
    longer = apply_overrides(cosine, {"train.steps": 5})
    assert fingerprint(cosine) != fingerprint(longer)


def test_a_key_that_did_not_exist_yet_is_taken_for_its_default():
    now = apply_overrides(defaults(), {"train.lr": 0.5})
    before = {**now, "train": {k: v for k, v in now["train"].items() if k != "label_smoothing"}}
    assert fingerprint(before) == fingerprint(now)
    assert complete(before) == now
    smooth = apply_overrides(defaults(), {"train.lr": 0.5, "train.label_smoothing": 0.1})
    assert fingerprint(before) != fingerprint(smooth)
