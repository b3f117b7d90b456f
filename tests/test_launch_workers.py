"""The real command with workers and real training, from config file to exit status."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from seqlab import load_run
from seqlab.train.directory import RunDirectory
from seqlab.train.writer import history, read
from toys import ROOT, surroundings

CONFIG = """
from toys import config

def get_config():
    return config(model__depth=1, train__progress=True{changes})

def sweep():
{sweep}
"""
# An encoding with too few positions for the data is found out when the run begins.
ONE_FAILS = """
    learned = "positions.learned.Learned"
    for seed, limit in enumerate((32, 32, 4, 32)):
        yield {"seed": seed, "model.position": {"kind": learned, "max_length": limit}}
"""
TWO = """
    for seed in (0, 1):
        yield {"seed": seed}
"""
LONG = ", train__steps=2000, train__eval_every=2000, train__checkpoint_every=0, model__dropout=0.1"


@pytest.fixture
def launch(tmp_path):
    """Start the command on a config of this name. Progress bars are on, as they are by default."""
    tests = f"{ROOT / 'tests'}"
    started = []

    def start(*words):
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "launch.py"), *words],
            cwd=tmp_path,
            env=surroundings(PYTHONPATH=tests),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def write(path, sweep, changes=""):
    path.write_text(CONFIG.format(sweep=sweep.strip("\n"), changes=changes))


def await_training(processes, workdir, points):
    """Wait until so many points have made steps."""
    while (
        sum("progress" in path.read_text() for path in workdir.glob("runs/*/status.json")) < points
    ):
        assert all(process.poll() is None for process in processes)
        time.sleep(0.02)


def test_four_points_two_at_a_time_one_of_which_fails(tmp_path, launch):
    write(tmp_path / "few.py", ONE_FAILS, ", train__steps=1")
    process = launch("--config=few.py", "--jobs=2")
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 1, errors
    assert "4 points: 3 trained, 1 failed" in out
    assert (tmp_path / "experiments" / "few" / "README.md").exists()
    runs = [RunDirectory(path) for path in (tmp_path / "experiments" / "few" / "runs").iterdir()]
    assert len(runs) == 4
    (failed,) = [run for run in runs if run.status["state"] == "failed"]
    assert failed.config["model"]["position"]["max_length"] == 4
    assert "the encoding has 4 positions" in failed.status["traceback"]
    told = errors[errors.index("FAILED") :]
    assert "the encoding has 4 positions" in told
    assert str(failed.path) in told
    assert "step/s" not in errors  # the bars of two would write over each other
    for run in runs:
        assert run.config["train"]["progress"]
        assert run.environment["command"].endswith("launch.py --config=few.py --jobs=2")
    status = launch("--config=few.py", "--status")
    out, _ = status.communicate(timeout=300)
    assert status.returncode == 0
    assert out.endswith("4 points: 3 done, 1 failed\n")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_that_was_told_to_stop_goes_on_bit_for_bit(tmp_path, launch, jobs):
    write(tmp_path / "two.py", TWO, LONG)
    command = ["--config=two.py", f"--jobs={jobs}"]
    undisturbed = launch(*command, "--workdir=undisturbed")
    _, errors = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0, errors
    process = launch(*command, "--workdir=stopped")
    await_training([process], tmp_path / "stopped", jobs)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 75, errors
    assert "the same command continues" in errors.splitlines()[-1]
    runs = [RunDirectory(path) for path in (tmp_path / "stopped" / "runs").iterdir()]
    assert len(runs) == jobs
    for run in runs:
        assert run.status["state"] == "pending"
        assert 0 < run.status["step"] < 2000
    again = launch(*command, "--workdir=stopped")
    _, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors
    assert len(re.findall(r"restored step \d", errors)) == jobs
    names = sorted(os.listdir(tmp_path / "stopped" / "runs"))
    assert len(names) == 2
    for name in names:
        same(*(tmp_path / where / "runs" / name for where in ("undisturbed", "stopped")))


@pytest.mark.slow
def test_two_processes_that_train_each_point_together(tmp_path, launch):
    """One writes and tells; when one is asked to stop, both do; the same commands go on."""
    write(tmp_path / "two.py", TWO, LONG.replace("2000", "500"))

    def both():
        with socket.create_server(("localhost", 0)) as server:
            port = server.getsockname()[1]
        words = ["--config=two.py", f"--coordinator=localhost:{port}", "--processes=2"]
        return [launch(*words, f"--process={number}") for number in range(2)]

    def endings(processes):
        return [(*process.communicate(timeout=300), process.returncode) for process in processes]

    processes = both()
    await_training(processes, tmp_path / "experiments" / "two", 1)
    processes[1].send_signal(signal.SIGTERM)
    assert [status for *_, status in endings(processes)] == [75, 75]
    (run,) = (tmp_path / "experiments" / "two" / "runs").iterdir()
    assert RunDirectory(run).status["state"] == "pending"
    assert 0 < RunDirectory(run).status["step"] < 500
    (out, errors, status), (silent, _, other) = endings(both())
    assert (status, other) == (0, 0), errors
    assert "2 points: 2 trained" in out
    assert re.search(r"continuing|training", errors)
    assert "points" not in silent


def same(first, second):
    """Every loss and every parameter of two runs are equal."""
    a, b = (history(read(RunDirectory(path).metrics)) for path in (first, second))
    for metric in ("train/loss", "valid/loss", "test/loss"):
        assert a[metric] == b[metric]
    assert list(a["train/loss"]) == list(range(1, 2001))
    old, new = (load_run(path).params for path in (first, second))
    for x, y in zip(jax.tree.leaves(old), jax.tree.leaves(new), strict=True):
        np.testing.assert_array_equal(x, y)
