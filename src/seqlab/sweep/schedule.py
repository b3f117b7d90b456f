"""Which point is next: those of the plan, then those that other processes had and left.

Whoever trains points asks this, one after the other or from several threads. A point that another
process has is waited for, so that every launcher of a sweep ends when the sweep has ended; it is
taken over when that process stops or dies, and counts as failed when it failed there. Nothing is
attempted twice by one schedule after it has failed.
"""

import threading
from collections import deque
from pathlib import Path

from seqlab.sweep.attempt import ending, is_done, say
from seqlab.sweep.ledger import held
from seqlab.sweep.outcome import Outcome
from seqlab.sweep.plan import Point
from seqlab.train.directory import RunDirectory

OVER, WAIT = -1, -2  # instead of the number of a point
POLL = 1.0  # seconds between two looks at what other processes have


class Schedule:
    """The points of a sweep, each given out until it has ended. on_failure: "stop" gives out none
    after a point has failed."""

    def __init__(self, points: list[Point], root: Path, on_failure: str) -> None:
        self.points, self.root, self.on_failure = points, root, on_failure
        self.outcome = Outcome()
        self._todo = deque(range(len(points)))
        self._elsewhere: list[int] = []
        self._told = False
        self._lock = threading.Lock()

    def title(self, number: int) -> str:
        """What a point is called while it trains: "[2/4] id"."""
        return f"[{number + 1}/{len(self.points)}] {self.points[number].id}"

    def take(self) -> int:
        """The number of the point to train now; WAIT: ask again later; OVER: never again."""
        with self._lock:
            if self._stopped:
                while self._todo:
                    self.outcome.add("untouched", self.points[self._todo.popleft()].id)
            if self._todo:
                return self._todo.popleft()
            for number in list(self._elsewhere):
                if self._settle(number):
                    return number
            if self._elsewhere and not self._told:
                self._told = True
                say(f"waiting for points that other processes have: {len(self._elsewhere)}")
            return WAIT if self._elsewhere else OVER

    def ended(self, number: int, found: str) -> None:
        """Note what came of a point: a field of Outcome; "elsewhere": it is to be waited for."""
        with self._lock:
            if found == "elsewhere":
                self._elsewhere.append(number)
            else:
                self.outcome.add(found, self.points[number].id)

    @property
    def _stopped(self) -> bool:
        return self.on_failure == "stop" and bool(self.outcome.failed)

    def _settle(self, number: int) -> bool:
        """Note what became of a point in another process; True: it may be trained here."""
        point, directory = self.points[number], RunDirectory(self.root / self.points[number].id)
        if held(directory):
            return False
        self._elsewhere.remove(number)
        status = directory.status
        if is_done(status, point.config):
            self.outcome.add("elsewhere", point.id)
        elif status["state"] == "failed":
            where = f"    all of it: {directory.status_path}"
            lines = ending(status.get("traceback", ""))
            say(f"{self.title(number)}: FAILED in another process\n{lines}\n{where}")
            self.outcome.add("failed", point.id)
        elif self._stopped:
            self.outcome.add("untouched", point.id)
        else:
            return True
        return False
