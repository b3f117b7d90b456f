"""Where points stand, as their directories tell it."""

import fcntl
import threading

import pytest
import stubs

from seqlab.sweep.attempt import attempt
from seqlab.sweep.ledger import duration, entries, held, table
from seqlab.train.directory import RunDirectory

COUNT = 8
NOW = 1_000_000.0


@pytest.fixture
def runs(tmp_path):
    """A sweep with a point in each state; nobody holds a lock yet."""
    points = stubs.sweep(COUNT)
    found = [RunDirectory.create(tmp_path / point.id, point.config) for point in points[:-1]]
    done, diverged, failed, running, lost, queued, stopped = found
    progress = {"time": NOW - 2, "step_time": 2000.0}
    here = {"state": "running", "host": "there", "pid": 7}
    done.update(state="done", step=4)
    diverged.update(state="done", step=2, diverged={"step": 3, "layer": "decoder/1"})
    failed.update(state="failed", traceback="Traceback\n  here\nValueError: it broke\n")
    running.update(step=2, progress=progress, **here)
    lost.update(step=1, progress=progress, **here)
    queued.update(job="17_2")
    stopped.update(state="pending", step=3)
    return found


def test_every_state_is_told(tmp_path, runs):
    with runs[3].lock():
        found = entries(stubs.sweep(COUNT), tmp_path, NOW)
    states = ["done", "diverged", "failed", "running", "lost", "queued", "pending", "pending"]
    assert [entry.state for entry in found] == states
    assert [entry.step for entry in found] == [4, 2, 0, 2, 1, 0, 3, 0]
    assert {entry.steps for entry in found} == {4}
    assert found[2].error == "ValueError: it broke"
    assert [entry.eta for entry in found] == [None] * 3 + [2 * 2000.0 - 2] + [None] * 4
    assert [entry.where for entry in found[3:6]] == ["there:7", "there:7", "job 17_2"]


def test_the_table_is_aligned_and_counts(tmp_path, runs):
    with runs[3].lock():
        lines = table(entries(stubs.sweep(COUNT), tmp_path, NOW)).splitlines()
    assert len(lines) == 1 + COUNT + 1
    column = lines[0].index("state")
    assert [line[column:].split()[0] for line in lines[1:3]] == ["done", "diverged"]
    assert "2/4" in lines[4]
    assert "1h06m" in lines[4]
    assert lines[3].endswith("ValueError: it broke")
    counts = "1 done, 1 diverged, 1 failed, 1 running, 1 lost, 1 queued, 2 pending"
    assert lines[-1] == f"8 points: {counts}"


def test_asking_writes_nothing(tmp_path, runs):
    with runs[3].lock():
        pass

    def files():
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    before = files()
    runs[3].path.chmod(0o555)
    assert entries(stubs.sweep(COUNT), tmp_path, NOW)[3].state == "lost"
    runs[3].path.chmod(0o755)
    assert files() == before


def test_asking_at_that_moment_keeps_nobody_from_training(tmp_path):
    (point,) = stubs.sweep(1)
    directory = RunDirectory.create(tmp_path / "runs" / point.id, point.config)
    asked = threading.Event()

    def ask():  # as `held` does, but slowly
        with (directory.path / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            asked.set()
            threading.Event().wait(0.05)

    thread = threading.Thread(target=ask)
    thread.start()
    asked.wait()
    assert attempt(point, tmp_path / "runs", stubs.train, "it") == "trained"
    thread.join()


def test_two_who_ask_do_not_see_each_other(tmp_path):
    directory = RunDirectory(tmp_path)
    assert not held(directory)
    with directory.lock():
        assert held(directory)
    with (tmp_path / ".lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert not held(directory)


def test_a_done_run_of_which_more_steps_are_asked_is_pending(tmp_path):
    (point,) = stubs.sweep(1)
    RunDirectory.create(tmp_path / point.id, point.config).update(state="done", step=3)
    assert entries([point], tmp_path)[0].state == "pending"


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.2, "0m00s"), (200.0, "3m20s"), (3720.0, "1h02m")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
