"""A point that SLURM has: what its run directory and the queue say of it, told as it happens."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seqlab.sweep.attempt import ending, is_done, result_of, say
from seqlab.sweep.ledger import held
from seqlab.sweep.plan import Point
from seqlab.sweep.squeue import ENDING, Queued
from seqlab.train.directory import RunDirectory

LOOKS = 2  # in a row that do not find a job: squeue and a shared file system may be out of step
LOG_LINES = 5
FREE = "free"  # instead of a field of Outcome: the point has not come to an end, and nobody has it


@dataclass
class Watched:
    """One point that is waited for.

    job: its id, "" where it is no job but a process that has the point. own: did this launcher
    submit it? ran: was it seen running? cancelled: did this launcher take it out of the queue?
    """

    point: Point
    title: str
    directory: RunDirectory
    job: str = ""
    own: bool = False
    ran: bool = False
    cancelled: bool = False
    started: str = ""  # when, if it is running
    missing: int = 0  # looks in a row that did not find the job

    def look(self, queue: Mapping[str, Queued] | None) -> str:
        """Tell what is new; returns a field of `Outcome` once the point has come to an end, or
        FREE.

        queue: the jobs as they were just before, or None where SLURM did not answer.
        """
        if queue is not None and self.job:
            self._follow(queue.get(self.job))
        status = self.directory.status
        if status["state"] == "failed":
            text = ending(status["traceback"])
            say(f"{self.title}: FAILED\n{text}\n    all of it: {self.directory.status_path}")
            return "failed"
        if is_done(status, self.point.config):
            say(f"{self.title}: {result_of(status)}")
            return "trained" if self.job else "elsewhere"
        if not self.job:
            return "" if held(self.directory) else FREE
        if self.missing < LOOKS:
            return ""
        if status["state"] == "done":  # the config that was queued asked for fewer steps
            return FREE
        return self._vanished()

    def _follow(self, found: Queued | None) -> None:
        """Note what the queue says of the job, and tell of starts and stops."""
        self.missing = 0 if found else self.missing + 1
        if found is None or found.state == ENDING or found.started == self.started:
            return
        if self.started:
            step = self.directory.status["step"]
            saved = "" if found.started else f", saved at step {step}"
            say(f"{self.title}: stopped by SLURM{saved}, queued again")
        if found.started:
            say(f"{self.title}: started, job {self.job}")
            self.ran = True
        self.started = found.started

    def _vanished(self) -> str:
        """The job is gone and the run has not come to an end."""
        with self.directory.lock() as mine:
            if not mine:
                self.job = ""
                say(f"{self.title}: another process is at it")
                return ""
            if self.cancelled and not self.ran:
                self.directory.update(state="pending", job=None)
                return "untouched"
            text = self._trace()
            self.directory.update(state="failed", traceback=text)
        say(f"{self.title}: FAILED\n{text}")
        return "failed"

    def _trace(self) -> str:
        """What is known of a job that said nothing."""
        log = self.log
        lines = ["it never started"]
        if log.exists():
            lines = log.read_text("utf-8", errors="replace").strip().splitlines()[-LOG_LINES:]
            lines.append(f"all of it: {log}")
        return "\n    ".join(
            [
                f"    job {self.job} left the queue without a word: cancelled, out of memory, or "
                "its node failed",
                *lines,
            ]
        )

    @property
    def log(self) -> Path:
        """To which the job's first process writes all it says, beside `runs`."""
        return self.directory.path.parents[1] / "slurm" / f"{self.job}_0_log.out"
