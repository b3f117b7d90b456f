"""Widths that meet a budget."""

import sys

import jax
import pytest
from absl.testing import flagsaver

from seqlab.analysis.run import load_run
from seqlab.build import ConfigError
from seqlab.sweep.budget import fit, fitted, width_step
from seqlab.sweep.overrides import apply_overrides
from seqlab.sweep.plan import Point, points
from seqlab.sweep.validation import validate
from seqlab.train.directory import RunDirectory
from seqlab.train.size import budgeted, size
from seqlab.train.writer import history, read
from toys import ROOT, config, pair, train

sys.path.insert(0, str(ROOT))

import launch

BARE = {
    "model__position": "positions.base.Position",
    "model__placement": "placements.no_norm.NoNorm",
    "model__feedforward": "nn.feedforward.NoFeedForward",
}


def asking(base, **budget):
    found = apply_overrides(base, {f"budget.{key}": value for key, value in budget.items()})
    validate(found)
    return found


def lm(mixer, **changes):
    return config(model__mixers={"a": mixer}, **BARE, **changes)


def recurrent(**changes):
    """A bidirectional encoder and a decoder that attends to it."""
    mixers = {
        "b": {"kind": "mixers.lstm.Lstm", "bidirectional": True},
        "r": "mixers.lstm.Lstm",
        "x": "mixers.cross.Cross",
    }
    sides = {"model__encoder": {"pattern": "b"}, "model__decoder": {"pattern": "r+x"}}
    return pair(model__mixers=mixers, **sides, **BARE, **changes)


@pytest.mark.parametrize(
    ("base", "limit"),
    [
        (pair(model__heads=4), {"parameters": 60_000}),
        (pair(model__heads=4, model__placement="placements.post.Post"), {"flops": 2_000_000}),
        (config(model__heads=4), {"parameters": 40_000, "embeddings": True}),
        (config(model__heads=3, model__position="positions.rope.Rope"), {"parameters": 9_000}),
        (lm("mixers.rnn.Rnn"), {"parameters": 20_000}),
        (lm("mixers.gru.Gru"), {"parameters": 20_000}),
        (lm("mixers.lstm.Lstm"), {"flops": 2_000_000}),
        (recurrent(), {"parameters": 100_000}),
    ],
)
def test_every_model_comes_within_the_tolerance(base, limit):
    wanted = asking(base, **limit)
    found = fitted(wanted)
    number = limit.get("parameters") or limit["flops"]
    assert budgeted(found) == pytest.approx(number, rel=0.02)
    assert found["model"]["width"] % (width_step(wanted) // 2) == 0
    assert found["budget"] == wanted["budget"]
    assert fitted(found) == found


def test_a_budget_with_embeddings_counts_the_tables_of_the_data():
    found = fitted(asking(config(), parameters=40_000, embeddings=True, tolerance=0.005))
    assert size(found).parameters == pytest.approx(40_000, rel=0.005)
    found = fitted(asking(config(), parameters=40_000, tolerance=0.005))
    assert size(found).parameters_without_embeddings == pytest.approx(40_000, rel=0.005)


def test_heads_divide_the_width_into_even_parts_and_recurrences_have_no_heads():
    assert width_step(pair(model__heads=4)) == 8
    assert (
        width_step(
            config(
                model__mixers={
                    "a": {"kind": "mixers.attention.MultiHead", "heads": 3},
                    "r": "mixers.gru.Gru",
                }
            )
        )
        == 6
    )
    assert width_step(lm("mixers.gru.Gru", model__heads=8)) == 2
    assert fitted(asking(lm("mixers.gru.Gru"), parameters=100_000))["model"]["width"] == 91


def test_an_inner_width_is_tuned_where_the_width_is_too_coarse():
    found = fitted(asking(pair(model__heads=4), parameters=100_000))["model"]
    assert found["width"] % 8 == 0
    assert found["feedforward"]["kind"] == "nn.feedforward.FeedForward"
    assert abs(found["feedforward"]["hidden"] - 4 * found["width"]) < found["width"]


def test_an_inner_width_of_the_config_stays():
    own = {"kind": "nn.feedforward.FeedForward", "hidden": 50}
    found = fitted(asking(config(model__feedforward=own), parameters=60_000, tolerance=0.05))
    assert found["model"]["feedforward"] == own


def test_without_a_budget_and_within_it_nothing_changes():
    assert fitted(config()) == config()
    met = asking(config(), parameters=6_600)
    assert fitted(met) == met


def test_what_cannot_be_met_names_the_nearest():
    with pytest.raises(ConfigError, match=r"budget.parameters: nothing .* 2.0% of 10: width 4 has"):
        fitted(asking(config(), parameters=10))
    bare = asking(lm("mixers.rnn.Rnn"), parameters=20_011, tolerance=1e-6)
    with pytest.raises(ConfigError, match=r"width 70 has 19,740, width 72 has 20,880"):
        fitted(bare)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget.parameters": -1}, "budget.parameters: must be 0 or more"),
        ({"budget.tolerance": 0.0}, r"budget.tolerance: must be in \(0, 1\)"),
        ({"budget.parameters": 9, "budget.flops": 9}, "`parameters` or `flops`"),
        ({"budget.parameters": 9, "model.encoder.width": 8}, "model.encoder.width: a budget"),
    ],
)
def test_budgets_that_say_nothing_sensible_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        validate(apply_overrides(pair(), changes))


