"""What happens on clusters: killed in mid-save, cut files, full disks, directories that are gone.

The same command goes on from the last good checkpoint, and ends as if nothing had happened.
"""

import contextlib
import shutil
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from faults import fill, limit_files, read_only, small_disk, unwritable
from seqlab import load_run
from seqlab.sweep.attempt import attempt
from seqlab.sweep.plan import Point
from seqlab.train.directory import RunDirectory
from seqlab.train.initial import initial_params
from seqlab.train.loop import run
from seqlab.train.writer import MetricsWriter, read
from toys import ROOT, config, python, surroundings, train

SMALL = {"train__steps": 9, "train__ema": 0.9, "model__dropout": 0.1}  # saved at 3, 6 and 9


def assert_same_end(path, other):
    """Bit for bit: losses of every step, and the last weights."""
    first, second = load_run(path), load_run(other)
    assert first.step == second.step
    for name in ("train/loss", "valid/loss"):
        assert first.metrics[name] == second.metrics[name]
    leaves = zip(jax.tree.leaves(first.params), jax.tree.leaves(second.params), strict=True)
    assert all(np.array_equal(old, new) for old, new in leaves)


@pytest.fixture(scope="module", autouse=True)
def usual_promotion():
    """Optax raises a float to the number of steps, an int: strict promotion refuses that."""
    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return train(config(**SMALL), tmp_path_factory.mktemp("straight") / "run").path


def at_step(monkeypatch, step, act):
    """Do something when the row of this step is written."""
    write = MetricsWriter.write

    def acting(self, now, split, values):
        if (now, split) == (step, "train"):
            act()
        write(self, now, split, values)

    monkeypatch.setattr(MetricsWriter, "write", acting)


def test_a_cut_checkpoint_makes_a_run_go_on_from_the_one_before(
    straight, tmp_path, monkeypatch, caplog
):
    path = tmp_path / "run"

    def fall():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        at_step(patch, 8, fall)
        train(config(**SMALL, train__keep=2), path)
    (path / "checkpoints" / "6" / "weights" / "_METADATA").write_bytes(b"")
    directory = train(config(**SMALL, train__keep=2), path)
    assert "step 6: weights/_METADATA, 0 bytes now, is not what was saved" in caplog.text
    assert "going on from step 3" in caplog.text
    assert directory.status["resumed_from"] == 3
    rows = [row["step"] for row in read(directory.metrics) if "lr" in row]
    assert rows == list(range(1, 10))
    assert {"6", "9", "damaged-6"} <= {child.name for child in directory.checkpoints.iterdir()}
    assert_same_end(path, straight)


def test_without_a_checkpoint_that_can_be_read_nothing_starts_from_scratch(tmp_path, caplog):
    path = train(config(train__steps=3), tmp_path / "run").path
    (path / "checkpoints" / "3" / "training" / "_METADATA").write_bytes(b"")
    before = (path / "metrics.jsonl").read_bytes()
    point = Point("run", config(), {})
    assert attempt(point, tmp_path, run, "point") == "failed"
    status = RunDirectory(path).status
    assert "delete the directory to start anew" in status["traceback"]
    assert (path / "metrics.jsonl").read_bytes() == before
    shutil.rmtree(path / "checkpoints")
    assert attempt(point, tmp_path, run, "point") == "trained"


