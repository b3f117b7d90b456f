"""Points in worker processes: stubs in place of training, everything else as it is."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
import stubs

from seqlab.sweep import local
from seqlab.sweep.ledger import entries
from seqlab.train.interrupt import RESUMABLE
from toys import surroundings

HERE = Path(__file__).parent
WORKER = (sys.executable, "-P", str(HERE / "stubs.py"))

PARENT = """
import sys
from pathlib import Path
import stubs
from seqlab.sweep import local
from seqlab.train.interrupt import catch

count, jobs, root = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
try:
    with catch():
        print(local.run(stubs.sweep(count), root / "runs", jobs, command=sys.argv[4:]).summary())
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def run(tmp_path):
    """Run a sweep of so many points in this process."""

    def start(count, jobs=2, on_failure="continue"):
        return local.run(stubs.sweep(count), tmp_path / "runs", jobs, on_failure, WORKER)

    return start


def parent(root, count, jobs):
    """The same in a process that can be killed."""
    command = [sys.executable, "-c", PARENT, str(count), str(jobs), str(root), *WORKER]
    environment = surroundings(PYTHONPATH=str(HERE))
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def states(root, count):
    return [entry.state for entry in entries(stubs.sweep(count), root / "runs")]


def test_two_at_a_time_and_each_once(tmp_path, run):
    stubs.behave(tmp_path, seed_0="meet", seed_1="meet")
    assert run(4).summary() == "4 points: 4 trained"
    assert sorted(stubs.notes(tmp_path / "began")) == [0, 1, 2, 3]
    assert len(stubs.pids(tmp_path / "began")) == 2
    assert run(4).summary() == "all points done (4)"


def test_a_failure_is_told_and_the_others_finish(tmp_path, run, capfd):
    stubs.behave(tmp_path, seed_1="fail")
    outcome = run(3)
    assert outcome.summary() == "3 points: 2 trained, 1 failed"
    assert outcome.exit_status == 1
    assert "point 1 broke" in stubs.status(tmp_path, 1, 3)["traceback"]
    told = capfd.readouterr().err
    assert "ValueError: point 1 broke" in told
    assert str(tmp_path / "runs" / stubs.sweep(3)[1].id) in told


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("die", "was killed by signal 9 (SIGKILL); out of memory?"),
        ("exit", "ended with exit status 3"),
    ],
)
def test_a_worker_that_dies_fails_its_point_and_another_takes_the_rest(
    tmp_path, run, capfd, word, says
):
    stubs.behave(tmp_path, seed_1=word)
    assert run(3, jobs=1).summary() == "3 points: 2 trained, 1 failed"
    assert stubs.notes(tmp_path / "began") == [0, 1, 2]
    found = stubs.status(tmp_path, 1, 3)
    assert found["state"] == "failed"
    assert says in found["traceback"]
    assert not {"host", "pid"} & found.keys()
    assert says in capfd.readouterr().err


def test_stop_begins_nothing_after_a_failure(tmp_path, run):
    stubs.behave(tmp_path, seed_1="fail")
    outcome = run(4, jobs=1, on_failure="stop")
    assert outcome.summary() == "4 points: 1 trained, 1 failed, 2 not started"
    assert outcome.exit_status == 1


def test_stop_lets_those_at_work_finish(tmp_path, run):
    stubs.behave(tmp_path, seed_0="outlast", seed_1="fail")
    outcome = run(12, on_failure="stop")
    assert stubs.sweep(12)[0].id in outcome.trained
    assert len(outcome.untouched) > 1


def test_sigterm_saves_and_the_same_command_continues(tmp_path):
    stubs.behave(tmp_path, seed_0="stop", seed_1="stop")
    process = parent(tmp_path, 3, 2)
    stubs.until(lambda: len(stubs.notes(tmp_path / "began")) == 2)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=stubs.PATIENCE)
    assert process.returncode == RESUMABLE, errors
    assert states(tmp_path, 3) == ["pending"] * 3
    assert stubs.status(tmp_path, 0, 3) == {"format": 1, "state": "pending", "step": 2}
    stubs.behave(tmp_path)
    again = parent(tmp_path, 3, 2)
    out, errors = again.communicate(timeout=stubs.PATIENCE)
    assert (again.returncode, out) == (0, "3 points: 3 trained\n"), errors


def test_ctrl_c_ends_all_and_marks_the_points(tmp_path):
    stubs.behave(tmp_path, seed_0="stop", seed_1="stop")
    process = parent(tmp_path, 3, 2)
    stubs.until(lambda: len(stubs.notes(tmp_path / "began")) == 2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=stubs.PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert states(tmp_path, 3) == ["pending"] * 3


def test_workers_of_a_dead_parent_end_after_their_point(tmp_path):
    stubs.behave(tmp_path, seed_0="wait", seed_1="wait")
    process = parent(tmp_path, 3, 2)
    stubs.until(lambda: len(stubs.notes(tmp_path / "began")) == 2)
    workers = stubs.pids(tmp_path / "began")
    process.kill()
    process.wait()
    assert states(tmp_path, 3) == ["running", "running", "pending"]
    (tmp_path / "go").touch()
    stubs.until(lambda: not any(map(stubs.is_alive, workers)))
    assert states(tmp_path, 3) == ["done", "done", "pending"]
    process.communicate()


def test_a_worker_asked_to_stop_leaves_its_point_to_another(tmp_path, run, monkeypatch):
    """One that is killed softly, by a person or by the system, is no failure of its point."""
    monkeypatch.setattr("seqlab.sweep.schedule.POLL", 0.05)
    stubs.behave(tmp_path, seed_0="stop")

    def kill():
        stubs.until(lambda: stubs.notes(tmp_path / "began"))
        stubs.behave(tmp_path)
        (worker,) = stubs.pids(tmp_path / "began")
        os.kill(worker, signal.SIGTERM)

    thread = Thread(target=kill)
    thread.start()
    assert run(2, jobs=1).summary() == "2 points: 2 trained"
    thread.join()
    assert stubs.notes(tmp_path / "began") == [0, 1, 0]
