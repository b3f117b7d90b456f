"""Points that another process has: waited for, taken over, and never tried twice."""

import threading
from dataclasses import dataclass

import pytest
import stubs

from seqlab.sweep.run import run
from seqlab.train.directory import RunDirectory

COUNT = 3


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr("seqlab.sweep.schedule.POLL", 0.02)


@pytest.fixture
def another(tmp_path, capsys):
    """Another process that has point 1, until this one waits for it, and then leaves it so."""

    def leave(on_failure="continue", **status):
        directory = RunDirectory.create(
            tmp_path / "runs" / stubs.sweep(COUNT)[1].id, stubs.sweep(COUNT)[1].config
        )
        told = threading.Event()

        def hold():
            with directory.lock():
                directory.update(state="running", host="there", pid=1)
                begun.set()
                assert told.wait(stubs.PATIENCE)
                directory.update(**status)

        begun = threading.Event()
        thread = threading.Thread(target=hold)
        thread.start()
        begun.wait()
        try:
            return run(stubs.sweep(COUNT), tmp_path / "runs", Waiting(told), on_failure)
        finally:
            told.set()
            thread.join()

    return leave


@dataclass
class Waiting:
    """Trains as a stub; tells when the last point that nobody has is at work."""

    told: threading.Event

    def __call__(self, config, path, name):
        if config["seed"] == COUNT - 1:
            threading.Timer(0.3, self.told.set).start()
        stubs.train(config, path, name)


def test_a_point_that_another_process_trains_is_waited_for(another, tmp_path, capsys):
    outcome = another(state="done", step=4)
    assert outcome.summary() == "3 points: 2 trained, 1 trained by another process"
    assert outcome.exit_status == 0
    assert stubs.notes(tmp_path / "began") == [0, 2]
    assert capsys.readouterr().err.count("waiting for points that other processes have: 1") == 1


@pytest.mark.parametrize("status", [{}, {"state": "pending"}], ids=["died", "stopped"])
def test_a_point_that_another_process_leaves_is_taken_over(another, tmp_path, status):
    assert another(**status).summary() == "3 points: 3 trained"
    assert stubs.notes(tmp_path / "began") == [0, 2, 1]


def test_a_point_that_fails_elsewhere_has_failed_here_and_is_not_tried_again(
    another, tmp_path, capsys
):
    outcome = another(state="failed", traceback="Traceback\n  somewhere\nValueError: broke there\n")
    assert outcome.exit_status == 1
    assert outcome.summary() == "3 points: 2 trained, 1 failed"
    assert stubs.notes(tmp_path / "began") == [0, 2]
    told = capsys.readouterr().err
    assert "FAILED in another process" in told
    assert "ValueError: broke there" in told


def test_after_a_failure_stop_takes_nothing_over(another, tmp_path):
    stubs.behave(tmp_path, seed_2="fail")
    outcome = another("stop", state="pending")
    assert outcome.summary() == "3 points: 1 trained, 1 failed, 1 not started"
    assert stubs.notes(tmp_path / "began") == [0, 2]


def test_two_launchers_try_a_failing_point_once_each(tmp_path):
    stubs.behave(tmp_path, seed_0="fail", seed_1="fail", seed_2="fail")
    found = []

    def launch():
        found.append(run(stubs.sweep(COUNT), tmp_path / "runs", stubs.train))

    threads = [threading.Thread(target=launch) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome.summary() for outcome in found] == ["3 points: 3 failed"] * 2
    assert max(stubs.notes(tmp_path / "began").count(seed) for seed in range(COUNT)) <= 2
