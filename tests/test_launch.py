"""The command line: what it trains, writes and refuses, and with which exit status."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from absl.testing import flagsaver

from seqlab.build import ConfigError
from seqlab.train.directory import RunDirectory
from seqlab.train.size import Size
from seqlab.train.writer import MetricsWriter

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import launch  # noqa: E402

from seqlab.sweep.writing import UnwritableError  # noqa: E402

CONFIG = """
from seqlab.config import defaults

def get_config():
    config = defaults()
    config.train.steps = 4
    config.report.question = "Which rate?"
    config.report.axes = ("train.lr",)
    return config

def sweep():
    for rate in (1e-3, 1e-2):
        for seed in (0, 1):
            yield {"train.lr": rate, "seed": seed}
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A config file in an empty current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.py").write_text(CONFIG)
    return "rates.py"


@pytest.fixture
def trained(monkeypatch):
    """The names of the points that were asked to train; a point with lr 0.5 fails."""
    seen = []

    def train(config, directory, name):
        seen.append(directory.name)
        if config["train"]["lr"] == 0.5:
            raise RuntimeError("too fast")
        with MetricsWriter(directory / "metrics.jsonl") as writer:
            writer.write(4, "valid", {"loss": 1.0 + config["train"]["lr"] + config["seed"] / 100})
        RunDirectory(directory).update(step=config["train"]["steps"])

    monkeypatch.setattr("seqlab.train.loop.run", train)
    return seen


def run(overrides=None, **flags):
    launch.FLAGS.mark_as_parsed()
    with flagsaver.flagsaver(**flags):
        return launch.main(overrides or {})


def launched(*words):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, str(ROOT / "launch.py"), *words],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )


def test_a_sweep_leaves_an_experiment_and_is_done_only_once(config, trained, capsys):
    assert run(config=config) == 0
    assert len(trained) == 4
    experiment = Path("experiments/rates")
    text = (experiment / "README.md").read_text()
    assert text.startswith("# Which rate?")
    assert text.endswith("    python launch.py --config=rates.py\n")
    assert {path.name for path in (experiment / "runs").iterdir()} == set(trained)
    capsys.readouterr()
    assert run(config=config) == 0
    assert len(trained) == 4
    assert "all points done (4)" in capsys.readouterr().out


def test_only_a_part_and_then_the_rest(config, trained, capsys):
    assert run(config=config, only=["seed=1"]) == 0
    assert len(trained) == 2
    assert "not written, 2 of 4 points are to be trained (--only=seed=1)" in capsys.readouterr().out
    assert run(config=config) == 0
    assert len(trained) == 4
    assert Path("experiments/rates/README.md").exists()


def test_overrides_and_sweep_flags_write_elsewhere(config, trained):
    run(config=config)
    before = Path("experiments/rates/results.csv").read_bytes()
    assert run({"model.width": 32}, config=config) == 0
    assert run(config=config, sweep=["train.warmup=0,10"]) == 0
    assert len(set(trained)) == 4 + 4 + 8
    assert Path("experiments/rates/results.csv").read_bytes() == before
    assert len(list(Path("experiments/rates/variants").iterdir())) == 2
    run({"model.width": 32}, config=config, workdir="./experiments/rates")
    assert Path("experiments/rates/results.csv").read_bytes() == before
    run({"model.width": 32}, config=config, workdir="mine")
    assert Path("mine/README.md").exists()


def test_a_failed_point_makes_the_exit_status(config, trained):
    assert run(config=config, sweep=["train.lr=0.001,0.5"]) == 1
    assert len(trained) == 4
    assert run(config=config, sweep=["train.lr=0.5,0.001"], on_failure="stop") == 1
    assert len(trained) == 5


def test_rebuilding_the_report_trains_nothing(config, trained):
    run(config=config)
    readme = Path("experiments/rates/README.md")
    text = readme.read_text()
    readme.unlink()
    assert run(config=config, report=True) == 0
    assert readme.read_text() == text
    assert len(trained) == 4


def test_the_plan_trains_nothing(config, trained, capsys, monkeypatch):
    monkeypatch.setattr("seqlab.train.size.size", lambda config: Size(64, 1234, 1000, 5000))
    assert run(config=config, plan=True) == 0
    assert capsys.readouterr().out.count("1,234") == 4
    assert not trained
    assert not Path("experiments").exists()


