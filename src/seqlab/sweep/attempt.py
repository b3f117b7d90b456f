"""One point: claimed, trained, and what became of it written down."""

import contextlib
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from seqlab.sweep.plan import Point
from seqlab.train import processes
from seqlab.train.directory import RunDirectory

Runner = Callable[[dict[str, Any], Path, str], None]

FOUND = ("mine", "skipped", "elsewhere")  # what a look at a point may find
TRIES, PAUSE = 5, 0.03  # of a refused lock, seconds: `--status` holds it for a moment
NOBODY: dict[str, Any] = dict.fromkeys(("host", "pid", "started", "progress"))  # trains it


def attempt(point: Point, root: Path, runner: Runner, title: str, raises: bool = False) -> str:
    """Train the point into `root/<id>` unless it is done or another process has it.

    Returns a field of `Outcome`: "trained", "skipped", "failed" or "elsewhere". runner(config,
    directory, name) trains one run and raises when it cannot. raises: what it raised is passed on
    after it was noted, as it always is where several processes train the point, since the others
    cannot go on. KeyboardInterrupt and SystemExit are passed on, after the point was marked as one
    to resume. Raises OSError when the lock cannot be written.
    """
    directory = RunDirectory(root / point.id)
    with contextlib.ExitStack() as stack:
        writes = processes.writes()
        found = claim(stack, directory, point.config) if writes else "mine"
        found = FOUND[processes.agreed(FOUND.index(found))]
        if found != "mine":
            return found
        if not writes:
            runner(point.config, directory.path, title)
            return "trained"
        return _train(directory, point, runner, title, raises or processes.several())


def claim(stack: contextlib.ExitStack, directory: RunDirectory, config: Mapping[str, Any]) -> str:
    """Hold the run until the stack is left: one of FOUND."""
    for _ in range(TRIES):
        if stack.enter_context(directory.lock()):
            return "skipped" if is_done(directory.status, config) else "mine"
        time.sleep(PAUSE)
    return "elsewhere"


def is_done(status: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether a run has reached the steps its config asks for, or an end of its own."""
    ended = "diverged" in status or status.get("stopped_early", False)
    return status["state"] == "done" and (ended or status["step"] >= config["train"]["steps"])


def mark_failed(directory: RunDirectory, title: str, text: str) -> None:
    """Tell of a failure, at once, and keep the whole text of it in the status."""
    say(f"{title}: FAILED\n{ending(text)}\n    all of it: {directory.status_path}")
    try:
        directory.path.mkdir(parents=True, exist_ok=True)
        directory.update(state="failed", traceback=text, **NOBODY)
    except Exception as error:  # a full disk may be what both failed of; the first is the cause
        say(f"{title}: this could not be written there ({error}):\n{text}")


def ending(text: str) -> str:
    """The last lines of a traceback, indented."""
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-3:])


def say(text: str) -> None:
    """Tell the user, at once, and in one piece where several processes do."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _train(directory: RunDirectory, point: Point, runner: Runner, title: str, raises: bool) -> str:
    started = time.monotonic()
    try:
        before = directory.status
        RunDirectory.create(directory.path, point.config)
        me = {"host": socket.gethostname(), "pid": os.getpid(), "started": time.time()}
        directory.update(state="running", traceback=None, **NOBODY | me)
        directory.record_environment()
        how = {"pending": "training", "failed": "trying again"}.get(before["state"], "continuing")
        say(f"{title}: {how}")
        runner(point.config, directory.path, title)
        directory.update(state="done", **NOBODY)
    except (KeyboardInterrupt, SystemExit):
        say(f"{title}: interrupted; the same command continues it")
        with contextlib.suppress(OSError):  # without this note its lock tells that it has ended
            directory.update(state="pending", **NOBODY)
        raise
    except Exception:
        mark_failed(directory, title, traceback.format_exc())
        if raises:
            raise
        return "failed"
    say(f"{title}: {result_of(directory.status)} after {time.monotonic() - started:.0f} s")
    return "trained"


def result_of(status: Mapping[str, Any]) -> str:
    """How a run that is done ended, in words."""
    diverged = status.get("diverged")
    if diverged:
        where = diverged.get("layer") or "an unknown layer"
        return f"diverged at step {diverged['step']} ({where})"
    return f"done, step {status['step']}"
