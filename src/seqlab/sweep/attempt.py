"""One point: claimed, trained, and what became of it written down."""

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from seqlab.sweep.plan import Point
from seqlab.train.directory import RunDirectory

Runner = Callable[[dict[str, Any], Path, str], None]


def attempt(point: Point, root: Path, runner: Runner, title: str) -> str:
    """Train the point into `root/<id>` unless it is done or another process has it.

    Returns a field of `Outcome`: "trained", "skipped", "failed" or "elsewhere". runner(config,
    directory, name) trains one run and raises when it cannot. KeyboardInterrupt and SystemExit are
    passed on, after the point was marked as one to resume.
    """
    directory = RunDirectory(root / point.id)
    with directory.lock() as mine:
        if not mine:
            return "elsewhere"
        if is_done(directory.status, point.config):
            return "skipped"
        return "trained" if _train(directory, point, runner, title) else "failed"


def is_done(status: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether a run has reached the steps its config asks for, or an end of its own."""
    ended = "diverged" in status or status.get("stopped_early", False)
    return status["state"] == "done" and (ended or status["step"] >= config["train"]["steps"])


def _train(directory: RunDirectory, point: Point, runner: Runner, title: str) -> bool:
    started = time.monotonic()
    try:
        before = directory.status
        RunDirectory.create(directory.path, point.config)
        directory.update(state="running", traceback=None)
        directory.record_environment()
        how = {"pending": "training", "failed": "trying again"}.get(before["state"], "continuing")
        say(f"{title}: {how}")
        runner(point.config, directory.path, title)
    except (KeyboardInterrupt, SystemExit):
        directory.update(state="pending")
        say(f"{title}: interrupted; the same command continues it")
        raise
    except Exception:
        text = traceback.format_exc()
        directory.path.mkdir(parents=True, exist_ok=True)
        directory.update(state="failed", traceback=text)
        last = "\n".join(f"    {line}" for line in text.strip().splitlines()[-3:])
        say(f"{title}: FAILED\n{last}\n    all of it: {directory.status_path}")
        return False
    directory.update(state="done")
    say(f"{title}: {_result(directory.status)} after {time.monotonic() - started:.0f} s")
    return True


def _result(status: Mapping[str, Any]) -> str:
    diverged = status.get("diverged")
    if diverged:
        where = diverged.get("layer") or "an unknown layer"
        return f"diverged at step {diverged['step']} ({where})"
    return f"done, step {status['step']}"


def say(text: str) -> None:
    """Tell the user, at once."""
    print(text, file=sys.stderr, flush=True)
