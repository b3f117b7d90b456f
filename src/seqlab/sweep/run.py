"""The local executor: one point after the other in this process.

Points that are done are skipped, interrupted and failed ones are taken up again, a failure is
told at once and does not stop the others. Several launchers may work on one sweep: each point is
locked while it trains.
"""

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqlab.sweep.plan import Point
from seqlab.train.directory import RunDirectory

Runner = Callable[[dict[str, Any], Path, str], None]
INTERRUPTED = 130  # exit status after Ctrl-C, as shells have it


@dataclass
class Outcome:
    """Ids of the points by what became of them."""

    trained: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    untouched: list[str] = field(default_factory=list)

    @property
    def exit_status(self) -> int:
        """1 when a point failed, else 0."""
        return 1 if self.failed else 0

    def summary(self) -> str:
        """One line of counts, or "all points done" where there was nothing to do."""
        total = sum(map(len, vars(self).values()))
        if len(self.skipped) == total:
            return f"all points done ({total})"
        words = {
            "trained": self.trained,
            "already done": self.skipped,
            "failed": self.failed,
            "in another process": self.elsewhere,
            "not started": self.untouched,
        }
        counts = [f"{len(found)} {word}" for word, found in words.items() if found]
        return f"{total} points: {', '.join(counts)}"


def run(points: list[Point], root: Path, runner: Runner, on_failure: str = "continue") -> Outcome:
    """Train every point that is not done into `root/<id>`.

    runner(config, directory, name) trains one run and raises when it cannot. on_failure: "stop"
    leaves the points after a failed one alone. KeyboardInterrupt and SystemExit are passed on,
    after the point was marked as one to resume.
    """
    outcome = Outcome()
    for number, point in enumerate(points, 1):
        if outcome.failed and on_failure == "stop":
            outcome.untouched.append(point.id)
            continue
        title = f"[{number}/{len(points)}] {point.id}"
        directory = RunDirectory(root / point.id)
        with directory.lock() as mine:
            if not mine:
                _say(f"{title}: another process is at it")
                outcome.elsewhere.append(point.id)
            elif is_done(directory.status, point.config):
                outcome.skipped.append(point.id)
            elif _train(directory, point, runner, title):
                outcome.trained.append(point.id)
            else:
                outcome.failed.append(point.id)
    return outcome


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
        _say(f"{title}: {how}")
        runner(point.config, directory.path, title)
    except (KeyboardInterrupt, SystemExit):
        directory.update(state="pending")
        _say(f"{title}: interrupted; the same command continues it")
        raise
    except Exception:
        text = traceback.format_exc()
        directory.path.mkdir(parents=True, exist_ok=True)
        directory.update(state="failed", traceback=text)
        last = "\n".join(f"    {line}" for line in text.strip().splitlines()[-3:])
        _say(f"{title}: FAILED\n{last}\n    all of it: {directory.status_path}")
        return False
    directory.update(state="done")
    _say(f"{title}: {_result(directory.status)} after {time.monotonic() - started:.0f} s")
    return True


def _result(status: Mapping[str, Any]) -> str:
    diverged = status.get("diverged")
    if diverged:
        where = diverged.get("layer") or "an unknown layer"
        return f"diverged at step {diverged['step']} ({where})"
    return f"done, step {status['step']}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
