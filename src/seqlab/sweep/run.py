"""The points of a sweep one after the other in this process.

Points that are done are skipped, interrupted and failed ones are taken up again, a failure is
told at once and does not stop the others. Several launchers may work on one sweep: each point is
locked while it trains.
"""

from pathlib import Path

from seqlab.sweep.attempt import Runner, attempt, say
from seqlab.sweep.outcome import Outcome
from seqlab.sweep.plan import Point

INTERRUPTED = 130  # exit status after Ctrl-C, as shells have it


def run(points: list[Point], root: Path, runner: Runner, on_failure: str = "continue") -> Outcome:
    """Attempt every point. on_failure: "stop" leaves the points after a failed one alone."""
    outcome = Outcome()
    for number, point in enumerate(points, 1):
        if outcome.failed and on_failure == "stop":
            outcome.add("untouched", point.id)
            continue
        title = f"[{number}/{len(points)}] {point.id}"
        found = attempt(point, root, runner, title)
        if found == "elsewhere":
            say(f"{title}: another process is at it")
        outcome.add(found, point.id)
    return outcome
