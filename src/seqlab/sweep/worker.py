"""A process that trains the points it is sent, for `--executor=local --jobs=N`.

    python -m seqlab.sweep.worker CORES WORDS...

reads an order a line (order.py) from stdin, and answers {"id", "outcome"} a line on stdout when
the point has ended. CORES: "0,1", or "" for all. WORDS: what the user typed, for the run's
environment.json. It ends when stdin does, also when whoever wrote to it has died; with status
RESUMABLE after SIGTERM and INTERRUPTED after SIGINT, with no answer for the point it had.
"""

import json
import logging
import os
import sys
from collections.abc import Callable
from typing import TextIO

from seqlab.sweep.attempt import Runner, attempt
from seqlab.sweep.order import Order
from seqlab.sweep.outcome import INTERRUPTED
from seqlab.train.interrupt import RESUMABLE, Stopped, asked, catch


def _training() -> Runner:
    from seqlab.train.loop import run  # seconds, in which the cores and signals are set already

    return run


def main(cores: str, words: list[str], runner: Callable[[], Runner] = _training) -> int:
    """Work until there is no more. Returns the exit status. runner: loads what trains a point."""
    if cores:  # before JAX starts its threads
        os.sched_setaffinity(0, map(int, cores.split(",")))
    sys.argv[:] = words
    orders, answers = _pipes()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("seqlab").setLevel(logging.INFO)
    try:
        with catch():
            run = runner()
            with orders:
                for line in orders:
                    if asked():
                        raise Stopped
                    order = Order.from_line(line)
                    found = attempt(order.point, order.root, run, order.title)
                    answer = {"id": order.point.id, "outcome": found}
                    os.write(answers, f"{json.dumps(answer)}\n".encode())
            return RESUMABLE if asked() else 0
    except BrokenPipeError:  # nobody is there to be told; the run's directory tells it
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _pipes() -> tuple[TextIO, int]:
    """stdin and stdout, for this alone: what libraries print goes to stderr, and none reads."""
    orders, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(orders, encoding="utf-8"), answers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
