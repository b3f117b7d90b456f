"""The points of a sweep one after the other in this process.

Points that are done are skipped, interrupted and failed ones are taken up again, a failure is
told at once and does not stop the others. Several launchers may work on one sweep: each point is
locked while it trains. Several processes that train each point together take it from the first.
"""

import time
from pathlib import Path

from seqlab.sweep import schedule
from seqlab.sweep.attempt import Runner, attempt
from seqlab.sweep.outcome import Outcome
from seqlab.sweep.plan import Point
from seqlab.sweep.schedule import OVER, WAIT, Schedule
from seqlab.train import processes
from seqlab.train.interrupt import Stopped, asked


def run(points: list[Point], root: Path, runner: Runner, on_failure: str = "continue") -> Outcome:
    """Attempt every point.

    on_failure: "stop" leaves the points after a failed one alone, "raise" passes on what it raised.
    Raises Stopped between two points when this process was asked to stop.
    """
    plan = Schedule(points, root, on_failure)
    while True:
        number = processes.agreed(plan.take() if processes.writes() else OVER)
        if number == OVER:
            return plan.outcome
        if processes.any_of(asked()):
            raise Stopped
        if number == WAIT:
            time.sleep(schedule.POLL)
            continue
        found = attempt(points[number], root, runner, plan.title(number), on_failure == "raise")
        plan.ended(number, found)
