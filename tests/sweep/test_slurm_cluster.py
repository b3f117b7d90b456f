"""Sweeps on a real SLURM, by the real command. See tests/slurm.py for the cluster."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from seqlab.analysis.run import load_run
from seqlab.train.directory import RunDirectory
from seqlab.train.writer import history, read
from toys import ROOT, surroundings

CONFIG = '''"""Which position encoding does a decoder-only Transformer need to copy?"""

from seqlab.config import defaults


def get_config():
    config = defaults()
    config.task = {
        "kind": "tasks.probes.copying.Copy",
        "symbols": 4,
        "train_max": 3,
        "test_lengths": (2, 4),
        "epoch_examples": 40,
        "valid_examples": 12,
        "test_examples": 4,
    }
    words = "data.text.words.Words"
    config.data.tokenizer = {"source": words, "target": words}
    config.data.shared_vocabulary = True
    config.data.max_length = {"source": 8, "target": 8}
    config.data.buckets = (10,)
    config.model.kind = "models.lm.LM"
    config.model.width = 16
    config.model.heads = 2
    config.model.depth = 1
    config.train.steps = 400
    config.train.batch = 8
    config.train.eval_every = 50
    config.train.checkpoint_every = 400
    config.train.progress = False
    config.decode.max_length = 6
    config.cluster.minutes = 10
    config.cluster.cpus = 1
    config.report.axes = ("model.position",)
    return config


def sweep():
    yield {"model.position": "positions.base.Position"}
    yield {"model.position": "positions.sinusoidal.Sinusoidal"}
    yield {"model.position": "positions.rope.Rope"}
    yield {"model.position": {"kind": "positions.learned.Learned", "max_length": 8}}  # too few
'''
PATIENCE = 120.0  # seconds, of a test that has gone wrong


@pytest.fixture
def launch(cluster, tmp_path):
    """Start `launch.py` with these flags, in a directory of its own; ends it with the test."""
    (tmp_path / "copying.py").write_text(CONFIG)
    started = []

    def start(*flags):
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "launch.py"), "--config=copying.py", *flags],
            cwd=tmp_path,
            env=surroundings(**cluster),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    slurm(cluster, "scancel", "--user=root")


def slurm(cluster, *command):
    """What a command of SLURM prints."""
    return subprocess.run(
        command, env=os.environ | cluster, capture_output=True, text=True, check=True
    ).stdout


def end_of(process):
    """Exit status and all it printed."""
    output, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, output


def until(found):
    """Wait for what it returns."""
    end = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return answer


def run_of(experiment, name):
    """The run of a position encoding; None before there is one."""
    found = [*experiment.glob(f"runs/position-{name}_*/status.json")]
    return RunDirectory(found[0].parent) if found else None


def is_training(run):
    """Has it evaluated itself?"""
    return run and run.metrics.exists() and "valid/loss" in history(read(run.metrics))


def assert_identical(first, second):
    """The same metrics at every step, and the same parameters at the end."""
    one, two = (history(read(run.metrics)) for run in (first, second))
    for name in ("train/loss", "train/gradient_norm", "valid/loss", "test/exact@4"):
        assert one[name] == two[name]
    leaves = [load_run(run.path).params for run in (first, second)]
    import jax

    for x, y in zip(*map(jax.tree.leaves, leaves), strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_sweep_with_a_failure_and_a_preemption(launch, cluster, tmp_path):
    experiment = tmp_path / "experiments" / "copying"
    launcher = launch("--executor=slurm")
    preempted = until(lambda: run_of(experiment, "Sinusoidal"))
    until(lambda: is_training(preempted))
    job = preempted.status["job"]
    slurm(cluster, "scancel", "--signal=USR2", job)
    status, told = end_of(launcher)
    assert status == 1, told
    assert "4 points: 3 trained, 1 failed" in told
    assert f"submitted as job array {job.split('_')[0]}: 4 points" in told
    assert f"{preempted.path.name}: stopped by SLURM" in told
    assert "config.model.position: decoder rows may have 17 tokens" in told
    assert str(run_of(experiment, "Learned").path) in told
    assert 0 < preempted.status["resumed_from"] < 400
    assert preempted.status["job"] == job
    status, told = end_of(launch("--only=model.position=Sinusoidal", "--workdir=alone"))
    assert status == 0, told
    straight = run_of(tmp_path / "alone", "Sinusoidal")
    assert "resumed_from" not in straight.status
    assert_identical(preempted, straight)


def test_jobs_outlive_their_launcher_and_may_be_cancelled(launch, cluster, tmp_path):
    """They are held, so that none of them starts."""
    experiment = tmp_path / "experiments" / "copying"
    flags = ("--executor=slurm", "--config.cluster.options.hold=True", "--workdir", str(experiment))
    first = launch(*flags)
    run = until(lambda: run_of(experiment, "Learned"))
    array = until(lambda: run.status.get("job")).split("_")[0]
    first.send_signal(signal.SIGINT)
    status, told = end_of(first)
    assert status == 130, told
    assert f"scancel {array} ends them" in told
    second = launch(*flags)
    lines = [second.stdout.readline() for _ in range(4)]
    assert all(f"in the queue already, job {array}_" in line for line in lines), lines
    slurm(cluster, "scancel", array)
    status, told = end_of(second)
    assert status == 1
    assert told.count("left the queue without a word") == 4
    assert "4 points: 4 failed" in told
    assert {
        json.loads(file.read_text())["state"] for file in experiment.glob("runs/*/status.json")
    } == {"failed"}
