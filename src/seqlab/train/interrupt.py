"""Being asked to stop: the run saves and ends, and the same command goes on.

    with catch():          # SIGTERM (and SIGUSR2, which SLURM sends) only leave a mark
        ...
        if asked():        # the training loop looks after every dispatch
            ...            # saves
            raise Stopped

A handler may not save itself: it may run in the middle of a step, whose buffers are given away.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

RESUMABLE = 75  # exit status of a process that was asked to stop and can go on (EX_TEMPFAIL)
SIGNALS = (signal.SIGTERM, signal.SIGUSR2)

TWICE = 1.0  # seconds; nearer signals are one: `timeout` and some queues send it two times

_asked = threading.Event()
_when = 0.0


class Stopped(SystemExit):
    """The run was asked to stop and has saved; as an exit, its status is RESUMABLE."""

    def __init__(self) -> None:
        super().__init__(RESUMABLE)


@contextlib.contextmanager
def catch() -> Iterator[None]:
    """While this lasts, SIGNALS leave a mark instead of killing the process; a second one stops it
    at once, at what was last saved. Does nothing outside the main thread, where no signals come."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _asked.clear()
    before = {each: signal.signal(each, _mark) for each in SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        _asked.clear()


def asked() -> bool:
    """Has this process been asked to stop?"""
    return _asked.is_set()


def ask() -> None:
    """As a signal would."""
    _asked.set()


def _mark(number: int, frame: FrameType | None) -> None:
    global _when
    if _asked.is_set() and time.monotonic() - _when > TWICE:
        raise Stopped
    _asked.set()
    _when = time.monotonic()
