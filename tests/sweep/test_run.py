"""The executor, with stubs in place of training."""

import json
import subprocess
import sys

import pytest

from seqlab.config import defaults
from seqlab.sweep.plan import points
from seqlab.sweep.run import run
from seqlab.train.directory import RunDirectory

CONFIG = defaults()
CONFIG.train.steps = 4
POINTS = points(CONFIG, [{"seed": seed} for seed in range(3)])


class Stub:
    """Trains nothing, remembers whom it was asked to train; `behave` decides how it ends."""

    def __init__(self, behave=None):
        self.seen, self.behave = [], behave

    def __call__(self, config, directory, name):
        self.seen.append(config["seed"])
        RunDirectory(directory).update(step=config["train"]["steps"])
        if self.behave:
            self.behave(config, RunDirectory(directory))


def fail_second(config, directory):
    if config["seed"] == 1:
        directory.update(step=1)
        raise ValueError("the second one broke")


def status(root, number):
    return RunDirectory(root / POINTS[number].id).status


def test_done_points_are_skipped_and_a_deleted_one_trains_again(tmp_path):
    first, second, third = Stub(), Stub(), Stub()
    assert run(POINTS, tmp_path, first).summary() == "3 points: 3 trained"
    assert first.seen == [0, 1, 2]
    assert run(POINTS, tmp_path, second).summary() == "all points done (3)"
    assert second.seen == []
    for file in (tmp_path / POINTS[1].id).iterdir():
        file.unlink()
    (tmp_path / POINTS[1].id).rmdir()
    run(POINTS, tmp_path, third)
    assert third.seen == [1]


def test_a_failure_is_told_kept_and_tried_again(tmp_path, capsys):
    outcome = run(POINTS, tmp_path, Stub(fail_second))
    assert outcome.exit_status == 1
    assert outcome.summary() == "3 points: 2 trained, 1 failed"
    assert "the second one broke" in capsys.readouterr().err
    assert status(tmp_path, 1)["state"] == "failed"
    assert "fail_second" in status(tmp_path, 1)["traceback"]
    again = Stub()
    assert run(POINTS, tmp_path, again).exit_status == 0
    assert again.seen == [1]
    assert "traceback" not in status(tmp_path, 1)


def test_on_failure_stop_leaves_the_rest(tmp_path):
    stub = Stub(fail_second)
    outcome = run(POINTS, tmp_path, stub, on_failure="stop")
    assert stub.seen == [0, 1]
    assert outcome.summary() == "3 points: 1 trained, 1 failed, 1 not started"


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_point_is_continued(tmp_path, signal):
    def interrupt(config, directory):
        directory.update(step=2)
        raise signal

    with pytest.raises(signal):
        run(POINTS, tmp_path, Stub(interrupt))
    assert status(tmp_path, 0) == {"format": 1, "state": "pending", "step": 2}
    stub = Stub()
    run(POINTS, tmp_path, stub)
    assert stub.seen == [0, 1, 2]


def test_divergence_is_a_result(tmp_path):
    def diverge(config, directory):
        directory.update(step=2, diverged={"step": 2, "layer": "decoder/1"})

    assert run(POINTS, tmp_path, Stub(diverge)).exit_status == 0
    stub = Stub()
    assert run(POINTS, tmp_path, stub).summary() == "all points done (3)"


def test_raising_the_steps_continues_the_run(tmp_path):
    run(POINTS, tmp_path, Stub())
    longer = defaults()
    longer.train.steps = 9
    more = points(longer, [{"seed": seed} for seed in range(3)])
    stub = Stub()
    run(more, tmp_path, stub)
    assert stub.seen == [0, 1, 2]
    assert RunDirectory(tmp_path / more[0].id).config["train"]["steps"] == 9


def test_the_directory_tells_where_the_run_came_from(tmp_path):
    run(POINTS[:1], tmp_path, Stub(fail_second))
    environment = RunDirectory(tmp_path / POINTS[0].id).environment
    assert environment["versions"]["jax"]
    assert environment["devices"]
    assert {"commit", "dirty", "command", "python"} <= environment.keys()
    assert len(environment["starts"]) == 1


LAUNCHER = """
import os, sys, time
from pathlib import Path
from seqlab.config import defaults
from seqlab.sweep.plan import points
from seqlab.sweep.run import run
from seqlab.train import directory

directory.describe = lambda: {"time": "", "commit": "", "command": "", "dirty": False}

def train(config, path, name):
    with open(path / "starts", "a") as file:
        file.write("x")
    time.sleep(0.02)
    directory.RunDirectory(path).update(step=config["train"]["steps"])

root = Path(sys.argv[1])
while not (root / "go").exists():
    time.sleep(0.005)
run(points(defaults(), [{"seed": s} for s in range(6)]), root / "runs", train)
"""


def test_twenty_launchers_at_once_train_every_point_exactly_once(tmp_path):
    command = [sys.executable, "-c", LAUNCHER, str(tmp_path)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(20)]
    (tmp_path / "go").touch()
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    runs = list((tmp_path / "runs").iterdir())
    assert len(runs) == 6
    seeds = {json.loads((path / "config.json").read_text())["seed"] for path in runs}
    assert seeds == set(range(6))
    assert [(path / "starts").read_text() for path in runs] == ["x"] * 6
