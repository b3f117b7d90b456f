"""An interrupted run goes on as if nothing had happened, bit for bit."""

import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from seqlab.train.checkpoint import Checkpoints
from seqlab.train.directory import RunDirectory
from seqlab.train.size import abstract_params, make_model
from seqlab.train.source import dataset_of
from seqlab.train.state import TrainState
from seqlab.train.step import Recipe
from seqlab.train.writer import MetricsWriter, history, read
from toys import ROOT, config, surroundings, train

# An epoch has 5 steps; the checkpoint at 7 is in the middle of one, and of a dispatch.
EVERYTHING = {
    "model__dropout": 0.1,
    "train__steps": 20,
    "train__clip": 1.0,
    "train__schedule": "cosine",
    "train__warmup": 3,
    "train__accumulate": 2,
    "train__ema": 0.9,
    "train__weight_decay": 0.1,
    "train__label_smoothing": 0.1,
    "train__eval_every": 5,
    "train__checkpoint_every": 7,
    "train__steps_per_call": 4,
}


def final(directory):
    """Every leaf of the last checkpoint, and where its data stands."""
    config = directory.config
    data = dataset_of(config)
    params = abstract_params(make_model(config, data.source_vocab, data.target_vocab))
    recipe = Recipe(config["train"]["optimizer"], "cosine", 2, ema=True)
    from seqlab.train.hyper import Hyper

    like = jax.eval_shape(
        lambda p: TrainState.create(
            p, recipe.optimizer_for(Hyper.of(config)), jax.random.key(0), ema=True
        ),
        params,
    )
    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    like = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=place), like)
    checkpoints = Checkpoints.read_only(directory.checkpoints, "valid/loss", "min")
    state, position = checkpoints.restore(like)
    checkpoints.close()
    return state, position


def assert_identical(first, second):
    (a, where), (b, there) = final(first), final(second)
    assert where == there
    assert a.step == b.step
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)


def losses(directory):
    found = history(read(directory.metrics))
    return {name: found[name] for name in ("train/loss", "train/gradient_norm", "valid/loss")}


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return train(config(**EVERYTHING), tmp_path_factory.mktemp("straight") / "run")


def interrupted(options, path, monkeypatch, at):
    """Train, fall over when the row of step `at` is written, and train again."""
    write = MetricsWriter.write

    def fall(self, step, *rest):
        if step == at:
            raise KeyboardInterrupt
        write(self, step, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(MetricsWriter, "write", fall)
        with pytest.raises(KeyboardInterrupt):
            train(options, path)
    assert max(history(read(RunDirectory(path).metrics))["train/loss"]) == at - 1
    return train(options, path)


CASES = [
    pytest.param({}, 10, id="steps 8 and 9 again"),
    pytest.param({"train__steps_per_call": 3}, 15, id="other dispatches, from 14"),
    pytest.param({}, 4, id="from the start"),
    pytest.param({"data__workers": 2}, 10, id="2 workers", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("changes", "at"), CASES)
def test_a_resumed_run_equals_a_straight_one(straight, tmp_path, monkeypatch, changes, at):
    resumed = interrupted(config(**EVERYTHING | changes), tmp_path / "run", monkeypatch, at)
    assert resumed.status["step"] == 20
    assert resumed.status.get("resumed_from", 0) == 7 * ((at - 1) // 7)
    assert losses(resumed) == losses(straight)
    assert_identical(resumed, straight)


def test_the_metrics_have_one_row_a_step(straight, tmp_path, monkeypatch):
    resumed = interrupted(config(**EVERYTHING), tmp_path / "run", monkeypatch, 10)
    for directory in (straight, resumed):
        rows = [row["step"] for row in read(directory.metrics) if "lr" in row]
        assert rows == list(range(1, 21))


def test_raising_the_steps_goes_on(tmp_path):
    """A constant rate does not depend on the end."""
    short = config(train__steps=3)
    train(short, tmp_path / "run")
    directory = train(config(train__steps=6), tmp_path / "run")
    assert directory.status["resumed_from"] == 3
    once = train(config(train__steps=6), tmp_path / "once")
    found, expected = (history(read(d.metrics))["train/loss"] for d in (directory, once))
    assert found == expected


def launch(workdir, **options):
    command = [sys.executable, "launch.py", "--config=tests/fixtures/copying.py"]
    return subprocess.Popen(
        [*command, f"--workdir={workdir}"],
        cwd=ROOT,
        env=surroundings(),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process):
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return errors


def the_run(workdir):
    (path,) = (workdir / "runs").iterdir()
    return RunDirectory(path)


def killed(workdir):
    """Kill -9 a launch as soon as its first checkpoint is there."""
    process = launch(workdir)
    deadline = time.monotonic() + 240
    while not any(path.name.isdigit() for path in workdir.glob("runs/*/checkpoints/*")):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_the_same_command_after_kill_9(tmp_path):
    straight = launch(tmp_path / "straight", stdout=subprocess.DEVNULL)
    killed(tmp_path / "killed")
    assert the_run(tmp_path / "killed").status["state"] == "running"
    errors = finish(launch(tmp_path / "killed", stdout=subprocess.DEVNULL))
    finish(straight)
    resumed, whole = the_run(tmp_path / "killed"), the_run(tmp_path / "straight")
    assert 0 < resumed.status["resumed_from"] < 120
    assert f"restored step {resumed.status['resumed_from']}" in errors
    assert resumed.status["state"] == "done"
    assert losses(resumed) == losses(whole)
    assert_identical(resumed, whole)