def test_an_override_that_the_sweep_would_undo_is_refused(config, trained):
    with pytest.raises(ConfigError, match=r"use --sweep=seed=\.\.\."):
        run({"seed": 3}, config=config)
    assert not trained


@pytest.mark.parametrize(
    "entry",
    [
        {"figures": ({"kind": "report.figures.lines.Lines", "x": "seed", "z": "valid/loss"},)},
        {"verdict": ({"claim": "c", "metric": "valid/loss", "off": {}, "below": 1.0},)},
    ],
)
def test_a_wrong_report_stops_before_training(config, trained, entry):
    text = Path(config).read_text()
    changed = f"config.report.update({entry})\n    return config"
    Path(config).write_text(text.replace("return config", changed))
    with pytest.raises(ConfigError, match=r"report\.(figures|verdict)"):
        run(config=config)
    assert not trained


@pytest.mark.parametrize(
    ("argument", "status", "says"),
    [
        ("--config.model.placment=x", 2, "did you mean `placement`?"),
        ("--sweep=train.lr=1e-3,fast", 2, "train.lr: expected float, got 'fast'"),
        ("--config.model.width=63", 2, "60 or 64"),
        ("--jobs=0", 2, "--jobs: must be 1 or more, got 0"),
        ("--onfailure=stop", 1, "on_failure"),
        ("--executor=cloud", 1, "local"),
    ],
)
def test_a_wrong_command_line_stops_at_once_without_a_traceback(config, argument, status, says):
    result = launched(f"--config={config}", argument)
    assert result.returncode == status
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("experiments").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"jobs": 2, "executor": "debug"}, "--jobs=2: --executor=debug trains in this process"),
        ({"jobs": 2, "executor": "slurm"}, "--config.cluster.concurrent=2"),
        ({"jobs": 2, "coordinator": "auto"}, "--coordinator: its processes train each point"),
        ({"status": True, "plan": True}, "--plan and --status: choose one"),
        ({"processes": 2}, "they go with --coordinator=HOST:PORT"),
        ({"coordinator": "auto", "process": 0}, "they go with --coordinator=HOST:PORT"),
        ({"coordinator": "here"}, "expected HOST:PORT or auto, got 'here'"),
        ({"coordinator": "here:1234", "processes": 2}, "got 2 and None"),
        ({"coordinator": "here:1234", "processes": 2, "process": 2}, "I from 0 to N-1"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(config, trained, given, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        run(config=config, **given)
    assert not trained


def test_the_status_of_a_sweep(config, trained, capsys):
    assert run(config=config, status=True) == 0
    assert "4 points: 4 pending" in capsys.readouterr().out
    assert not Path("experiments").exists()
    run(config=config, sweep=["train.lr=0.001,0.5"])
    capsys.readouterr()
    assert run(config=config, sweep=["train.lr=0.001,0.5"], status=True) == 0
    text = capsys.readouterr().out
    assert text.count("4/4") == 2
    assert text.count("RuntimeError: too fast") == 2
    assert text.endswith("4 points: 2 done, 2 failed\n")
    assert len(trained) == 4


def test_debugging_ends_at_the_first_error_with_the_error(config, trained):
    with pytest.raises(RuntimeError, match="too fast"):
        run(config=config, sweep=["train.lr=0.5,0.001"], executor="debug")
    assert len(trained) == 1
    assert RunDirectory(f"experiments/rates/runs/{trained[0]}").status["state"] == "failed"


def test_a_directory_that_cannot_be_written_is_named_in_one_line(
    config, trained, monkeypatch, capsys
):
    Path("taken").write_text("a file")
    monkeypatch.setattr(launch.app, "run", lambda main, argv: main(argv))
    monkeypatch.setattr(sys, "argv", ["launch.py"])
    launch.FLAGS.mark_as_parsed()
    with flagsaver.flagsaver(config=config, workdir="taken"), pytest.raises(SystemExit) as ended:
        launch.start()
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(str(Path("taken").resolve()))
    assert line.endswith("Not a directory")
    assert not trained


def test_a_full_disk_is_named_in_one_line(config, trained, monkeypatch):
    def refuse(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(RunDirectory, "lock", refuse)
    with pytest.raises(UnwritableError, match="rates: cannot be written: No space left on device"):
        run(config=config)


def test_help_tells_flags_parts_and_exit_statuses():
    text = launched("--help").stdout
    for expected in ("--jobs", "--coordinator", "--[no]status", "--[no]check", "75 after SIGTERM"):
        assert expected in text
    assert "mixers.lstm.Lstm" in text
