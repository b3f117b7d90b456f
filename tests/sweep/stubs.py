"""A sweep whose points train nothing, for tests of who trains what and when.

A point behaves as the file `behave` beside the runs says: {seed: word}.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from seqlab.config import defaults
from seqlab.sweep.plan import Point, points
from seqlab.train import directory
from seqlab.train.interrupt import Stopped, asked

PATIENCE = 60.0  # seconds, of a test that has gone wrong


def sweep(count: int) -> list[Point]:
    """Points that differ in their seed."""
    config = defaults()
    config.train.steps = 4
    return points(config, [{"seed": seed} for seed in range(count)])


def behave(root: Path, **words: str) -> None:
    """Say how points shall behave: seed_1="fail"."""
    found = {key.removeprefix("seed_"): word for key, word in words.items()}
    (root / "behave").write_text(json.dumps(found))


def train(config: dict, path: Path, name: str) -> None:
    """Note in `began` and `ended` beside the runs that a point did, and in between behave.

    Of another process that is at work on the same point, which must not be, `both` tells.
    """
    root, seed = path.parents[1], config["seed"]
    sys.stdout.write("something on stdout\n")
    if any(map(is_alive, pids(path / "began") - pids(path / "ended"))):
        note(root / "both", seed)
    note(path / "began", seed)
    note(root / "began", seed)
    run = directory.RunDirectory(path)
    words = root / "behave"
    word = json.loads(words.read_text()).get(str(seed), "") if words.exists() else ""
    if word == "fail":
        raise ValueError(f"point {seed} broke")
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "exit":
        os._exit(3)
    if word == "meet":  # another of these, at work at the same time
        until(lambda: len(notes(root / "began")) >= 2)
    if word == "outlast":  # one that fails
        until(lambda: any('"failed"' in each.read_text() for each in path.parent.glob("*/*.json")))
    if word == "wait":
        until(lambda: (root / "go").exists())
    if word == "stop":
        run.update(step=2)
        until(asked)
        raise Stopped
    run.update(step=config["train"]["steps"])
    note(path / "ended", seed)
    note(root / "ended", seed)


def note(path: Path, seed: int) -> None:
    """Add a line, in one write."""
    with path.open("a") as file:
        file.write(f"{seed} {os.getpid()}\n")


def notes(path: Path) -> list[int]:
    """The seeds that were noted."""
    if not path.exists():
        return []
    return [int(line.split()[0]) for line in path.read_text().splitlines()]


def pids(path: Path) -> set[int]:
    """The processes that noted something."""
    if not path.exists():
        return set()
    return {int(line.split()[1]) for line in path.read_text().splitlines()}


def is_alive(pid: int) -> bool:
    """Does the process run? One that nobody has waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def until(true, patience: float = PATIENCE) -> None:
    """Wait for it."""
    end = time.monotonic() + patience
    while not true():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)


def light() -> None:
    """Starts are noted without JAX, whose import is all that such a process would do."""
    directory.RunDirectory.record_environment = lambda self: None


def status(root: Path, number: int, count: int) -> dict:
    """The status of one of `sweep(count)`."""
    return directory.RunDirectory(root / "runs" / sweep(count)[number].id).status


if __name__ == "__main__":  # a worker
    from seqlab.sweep.worker import main

    light()
    sys.exit(main(sys.argv[1], sys.argv[2:], lambda: train))
