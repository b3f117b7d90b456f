"""Shrinking a config: small, valid, and still the same system."""

import pytest

from seqlab.check.shrink import shrunk
from seqlab.check.systems import data, models, small
from seqlab.sweep.plan import points
from seqlab.sweep.source import Source
from seqlab.sweep.validation import validate
from toys import ROOT, config, pair, recurrent


def sweep(spec):
    source = Source.load(str(ROOT / "configs" / spec))
    return points(source.config(), source.sweep())


@pytest.mark.parametrize(
    ("spec", "systems", "corpora"),
    [
        ("position_encodings.py", 7, 3),
        ("pre_vs_post_ln.py", 4, 2),
        ("pre_vs_post_ln.py:full", 4, 2),
        ("road.py", 10, 1),
        ("road.py:quick", 6, 1),
        ("alignment.py", 6, 1),
    ],
)
def test_each_system_is_left_once(spec, systems, corpora):
    shrunken = small(sweep(spec))
    found = models(shrunken)
    assert len(found) == len({each.name for each in found}) == systems
    assert len(data(shrunken)) == corpora
    for each in found:
        validate(each.config)
        assert each.config["model"]["width"] == 16
        assert each.config["model"]["depth"] <= 2


def test_names_are_those_of_the_report_or_the_varied_keys():
    assert [each.name for each in models(small(sweep("road.py:quick")))][:2] == [
        "GRU",
        "GRU, source reversed",
    ]
    named = [each.name for each in models(small(sweep("position_encodings.py")))]
    assert named[:2] == ["position-Position", "position-Sinusoidal"]
    seeds = points(config(), [{"seed": 0}, {"seed": 1}])
    assert [each.name for each in models(small(seeds))] == ["LM"]


def test_numbers_go_and_programs_stay():
    large = config(
        seed=3,
        train__lr=0.5,
        train__accumulate=8,
        train__batch=64,
        train__ema=0.99,
        train__schedule="cosine",
        model__dropout=0.5,
        model__pattern="a*6",
        decode__method="beam",
        decode__beam=8,
        budget__parameters=10_000_000,
    )
    few = shrunk(large)
    assert few["seed"] == 0 and few["budget"]["parameters"] == 0
    assert few["train"]["accumulate"] == 2 and few["train"]["ema"] == 0.9
    assert few["train"]["schedule"] == "constant" and few["train"]["optimizer"]["name"] == "adamw"
    assert (
        few["decode"]["method"] == "beam"
        and few["decode"]["beam"] == 2
        and few["model"]["dropout"] == 0.1
    )
    assert few["model"]["pattern"] == "a*1"  # at depth 2
    assert few["train"]["lr"] != 0.5
    assert large["model"]["pattern"] == "a*6"


def test_layers_of_each_kind_stay():
    mixed = {"model__mixers": {"a": "mixers.attention.MultiHead", "r": "mixers.gru.Gru"}}
    few = shrunk(config(**mixed, model__pattern="r*4 a*8", model__depth=1))
    assert few["model"]["pattern"] == "r*2 a*2"


def test_heads_and_hidden_units_keep_their_proportions():
    grouped = shrunk(config(model__width=64, model__heads=8, model__kv_heads=2))
    assert (grouped["model"]["heads"], grouped["model"]["kv_heads"]) == (2, 1)
    own = {"a": {"kind": "mixers.attention.MultiHead", "heads": 6, "kv_heads": 6}}
    mixer = shrunk(config(model__width=48, model__mixers=own))["model"]["mixers"]["a"]
    assert (mixer["heads"], mixer["kv_heads"]) == (2, 2)
    wide = {"kind": "mixers.gru.Gru", "hidden": 32, "bidirectional": True}
    encoder = {"pattern": "r", "mixers": {"r": wide}, "width": 128}
    few = shrunk(recurrent("r", "models.bridge.Copy", encoder, model__width=64))["model"]
    assert few["encoder"]["width"] == 2 * few["width"]
    assert few["encoder"]["mixers"]["r"]["hidden"] == few["width"] // 2


def test_a_part_that_does_not_fit_keeps_its_width():
    """Context that is sized for a width of its own."""
    fixed = {"a": {"kind": "check.broken.Rigid"}}
    few = shrunk(config(model__width=24, model__mixers=fixed, model__pattern="a*5"))["model"]
    assert few["width"] == 24 and few["pattern"] == "a*1"


def test_rows_fit_their_bucket():
    for each in (config(), pair(), pair(train__batch_unit="tokens", train__batch=4096)):
        few = shrunk(each)
        validate(few)
        assert few["data"]["buckets"][0] >= max(few["data"]["max_length"].values())
    assert few["train"]["batch"] == 8 * few["data"]["buckets"][0]
