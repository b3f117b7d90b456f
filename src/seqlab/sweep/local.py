"""`--executor=local --jobs=N`: the points of a sweep in N worker processes on this machine.

A thread a worker takes points from the schedule and sends them down a pipe; the main thread
waits, and passes on what the user asks for: Ctrl-C as SIGINT (a second one kills), SIGTERM as
itself. Workers are no part of the terminal's group of processes, so that each signal comes once.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from seqlab.sweep import schedule
from seqlab.sweep.attempt import NOBODY, claim, is_done, mark_failed
from seqlab.sweep.order import Order
from seqlab.sweep.outcome import INTERRUPTED, Outcome
from seqlab.sweep.plan import Point
from seqlab.sweep.schedule import OVER, WAIT, Schedule
from seqlab.sweep.shares import Share, shares
from seqlab.train.directory import RunDirectory
from seqlab.train.interrupt import RESUMABLE, Stopped, asked

COMMAND = (sys.executable, "-P", "-m", "seqlab.sweep.worker")
TICK = 0.2  # seconds until the main thread sees that it was asked to stop


def run(
    points: list[Point],
    root: Path,
    jobs: int,
    on_failure: str = "continue",
    command: Sequence[str] = COMMAND,
) -> Outcome:
    """Attempt every point, at most `jobs` at a time. command: starts a worker.

    Raises KeyboardInterrupt after Ctrl-C, and Stopped after SIGTERM (under `interrupt.catch`), when
    the workers have saved.
    """
    open_points = [p for p in points if not is_done(RunDirectory(root / p.id).status, p.config)]
    jobs = max(1, min(jobs, len(open_points)))
    crew = Crew(Schedule(points, root, on_failure), command)
    with ThreadPoolExecutor(jobs) as pool:
        threads = [pool.submit(crew.work, share) for share in shares(jobs)]
        interrupted = _watch(crew, threads)
    for thread in threads:
        thread.result()  # raises what went wrong in it
    if interrupted:
        raise KeyboardInterrupt
    if crew.stopping.is_set():
        raise Stopped
    return crew.plan.outcome


def _watch(crew: "Crew", threads: list[Future[None]]) -> bool:
    """Wait for the threads; returns whether it was Ctrl-C that ended them."""
    interrupted = False
    while True:
        try:
            if asked() and not crew.stopping.is_set():
                crew.stop(signal.SIGTERM)
            ended, running = wait(threads, TICK)
            if not running:
                return interrupted
            if any(thread.exception() for thread in ended) and not crew.stopping.is_set():
                crew.stop(signal.SIGTERM)
        except KeyboardInterrupt:
            crew.stop(signal.SIGKILL if interrupted else signal.SIGINT)
            interrupted = True
        except Stopped:  # asked a second time
            crew.stop(signal.SIGTERM)


class Crew:
    """The workers of one sweep. stopping: no further point is begun."""

    def __init__(self, plan: Schedule, command: Sequence[str]) -> None:
        self.plan, self.command = plan, command
        self.stopping = threading.Event()
        self._workers: list[Worker] = []

    def stop(self, number: signal.Signals) -> None:
        """Begin nothing more, and send the signal to every worker."""
        self.stopping.set()
        for worker in list(self._workers):
            worker.process.send_signal(number)

    def work(self, share: Share) -> None:
        """Have points trained, until there are no more or it is time to stop."""
        worker: Worker | None = None
        try:
            while not self.stopping.is_set() and (number := self.plan.take()) != OVER:
                if number == WAIT:
                    self.stopping.wait(schedule.POLL)
                    continue
                point = self.plan.points[number]
                if is_done(RunDirectory(self.plan.root / point.id).status, point.config):
                    self.plan.ended(number, "skipped")
                    continue
                if worker and worker.process.poll() is not None:  # it died while it had nothing
                    worker.dismiss()
                    worker = None
                worker = worker or self._hire(share)
                found = worker.ask(Order(point, self.plan.root, self.plan.title(number)))
                if found is None:
                    found = self._died(number, worker.dismiss())
                    worker = None
                self.plan.ended(number, found)
        finally:
            if worker:
                worker.dismiss()

    def _hire(self, share: Share) -> "Worker":
        worker = Worker(self.command, share)
        self._workers.append(worker)
        if self.stopping.is_set():  # between the question above and its entry in the list
            worker.process.send_signal(signal.SIGTERM)
        return worker

    def _died(self, number: int, status: int) -> str:
        """What to note of a point whose worker has ended without an answer."""
        point, title = self.plan.points[number], self.plan.title(number)
        directory = RunDirectory(self.plan.root / point.id)
        with contextlib.ExitStack() as stack:
            found = claim(stack, directory, point.config)
            if found == "skipped":
                return "trained"  # it died after the last word was written
            if found == "elsewhere":
                return found
            if self.stopping.is_set() or status in (RESUMABLE, INTERRUPTED):
                if directory.status["state"] == "running":
                    directory.update(state="pending", **NOBODY)
                return "elsewhere"  # if the sweep goes on, it is taken up again
            mark_failed(directory, title, f"the process that trained it {_end(status)}")
            return "failed"


class Worker:
    """A worker process and the pipes to it."""

    def __init__(self, command: Sequence[str], share: Share) -> None:
        cores = ",".join(map(str, share.cores))
        # What is importable here is so there; no progress bars, which would write over each other.
        path = os.pathsep.join(each or os.getcwd() for each in sys.path)
        environment = {**os.environ, "PYTHONPATH": path, "TQDM_DISABLE": "1", **share.environment}
        self.process = subprocess.Popen(
            [*command, cores, *sys.argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            process_group=0,
        )

    def ask(self, order: Order) -> str | None:
        """Send the order and wait for its outcome; None when the worker has ended instead."""
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(f"{order.to_line()}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        answer = self.process.stdout.readline()
        return json.loads(answer)["outcome"] if answer.endswith("\n") else None

    def dismiss(self) -> int:
        """Let it end, wait for that, and return its exit status; negative: of a signal."""
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()
        return self.process.wait()


def _end(status: int) -> str:
    """How a worker ended, in words."""
    if status >= 0:
        return f"ended with exit status {status}"
    name = signal.Signals(-status).name
    memory = "; out of memory?" if -status == signal.SIGKILL else ""
    return f"was killed by signal {-status} ({name}){memory}"
