"""Runs side by side, their curves, and going on from one."""

from pathlib import Path

import jax
import numpy as np
import pytest

from made import made
from seqlab import load_run
from seqlab.analysis.compare import Summary, compare, short_names
from seqlab.analysis.curves import plot
from seqlab.build import ConfigError
from seqlab.train.directory import RunDirectory
from toys import pair

FEW = {"train.lr": 1e-9, "train.eval_every": 2}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    # Nothing is generated, so that no decoding is compiled.
    return made(pair(decode__method="none"), tmp_path_factory.mktemp("runs") / "first")


@pytest.fixture(scope="module")
def further(directory):
    return load_run(directory).continue_training(2, directory.parent / "second", FEW)


def test_a_run_goes_on_from_its_parameters_in_a_new_directory(directory, further):
    before = load_run(directory)
    for old, new in zip(
        jax.tree.leaves(before.params), jax.tree.leaves(further.params), strict=True
    ):
        np.testing.assert_allclose(old, new, atol=1e-6)
    assert further.path == directory.parent / "second"
    assert (further.status["state"], further.step) == ("done", 2)
    assert further.environment["versions"]
    assert further.config["init_from"] == str(directory)
    assert set(further.metrics["train/loss"]) == {1, 2}  # its own steps, counted from 1
    assert RunDirectory.open(directory).status["step"] == 4


def test_the_same_call_finds_it_done_and_another_is_refused(directory, further):
    again = load_run(directory).continue_training(2, further.path, FEW)
    assert again.status == further.status
    with pytest.raises(ConfigError, match=r"holds another run: config\.train\.eval_every"):
        load_run(directory).continue_training(2, further.path)
    with pytest.raises(ConfigError, match=r"train\.stps"):
        load_run(directory).continue_training(2, directory.parent / "third", {"train.stps": 1})


def test_other_data_is_refused(directory):
    with pytest.raises(ConfigError, match="tokenizers made from the training data"):
        load_run(directory).continue_training(1, directory.parent / "third", {"task.symbols": 5})
    assert not (directory.parent / "third").exists()


def test_the_comparison_shows_what_differs(directory, further):
    table = load_run(directory).compare(further)
    assert list(table.columns) == ["first", "second"]
    assert set(table.loc["config"].index) == {"init_from", *FEW, "train.steps"}
    assert table.loc[("config", "train.steps")].tolist() == [6, 2]
    assert table.loc[("run", "step")].tolist() == [4, 2]
    results = table.loc["result"]
    losses = load_run(directory).metrics["valid/loss"], further.metrics["valid/loss"]
    assert results.loc["valid/loss"].tolist() == [losses[0][4], losses[1][2]]
    assert not any("@" in name or name == "train/loss" for name in results.index)


def test_what_a_run_lacks_is_marked():
    one = Summary({"task": {"symbols": 3}}, 1, {"valid/loss": {1: 0.5, 2: 0.25}})
    two = Summary({"task": {}}, 2, {})
    table = compare({"one": one, "two": two})
    assert table.loc[("config", "task.symbols")].tolist() == [3, "-"]
    assert table.loc[("result", "valid/loss")].tolist() == [0.25, "-"]


def test_names_are_as_short_as_they_can_be():
    assert short_names([Path("/a/runs/x"), Path("/a/runs/y")]) == ["x", "y"]
    assert short_names([Path("/a/x"), Path("/b/x")]) == ["a/x", "b/x"]
    assert short_names([Path("/a/x")] * 2) == ["x (1)", "x (2)"]


def test_curves_have_a_panel_a_metric_and_a_line_a_run(directory, further):
    figure = load_run(directory).plot_curves(further, metrics=("train/loss", "valid/loss"))
    figure.canvas.draw()
    assert [axis.get_ylabel() for axis in figure.axes] == ["train/loss", "valid/loss"]
    line = figure.axes[0].lines[0]
    losses = load_run(directory).metrics["train/loss"]
    assert line.get_xdata().tolist() == list(losses)
    assert line.get_ydata().tolist() == list(losses.values())
    assert [line.get_label() for line in figure.axes[1].lines] == ["first", "second"]
    with pytest.raises(ConfigError, match=r"no run has 'valid/los'; did you mean"):
        further.plot_curves(metrics=("valid/los",))


def test_long_curves_are_means_of_neighbours():
    metrics = {"train/loss": {step: float(step) for step in range(1, 1002)}}
    figure = plot({"run": Summary({}, 1, metrics)}, ["train/loss"])
    line = figure.axes[0].lines[0]
    assert len(line.get_xdata()) == 167
    assert line.get_ydata()[[0, -1]].tolist() == [3.5, 999.0]
    assert figure.axes[0].get_ylabel() == "train/loss (mean of 6 steps)"
