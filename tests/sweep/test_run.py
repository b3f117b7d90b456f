"""The executor, with stubs in place of training."""

import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import stubs

from seqlab.config import defaults
from seqlab.sweep.attempt import FOUND
from seqlab.sweep.ledger import entries
from seqlab.sweep.plan import points
from seqlab.sweep.run import run
from seqlab.sweep.schedule import OVER
from seqlab.train import interrupt, processes
from seqlab.train.directory import RunDirectory
from toys import surroundings

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


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_point_is_continued(tmp_path, error):
    def interrupt(config, directory):
        directory.update(step=2)
        raise error

    with pytest.raises(error):
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


def test_a_failure_that_cannot_be_noted_is_told_whole(tmp_path, capsys, monkeypatch):
    """As on a full disk: both are told, the first error first, and the others go on."""

    def refuse(self, **fields):
        raise OSError(errno.ENOSPC, "No space left on device")

    def behave(config, directory):
        if config["seed"] == 0:
            monkeypatch.setattr(RunDirectory, "update", refuse)
            raise ValueError("the first one broke")

    assert run(POINTS[:2], tmp_path, Stub(behave)).summary() == "2 points: 2 failed"
    told = capsys.readouterr().err
    assert told.index("ValueError: the first one broke") < told.index("No space left on device")


def test_a_run_whose_end_cannot_be_noted_has_failed(tmp_path, monkeypatch, capsys):
    update = RunDirectory.update

    def refuse(self, **fields):
        if fields.get("state") == "done":
            raise OSError(errno.ENOSPC, "No space left on device")
        update(self, **fields)

    monkeypatch.setattr(RunDirectory, "update", refuse)
    assert run(POINTS[:1], tmp_path, Stub()).exit_status == 1
    assert "No space left" in status(tmp_path, 0)["traceback"]


def test_raise_passes_the_first_error_on(tmp_path):
    stub = Stub(fail_second)
    with pytest.raises(ValueError, match="the second one broke"):
        run(POINTS, tmp_path, stub, on_failure="raise")
    assert stub.seen == [0, 1]
    assert status(tmp_path, 1)["state"] == "failed"


def test_being_asked_to_stop_between_two_points(tmp_path):
    with pytest.raises(interrupt.Stopped), interrupt.catch():
        run(POINTS, tmp_path, Stub(lambda config, directory: interrupt.ask()))
    assert status(tmp_path, 0)["state"] == "done"
    assert not (tmp_path / POINTS[1].id).exists()


def test_the_status_tells_who_is_at_work(tmp_path):
    seen = []
    run(POINTS[:1], tmp_path, Stub(lambda config, directory: seen.append(directory.status)))
    assert seen[0]["state"] == "running"
    assert (seen[0]["host"], seen[0]["pid"]) == (socket.gethostname(), os.getpid())
    assert status(tmp_path, 0) == {"format": 1, "state": "done", "step": 4}


LAUNCHER = """
import sys
from pathlib import Path
import stubs
from seqlab.sweep.run import run

stubs.light()
root, count = Path(sys.argv[1]), int(sys.argv[2])
stubs.until(lambda: (root / "start").exists())
sys.exit(run(stubs.sweep(count), root / "runs", stubs.train).exit_status)
"""


@pytest.fixture
def launchers(tmp_path):
    """Twenty processes that start together. Yields (number of points) -> processes."""
    found = []

    def launch(count):
        command = [sys.executable, "-c", LAUNCHER, str(tmp_path), str(count)]
        environment = surroundings(PYTHONPATH=str(Path(stubs.__file__).parent))
        for _ in range(20):
            found.append(subprocess.Popen(command, stderr=subprocess.PIPE, env=environment))
        (tmp_path / "start").touch()
        return found

    yield launch
    for process in found:
        process.kill()
        process.communicate()


def test_twenty_launchers_at_once_train_every_point_exactly_once(tmp_path, launchers):
    for process in launchers(6):
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert len(list((tmp_path / "runs").iterdir())) == 6
    assert sorted(stubs.notes(tmp_path / "began")) == list(range(6))


def test_killing_half_of_twenty_launchers_loses_nothing(tmp_path, launchers):
    stubs.behave(tmp_path, **{f"seed_{seed}": "wait" for seed in range(8)})
    processes = launchers(8)
    stubs.until(lambda: len(stubs.notes(tmp_path / "began")) == 8)
    at_work = stubs.pids(tmp_path / "began")
    assert len(at_work) == 8
    waiting = [process for process in processes if process.pid not in at_work]
    for process in processes:
        if process.pid in at_work or process in waiting[:2]:
            process.kill()
    (tmp_path / "go").touch()
    endings = []
    for process in processes:
        process.communicate(timeout=120)
        endings.append(process.returncode)
    assert sorted(endings) == [-signal.SIGKILL] * 10 + [0] * 10
    found = entries(stubs.sweep(8), tmp_path / "runs")
    assert {entry.state for entry in found} == {"done"}
    assert sorted(stubs.notes(tmp_path / "began")) == sorted([*range(8)] * 2)
    assert sorted(stubs.notes(tmp_path / "ended")) == list(range(8))
    assert not (tmp_path / "both").exists()


@pytest.fixture
def several(monkeypatch):
    """Act as one of two processes: `writes` or not, with the numbers that the writing one sends."""

    def act(writes, sent=()):
        numbers = iter(sent)
        monkeypatch.setattr(processes, "several", lambda: True)
        monkeypatch.setattr(processes, "writes", lambda: writes)
        monkeypatch.setattr(processes, "any_of", lambda flag: flag)
        monkeypatch.setattr(processes, "agreed", lambda own: next(numbers) if sent else own)

    return act


def test_processes_that_do_not_write_follow_the_one_that_does(tmp_path, several):
    mine, skipped = FOUND.index("mine"), FOUND.index("skipped")
    several(writes=False, sent=[0, skipped, 2, mine, OVER])
    seen = []

    def follow(config, directory, name):
        seen.append(config["seed"])

    assert run(POINTS, tmp_path, follow).summary() == "2 points: 1 trained, 1 already done"
    assert seen == [2]
    assert not list(tmp_path.iterdir())


def test_a_failure_ends_a_job_of_several_processes(tmp_path, several):
    several(writes=True)
    stub = Stub(fail_second)
    with pytest.raises(ValueError, match="the second one broke"):
        run(POINTS, tmp_path, stub)
    assert stub.seen == [0, 1]
    assert status(tmp_path, 1)["state"] == "failed"
