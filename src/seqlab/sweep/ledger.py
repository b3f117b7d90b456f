"""Where the points of a sweep stand, read from their run directories; nothing is kept twice.

`status.json` says what was last known; whether somebody is at work is what the lock says, which
the kernel frees when its holder dies.

    pending   not begun, or stopped in good order: the next launcher takes it
    queued    pending, with a job of a cluster that will take it
    running   somebody is at it
    lost      it was running, and its process died: the next launcher takes it
    failed    it ended with an error, which the next launcher tries again
    diverged  it ended at a loss that is not finite, which is a result
    done      it has reached its steps, or stopped early
"""

import fcntl
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.sweep.plan import Point, columns
from seqlab.train.directory import RunDirectory

STATES = ("done", "diverged", "failed", "running", "lost", "queued", "pending")


@dataclass(frozen=True)
class Entry:
    """One point. step_time, eta: seconds, where its process has told them."""

    id: str
    state: str
    step: int
    steps: int
    step_time: float | None
    eta: float | None
    where: str  # "host:pid" of its process, "job 17_2" of a cluster, or both
    error: str  # last line of the traceback


def entries(points: Iterable[Point], root: Path, now: float | None = None) -> list[Entry]:
    """One entry for each point, as it stands at `now` (seconds since the epoch)."""
    moment = time.time() if now is None else now
    return [_entry(point, RunDirectory(root / point.id), moment) for point in points]


def table(found: list[Entry]) -> str:
    """The entries as text, a line a point, and a line of counts."""
    head = ["point", "state", "step", "s/step", "ETA", "where", "error"]
    lines = [head]
    for each in found:
        rate = "" if each.step_time is None else f"{each.step_time:.3g}"
        step = f"{each.step}/{each.steps}"
        lines.append([each.id, each.state, step, rate, duration(each.eta), each.where, each.error])
    counts = Counter(each.state for each in found)
    words = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    return f"{columns(lines, '<<>>><<')}\n{len(found)} points: {words}"


def held(directory: RunDirectory) -> bool:
    """Is a process at work on this run? Works on a directory that cannot be written.

    A shared lock: two who ask do not see each other. Who wants to train meanwhile tries again.
    """
    try:
        with (directory.path / ".lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def duration(seconds: float | None) -> str:
    """1h02m, 3m20s, or "" where it is not known."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s"


def _entry(point: Point, directory: RunDirectory, now: float) -> Entry:
    status, steps = directory.status, point.config["train"]["steps"]
    state = _state(status, directory, steps)
    progress = status.get("progress", {}) if state == "running" else {}
    step_time, told = progress.get("step_time"), progress.get("time", now)
    ahead = None if step_time is None else (steps - status["step"]) * step_time
    error = status.get("traceback", "").strip().splitlines() if state == "failed" else []
    return Entry(
        id=point.id,
        state=state,
        step=status["step"],
        steps=steps,
        step_time=step_time,
        eta=None if ahead is None else max(0.0, told + ahead - now),
        where=_where(status) if state in ("running", "lost", "queued") else "",
        error=error[-1] if error else "",
    )


def _state(status: Mapping[str, Any], directory: RunDirectory, steps: int) -> str:
    state = status["state"]
    if state == "running" and not held(directory):
        return "lost"
    if state == "pending" and "job" in status:
        return "queued"
    if state == "done" and "diverged" in status:
        return "diverged"
    if state == "done" and not status.get("stopped_early") and status["step"] < steps:
        return "pending"  # the config asks for more steps than it did
    return state


def _where(status: Mapping[str, Any]) -> str:
    process = [f"{status['host']}:{status['pid']}"] if "host" in status else []
    job = [f"job {status['job']}"] if "job" in status else []
    return ", ".join(process + job)