def test_the_width_of_the_config_need_not_suit_the_heads_where_a_budget_sets_it():
    validate(asking(config(model__width=17), parameters=9_000))
    validate(lm("mixers.gru.Gru", model__width=17))
    with pytest.raises(ConfigError, match=r"17 is not divisible by model.heads 2"):
        validate(config(model__width=17))


def test_ids_stay_and_a_run_keeps_what_was_found_for_it(tmp_path):
    planned = points(asking(config(), parameters=40_000), [{"seed": 0}, {"seed": 1}])
    first, second = fit(planned, tmp_path)
    assert [first.id, second.id] == [point.id for point in planned]
    assert first.varied == planned[0].varied
    there = apply_overrides(
        first.config, {"model.width": 42, "model.feedforward.hidden": 9, "train.keep": 3}
    )
    RunDirectory.create(tmp_path / first.id, there)
    again, same = fit(planned, tmp_path)
    assert again.config == apply_overrides(
        first.config, {"model.width": 42, "model.feedforward.hidden": 9}
    )
    assert same == second


def test_a_sweep_over_the_width_is_refused(tmp_path):
    planned = points(asking(config(), parameters=9_000), [{"model.width": w} for w in (16, 32)])
    with pytest.raises(ConfigError, match=r"width-16.*which the sweep varies"):
        fit(planned, tmp_path)


def test_an_impossible_point_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"the_one: config.budget.parameters"):
        fit([Point("the_one", asking(config(), parameters=10), {})], tmp_path)


def test_training_refuses_what_was_not_fitted(tmp_path):
    with pytest.raises(ConfigError, match="asks for 90,000, the model of width 16 has"):
        train(asking(config(), parameters=90_000), tmp_path / "run")
    assert not (tmp_path / "run").exists()


CONFIG = """
from seqlab.config import defaults

def get_config():
    config = defaults()
    config.update(CHANGES)
    config.budget.parameters = 9000
    return config
"""


def launched(tmp_path, overrides=None, **flags):
    launch.FLAGS.mark_as_parsed()
    here = {"config": "fair.py", "workdir": str(tmp_path / "out"), **flags}
    with flagsaver.flagsaver(**here), jax.numpy_dtype_promotion("standard"):
        return launch.main(overrides or {})


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mixers = {"a": "mixers.gru.Gru"}
    changes = config(train__steps=4, model__depth=1, model__mixers=mixers, decode__method="none")
    (tmp_path / "fair.py").write_text(CONFIG.replace("CHANGES", repr(changes)))
    with pytest.raises(ConfigError, match="nothing comes within"):
        launched(tmp_path, {"budget.parameters": 10})
    assert not (tmp_path / "out").exists()
    assert launched(tmp_path, plan=True) == 0
    _, name, width, *_ = capsys.readouterr().out.splitlines()[1].split()
    assert launched(tmp_path) == 0
    run = RunDirectory(tmp_path / "out" / "runs" / name)
    assert run.status["state"] == "done"
    found = history(read(run.metrics))
    assert run.config["model"]["width"] == found["model/width"][0] == int(width) != 16
    assert run.config["budget"]["parameters"] == 9000
    assert found["model/parameters_without_embeddings"][0] == pytest.approx(9000, rel=0.02)
    assert found["model/flops"][0] > 0
    capsys.readouterr()
    assert launched(tmp_path) == 0
    assert "all points done (1)" in capsys.readouterr().out
    assert launched(tmp_path, {"train.steps": 6}) == 0
    assert run.status["step"] == 6
    assert load_run(run.path).model.decoder.stack.width == int(width)
