"""Signals leave a mark; a second one, if it is another one, ends the process."""

import os
import signal
import threading

import pytest

from seqlab.train import interrupt


@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_a_signal_only_leaves_a_mark(number):
    before = signal.getsignal(number)
    with interrupt.catch():
        assert not interrupt.asked()
        os.kill(os.getpid(), number)
        assert interrupt.asked()
    assert not interrupt.asked()
    assert signal.getsignal(number) is before


def test_one_that_comes_twice_at_once_is_one(monkeypatch):
    """`timeout` sends it to the process and to its group."""
    with interrupt.catch():
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.asked()
        monkeypatch.setattr(interrupt, "TWICE", -1.0)
        with pytest.raises(interrupt.Stopped) as stopped:
            os.kill(os.getpid(), signal.SIGTERM)
    assert stopped.value.code == interrupt.RESUMABLE == 75


def test_a_thread_leaves_the_handlers_alone():
    before, seen = signal.getsignal(signal.SIGTERM), []

    def train():
        with interrupt.catch():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert seen == [before]
