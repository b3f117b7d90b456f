"""Run directories and the metrics file."""

import json
import math
import os
import subprocess

import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.config import defaults
from seqlab.sweep.overrides import apply_overrides, check
from seqlab.train.atomic import make_atomically, write_atomically
from seqlab.train.directory import RunDirectory
from seqlab.train.environment import changes, code_state
from seqlab.train.writer import MetricsWriter, history, read

CONFIG = check(defaults())
ORIGIN = {"time": "now", "host": "here", "commit": "c", "command": "python", "dirty": False}


@pytest.mark.parametrize("name", ["runs/x", "./x", "with a space/x", "~/x"])
def test_any_spelling_of_a_path_works(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    run = RunDirectory.create(name, CONFIG)
    assert run.path.is_absolute()
    assert tmp_path in run.path.parents
    assert RunDirectory.open(name).config == CONFIG
    assert run.status == {"format": 1, "state": "pending", "step": 0}


def test_creating_again_continues_and_another_config_is_refused(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIG)
    run.update(state="running", step=3)
    assert RunDirectory.create(tmp_path / "run", CONFIG).status["step"] == 3
    longer = apply_overrides(CONFIG, {"train.steps": 5000})
    assert RunDirectory.create(tmp_path / "run", longer).config["train"]["steps"] == 5000
    other = apply_overrides(CONFIG, {"train.lr": 5e-4})
    with pytest.raises(ConfigError, match=r"config.train.lr is 0.001 there and 0.0005 here"):
        RunDirectory.create(tmp_path / "run", other)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").touch()
    with pytest.raises(ConfigError, match="not empty"):
        RunDirectory.create(tmp_path / "thesis", CONFIG)


def test_opening_what_is_no_run_or_a_newer_one_fails(tmp_path):
    with pytest.raises(FileNotFoundError, match="no run directory"):
        RunDirectory.open(tmp_path / "missing")
    run = RunDirectory.create(tmp_path / "run", CONFIG)
    run.update(format=99)
    with pytest.raises(ConfigError, match="format 99"):
        RunDirectory.open(tmp_path / "run")


def test_status_fields_are_merged_removed_and_checked(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIG)
    run.update(state="failed", traceback="...")
    run.update(state="running", traceback=None)
    assert run.status == {"format": 1, "state": "running", "step": 0}
    with pytest.raises(ValueError, match="'gone' is none of"):
        run.update(state="gone")


def test_one_dirty_start_marks_the_run(tmp_path, monkeypatch):
    run = RunDirectory.create(tmp_path / "run", CONFIG)
    for dirty in (False, True, False):
        monkeypatch.setattr(
            "seqlab.train.directory.describe", lambda dirty=dirty: ORIGIN | {"dirty": dirty}
        )
        run.record_environment()
    assert run.environment["dirty"] is True
    assert len(run.environment["starts"]) == 3


@pytest.fixture
def code(monkeypatch):
    """What git would say of the code: keys of `origin`, and the text of the patch."""
    found = dict(ORIGIN, patch="")
    monkeypatch.setattr("seqlab.train.directory.changes", lambda: found["patch"])
    for name in ("origin", "describe"):
        monkeypatch.setattr(
            f"seqlab.train.directory.{name}", lambda: {key: found[key] for key in ORIGIN}
        )
    return found


def test_every_start_keeps_what_made_its_code_dirty(tmp_path, code):
    run = RunDirectory.create(tmp_path / "run", CONFIG)
    for patch in ("", "+ one\n", "+ two\n", "+ one\n", ""):
        code["patch"] = patch
        run.record_environment()
    starts = [start.get("changes") for start in run.environment["starts"]]
    assert starts == [None, "changes.diff", "changes-2.diff", "changes.diff", None]
    assert (run.path / "changes.diff").read_text() == "+ one\n"
    assert (run.path / "changes-2.diff").read_text() == "+ two\n"
    assert run.environment["starts"][0]["host"] == "here"


def test_a_queued_run_records_what_it_was_submitted_with(tmp_path, code, caplog):
    run = RunDirectory.create(tmp_path / "run", CONFIG)
    code |= {"patch": "+ one\n", "dirty": True, "command": "python launch.py"}
    run.record_submission("17_3")
    submitted = run.environment["submitted"]
    assert submitted == ORIGIN | {
        "dirty": True,
        "command": "python launch.py",
        "job": "17_3",
        "changes": "changes.diff",
    }
    assert run.status["job"] == "17_3"
    run.record_environment()
    assert not caplog.records
    code |= {"patch": "", "commit": "d"}
    run.record_environment()
    assert "submitted with commit c, started with d" in caplog.text
    assert "submitted with changes changes.diff, started with None" in caplog.text
    assert run.environment["submitted"] == submitted
    assert len(run.environment["starts"]) == 2


def test_changes_of_a_work_tree(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True)

    git("init", "-q")
    for name in ("src/kept.py", "notes/text.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("a = 1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    assert changes(tmp_path) == ""
    assert code_state(tmp_path)[1] is False
    (tmp_path / "notes" / "text.md").write_text("not code\n")
    assert changes(tmp_path) == ""
    (tmp_path / "src" / "kept.py").write_text("a = 2\n")
    (tmp_path / "src" / "new.py").write_text("b = 1\n")
    text = changes(tmp_path)
    assert code_state(tmp_path)[1] is True
    assert text.startswith("# not in the commit: src/new.py\ndiff --git")
    assert text.endswith("-a = 1\n+a = 2\n")
    (tmp_path / "saved.diff").write_text(text)
    git("checkout", "-q", "src/kept.py")
    git("apply", "saved.diff")
    assert (tmp_path / "src" / "kept.py").read_text() == "a = 2\n"
    assert changes(tmp_path / "src" / "..") == text


def test_code_outside_a_work_tree_has_no_changes(tmp_path):
    assert code_state(tmp_path) == (None, None)
    assert changes(tmp_path) == ""


def test_a_directory_of_a_process_that_does_not_write(tmp_path):
    path = tmp_path / "run"
    run = RunDirectory.create(path, CONFIG, writes=False)
    with run.lock() as mine:
        assert mine
    run.update(state="running", step=3)
    run.record_environment()
    run.record_submission("17")
    run.conventions = {"exact": "share"}
    assert not path.exists()
    assert run.status == {"state": "pending", "step": 0}
    RunDirectory.create(path, CONFIG).update(step=5)
    before = {file: file.stat().st_mtime_ns for file in path.iterdir()}
    other = RunDirectory.create(path, CONFIG, writes=False)
    other.update(step=9)
    assert other.status["step"] == 5
    assert {file: file.stat().st_mtime_ns for file in path.iterdir()} == before
    assert not RunDirectory.open(path, writes=False).writes


def test_a_directory_is_made_whole_or_not_at_all(tmp_path):
    with pytest.raises(KeyboardInterrupt), make_atomically(tmp_path / "a" / "made") as scratch:
        (scratch / "half").touch()
        raise KeyboardInterrupt
    assert list((tmp_path / "a").iterdir()) == []
    (tmp_path / "a" / ".made.part").mkdir()  # what a kill leaves
    (tmp_path / "a" / ".made.part" / "half").touch()
    with make_atomically(tmp_path / "a" / "made") as scratch:
        (scratch / "whole").touch()
    assert [path.name for path in (tmp_path / "a").rglob("*")] == ["made", "whole"]
    with pytest.raises(OSError, match="not empty"), make_atomically(tmp_path / "a" / "made"):
        pass


def test_an_interrupt_right_after_a_write_stays_an_interrupt(tmp_path, monkeypatch):
    """And does not become an error, as of a file that is not there, which a run would fail of."""
    replace = os.replace

    def interrupted(*names):
        replace(*names)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError("full")

    path = tmp_path / "file"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr("os.fsync", full)
        write_atomically(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    write_atomically(path, b"\xff\n")
    assert path.read_bytes() == b"\xff\n"


def test_metrics_are_strict_json_and_read_back(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsWriter(path) as writer:
        writer.write(1, "train", {"loss": np.float32(0.5), "bad": math.inf})
        writer.write(1, "valid", {"loss": math.nan, "exact@12": 3})
        assert len(path.read_text().splitlines()) == 2  # there before close
        with pytest.raises(ValueError, match="one number"):
            writer.write(2, "train", {"loss": np.zeros(2)})
        writer.write(1, "test_uniform", {"accuracy": 0.5})
        with pytest.raises(ValueError, match="'dev' is none of"):
            writer.write(2, "dev", {"loss": 1.0})
        with pytest.raises(ValueError, match="no name for a metric"):
            writer.write(2, "train", {"step": 1.0})
    for line in path.read_text().splitlines():
        json.loads(line, parse_constant=lambda word: pytest.fail(f"not JSON: {word}"))
    first, second, variant = read(path)
    assert first == {"step": 1, "split": "train", "loss": 0.5, "bad": math.inf}
    assert math.isnan(second["loss"])
    assert history([variant]) == {"test_uniform/accuracy": {1: 0.5}}


def test_a_resumed_run_has_one_row_a_step_and_later_values_win(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsWriter(path) as writer:
        writer.write(0, "model", {"parameters": 5})
        for step in range(1, 18):
            writer.write(step, "train", {"loss": float(step)})
    with path.open("a") as file:
        file.write('{"step": 18, "spl')  # killed while writing
    assert len(read(path)) == 18
    with MetricsWriter(path, resume=10) as writer:
        assert list(history(read(path))["train/loss"]) == list(range(1, 11))
        for step in range(10, 21):
            writer.write(step, "train", {"loss": -float(step)})
    found = history(read(path))
    assert list(found["train/loss"]) == list(range(1, 21))
    assert found["train/loss"][9] == 9.0
    assert found["train/loss"][10] == -10.0
    assert found["model/parameters"] == {0: 5}
    with MetricsWriter(path):
        pass
    assert read(path) == []


def test_a_broken_line_inside_the_file_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "split": "train"}\nnonsense\n{"step": 2, "split": "train"}\n')
    with pytest.raises(ValueError, match="line 2"):
        read(path)


def test_tensorboard_events_on_request(tmp_path):
    with MetricsWriter(tmp_path / "metrics.jsonl", tensorboard=True) as writer:
        writer.write(1, "train", {"loss": 0.5})
    assert list((tmp_path / "tensorboard").glob("events*"))
