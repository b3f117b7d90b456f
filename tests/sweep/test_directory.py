"""Run directories and the metrics file."""

import json
import math

import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.config import defaults
from seqlab.sweep.overrides import apply_overrides, check
from seqlab.train.directory import RunDirectory, write_atomically
from seqlab.train.writer import MetricsWriter, history, read

CONFIG = check(defaults())


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
        found = {"time": "", "commit": "c", "command": "", "dirty": dirty}
        monkeypatch.setattr("seqlab.train.directory.describe", lambda found=found: dict(found))
        run.record_environment()
    assert run.environment["dirty"] is True
    assert len(run.environment["starts"]) == 3


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


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
