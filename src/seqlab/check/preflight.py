"""The preflight of a sweep: every law on small models, a line a check, a remedy a failure.

What is checked on what, so that it takes about a minute:

    data                        every task and corpus of the sweep
    causality, padding, chunks  every model that differs in more than size
    the laws of training        the first system of the sweep: overfits one batch, checkpoint round
                                trip, resume = straight, jit = pmap
"""

import functools
import textwrap
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from seqlab.check import corpus, devices, overfit, reload, resume, systems
from seqlab.check.law import Found, Law
from seqlab.check.model_laws import MODEL_LAWS
from seqlab.check.probe import Probe
from seqlab.check.quiet import quiet
from seqlab.check.systems import System
from seqlab.check.trial import Trial
from seqlab.sweep.plan import Point

TRAINING_LAWS = (overfit.LAW, reload.LAW, resume.LAW, devices.LAW)


@dataclass(frozen=True)
class Check:
    """A law and what it is tried on. subject: made when the check begins."""

    system: str
    law: Law
    subject: Callable[[], Any]


def preflight(points: list[Point]) -> int:
    """Check the systems of these points and print the table; 0 when all laws hold, else 1."""
    start = time.monotonic()
    with quiet() as folder:
        checks = list(planned(points, folder))
        count = jax.device_count()
        say(
            f"{len(points)} point{'s' * (len(points) > 1)}, {len(checks)} checks on "
            f"{count} {jax.default_backend()} device{'s' * (count > 1)}"
        )
        wide = max(len(check.system) for check in checks)
        failed = [check for check in checks if not carried_out(check, wide)]
    seconds = time.monotonic() - start
    if not failed:
        say(f"all checks passed in {seconds:.0f} s")
        return 0
    say(f"{len(failed)} of {len(checks)} checks FAILED, {seconds:.0f} s")
    for law in dict.fromkeys(check.law for check in failed):
        names = ", ".join(check.system for check in failed if check.law is law)
        say(f"\n{law.name}: {names}")
        say(textwrap.fill(law.remedy, 100, initial_indent="    ", subsequent_indent="    "))
    return 1


def planned(points: list[Point], folder: Path) -> Iterator[Check]:
    """What is checked on what, in order: first all there is of the first system."""
    small = systems.small(points)
    corpora = [
        (each.name, corpus.Corpus(each.config, folder / f"data {number}"))
        for number, each in enumerate(systems.data(small), 1)
    ]
    first, *others = systems.models(small)
    trial = functools.cache(lambda: Trial(corpora[0][1].usable(), folder))
    yield from _of_data(*corpora[0])
    yield from _of_model(first)
    yield from (Check(first.name, law, trial) for law in TRAINING_LAWS)
    for each in corpora[1:]:
        yield from _of_data(*each)
    for other in others:
        yield from _of_model(other)


def _of_data(name: str, subject: corpus.Corpus) -> Iterator[Check]:
    yield Check(name, corpus.LAW, lambda: subject)


def _of_model(system: System) -> Iterator[Check]:
    probe = functools.cache(lambda: Probe(system.config))
    yield from (Check(system.name, law, probe) for law in MODEL_LAWS)


def carried_out(check: Check, wide: int) -> bool:
    """Try the law and print its line; what is raised on the way counts as broken."""
    start, raised = time.monotonic(), ""
    try:
        found = check.law.check(check.subject())
    except Exception as error:
        raised = last_line(error)
        found = Found(False, f"raised {type(error).__name__}")
    result = "ok" if found.holds else "FAILED"
    seconds = time.monotonic() - start
    row = f"{check.system:{wide}}  {check.law.name:21}  {result:6}  {found.measured:42}"
    say(f"{row}  {seconds:5.1f} s")
    if raised:
        say(f"    {raised}")
    return found.holds


def say(text: str) -> None:
    """Tell the user, at once."""
    print(text, flush=True)


def last_line(error: Exception) -> str:
    """What was raised, in a line, and where."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    said = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {said} ({Path(frame.filename).name}, line {frame.lineno})"
