"""Two processes that train one run together: by the real command, killed, stopped, continued."""

import json
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import seqlab
from seqlab.train.directory import RunDirectory
from seqlab.train.writer import history, read
from toys import ROOT, surroundings

CONFIG = """
from seqlab.config import defaults

def get_config():
    config = defaults()
    config.task = {
        "kind": "tasks.probes.copying.Copy", "symbols": 4, "train_max": 3, "test_lengths": (2, 4),
        "epoch_examples": 42, "valid_examples": 11, "test_examples": 5,
    }
    words = "data.text.words.Words"
    config.data.update(tokenizer={"source": words, "target": words}, shared_vocabulary=True)
    config.data.update(max_length={"source": 8, "target": 8}, buckets=(10,))
    config.model.update(kind="models.lm.LM", width=16, heads=2, depth=1)
    config.train.update(steps=STEPS, batch=12, lr=0.02, steps_per_call=4)
    config.train.update(eval_every=EVERY, checkpoint_every=EVERY, progress=False)
    config.train.optimizer = {"name": "sgd", "b1": 0.9, "b2": 0.98, "eps": 1e-9, "momentum": 0.9}
    config.decode.update(method="none", max_length=6)
    return config
"""


@pytest.fixture
def experiment(tmp_path):
    """Writes the config; what its only run is called in this directory."""

    def write(steps, every):
        text = CONFIG.replace("STEPS", str(steps)).replace("EVERY", str(every))
        (tmp_path / "copy.py").write_text(text)
        return tmp_path

    return write


def start(where, workdir, *arguments, together=True):
    """The command, in two processes of two devices, or in one of one device."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(ROOT / "launch.py"), "--config=copy.py", f"--workdir={workdir}"]
    joins = [[f"--coordinator=localhost:{port}", "--processes=2", f"--process={i}"] for i in (0, 1)]
    count = "--xla_force_host_platform_device_count=2" if together else ""
    # What the first of several starts compiles, the next ones find.
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(where / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    return [
        subprocess.Popen(
            [*command, *arguments, *join],
            cwd=where,
            env=surroundings(XLA_FLAGS=count, **cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for join in (joins if together else [[]])
    ]


def end(processes):
    """[(exit status, what it said)]"""
    said = [process.communicate(timeout=240)[0] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, said, strict=True)]


def only_run(where, workdir):
    [path] = (where / workdir / "runs").iterdir()
    return path


def wait_for_rows(where, workdir, count, processes):
    """Until the run has written so many rows."""
    while True:
        for path in (where / workdir).glob("runs/*/metrics.jsonl"):
            if path.read_text().count("\n") > count:
                return
        ended = [process.communicate()[0] for process in processes if process.poll() is not None]
        assert not ended, ended
        time.sleep(0.1)


def same_numbers(path, other):
    scores, others = (history(read(each / "metrics.jsonl")) for each in (path, other))
    for name in scores.keys() - {"train/step_time", "train/compile_time", "train/compilations"}:
        assert scores[name].keys() == others[name].keys()
        left, right = list(scores[name].values()), list(others[name].values())
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-5, err_msg=name)
    run, again = seqlab.load_run(path), seqlab.load_run(other)
    assert run.step == again.step
    texts = ["a b", "c d a", "b"]
    found, expected = (each.hypotheses(texts, method="beam") for each in (run, again))
    for mine, theirs in zip(found, expected, strict=True):
        assert mine[0].text == theirs[0].text
        assert abs(mine[0].score - theirs[0].score) < 1e-5


def test_two_processes_give_what_one_does_also_after_one_was_killed(experiment):
    """The 11 validation examples, in batches of 12 for 4 devices, are one short."""
    where = experiment(40, 8)
    [(status, said)] = end(start(where, "alone", together=False))
    assert status == 0, said
    first = start(where, "both")
    wait_for_rows(where, "both", 20, first)
    first[1].kill()
    (status, said), _ = end(first)
    path = only_run(where, "both")
    if status == 1:  # it noticed in a sum over all devices
        assert "process 0 of 2 cannot go on" in said
        assert "continues from the last checkpoint" in said
        assert RunDirectory(path).status["state"] == "failed"
    else:  # JAX ended it while it was waiting for the other
        assert status == -signal.SIGABRT, said
        assert "another task died" in said
    for status, said in end(start(where, "both")):
        assert status == 0, said
    status = RunDirectory(path).status
    assert status["state"] == "done"
    assert status["resumed_from"] >= 8
    starts = json.loads((path / "environment.json").read_text())["starts"]
    assert len(starts) == 2
    same_numbers(only_run(where, "alone"), path)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [["--config.train.fsdp=4"], ["--config.train.parallel=pmap"]])
def test_other_forms_on_two_processes(experiment, keys):
    where = experiment(20, 10)
    end(start(where, "alone", together=False))
    for status, said in end(start(where, "both", *keys)):
        assert status == 0, said
    same_numbers(only_run(where, "alone"), only_run(where, "both"))


@pytest.mark.slow
def test_both_save_and_stop_when_one_is_asked_to(experiment):
    where = experiment(60, 30)
    end(start(where, "alone", together=False))
    first = start(where, "both")
    wait_for_rows(where, "both", 12, first)
    first[1].send_signal(signal.SIGTERM)
    for status, said in end(first):
        assert status == 75, said
    path = only_run(where, "both")
    status = RunDirectory(path).status
    assert status["state"] == "pending"
    assert 0 < status["step"] < 30
    for status, said in end(start(where, "both")):
        assert status == 0, said
    same_numbers(only_run(where, "alone"), path)