@pytest.mark.parametrize("step", [5, 9])
def test_a_save_that_fails_is_a_failed_run(straight, tmp_path, monkeypatch, capfd, step):
    """At a periodic save, and at the last one of a run."""
    point = Point("run", config(**SMALL), {})
    place = tmp_path / "run" / "checkpoints"
    with contextlib.ExitStack() as stack, monkeypatch.context() as patch:

        def spoil():
            last = str(3 * ((step - 1) // 3))
            while [child.name for child in place.iterdir()] != [last]:
                time.sleep(0.01)  # the save before is still going on
            stack.enter_context(unwritable(place))

        at_step(patch, step, spoil)
        assert attempt(point, tmp_path, run, "point") == "failed"
    told = capfd.readouterr().err
    assert "point: FAILED" in told
    assert "done" not in told
    status = RunDirectory(tmp_path / "run").status
    assert status["state"] == "failed"
    assert (
        f"SaveError: step {3 * -(-step // 3)} could not be saved to {place}"
        in (status["traceback"])
    )
    assert attempt(point, tmp_path, run, "point") == "trained"
    assert RunDirectory(tmp_path / "run").status["resumed_from"] == 3 * ((step - 1) // 3)
    assert_same_end(tmp_path / "run", straight)


def test_a_tokenizer_is_saved_whole(tmp_path, monkeypatch):
    """What a kill leaves of it is not taken for one."""
    from seqlab.data.text.words import Words

    path, save = tmp_path / "run", Words.save

    def fall(self, directory):
        save(self, directory)
        (directory / "tokenizer.json").write_text("{")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Words, "save", fall)
        train(config(train__steps=1), path)
    assert not (path / "tokenizer").exists()
    assert load_run(train(config(train__steps=1), path).path).step == 1


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
import seqlab
for path in sys.argv[1:]:
    run = seqlab.load_run(path)
    print(run.step, run.predict(["a b", "c"]))
"""


def test_a_run_can_be_copied_renamed_and_read_only(straight, tmp_path):
    copied = shutil.copytree(straight, tmp_path / "a copy, with spaces" / "run")
    renamed = shutil.copytree(straight, tmp_path / "first").rename(tmp_path / "läuft")
    before = contents(copied)
    with read_only(copied):
        found = python("-c", SCRIPT, str(copied), str(renamed), cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    first, second = found.stdout.splitlines()
    assert first == second
    assert first.startswith(f"{load_run(straight).step} [")
    assert contents(copied) == before


def test_a_run_that_starts_from_another_one_leaves_it_alone(straight, tmp_path):
    """Also where that one is just saving."""
    other = shutil.copytree(straight, tmp_path / "other")
    (other / "checkpoints" / "12.orbax-checkpoint-tmp").mkdir()
    before = contents(other)
    assert jax.tree.leaves(initial_params(str(other), load_run(other).params))
    assert contents(other) == before


def contents(root):
    """Every file with its time of change."""
    return {path: path.stat().st_mtime_ns for path in [root, *root.rglob("*")]}


def launch(workdir, *flags):
    command = [sys.executable, "launch.py", "--config=tests/fixtures/copying.py", *flags]
    return subprocess.Popen(
        [*command, f"--workdir={workdir}"],
        cwd=ROOT,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


OFTEN = (
    "--config.train.steps=48",
    "--config.train.checkpoint_every=4",
    "--config.train.eval_every=24",
    "--config.train.keep=1000",
    "--config.model.width=64",
)


def finish(process):
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return errors


def the_run(workdir):
    (path,) = (workdir / "runs").iterdir()
    return RunDirectory(path)


def wait_for(process, true):
    """Poll until something is true while the process lives."""
    deadline = time.monotonic() + 240
    while not (found := true()):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return found


def saved(workdir):
    return [p for p in workdir.glob("runs/*/checkpoints/*") if p.name.isdigit()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    workdir = tmp_path_factory.mktemp("undisturbed") / "work"
    finish(launch(workdir, *OFTEN))
    return the_run(workdir).path


def killed_in_mid_save(workdir):
    """Kill -9 a launch while a checkpoint is half-written; returns the half."""
    process = launch(workdir, *OFTEN)
    while True:
        wait_for(process, lambda: saved(workdir))
        wait_for(process, lambda: list(workdir.glob("runs/*/checkpoints/*tmp*")))
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)  # a signal takes effect a moment later
        if half := list(workdir.glob("runs/*/checkpoints/*tmp*")):
            break
        process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return half


@pytest.mark.slow
def test_the_same_command_after_kill_9_in_mid_save(undisturbed, tmp_path):
    half = killed_in_mid_save(tmp_path)
    last = max(int(path.name) for path in saved(tmp_path))
    errors = finish(launch(tmp_path, *OFTEN))
    assert f"restored step {last}" in errors
    assert not any(path.exists() for path in half)
    assert the_run(tmp_path).status["state"] == "done"
    assert_same_end(the_run(tmp_path).path, undisturbed)


def fails(process):
    """The launch ends with an error and never says that the run is done; returns what it says."""
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1, errors
    assert "FAILED" in errors
    assert "done, step" not in errors
    return errors


@pytest.mark.slow
def test_a_file_system_that_takes_no_more_bytes(undisturbed, tmp_path):
    """Files that are longer than the others, which are those of a checkpoint, cannot be written."""
    process = launch(tmp_path, *OFTEN)
    wait_for(process, lambda: saved(tmp_path))
    limit_files(process, 100_000)
    errors = fails(process)
    status = the_run(tmp_path).status
    assert "could not be saved to" in errors
    assert status["state"] == "failed"
    last = max(int(path.name) for path in saved(tmp_path))
    assert f"SaveError: step {last + 4} could not be saved to" in status["traceback"]
    assert f"restored step {last}" in finish(launch(tmp_path, *OFTEN))
    assert_same_end(the_run(tmp_path).path, undisturbed)


@pytest.mark.slow
def test_a_full_disk(undisturbed, tmp_path):
    """Of a few megabytes; where no such disk can be made, one that takes not a byte more."""
    workdir = tmp_path / "disk"
    with small_disk(workdir, "100m") as mounted:
        process = launch(workdir, *OFTEN)
        wait_for(process, lambda: saved(workdir))
        if mounted:
            fill(workdir / "others")
        else:
            limit_files(process, 0)
        assert "o space left" in fails(process) or not mounted
        assert the_run(workdir).status["state"] != "done"
        (workdir / "others").unlink(missing_ok=True)
        last = max(int(path.name) for path in saved(workdir))
        assert f"restored step {last}" in finish(launch(workdir, *OFTEN))
        assert_same_end(the_run(workdir).path, undisturbed)
