"""Short runs of a shrunk config, by the real training loop, in a folder of their own."""

import functools
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from seqlab.analysis.run import Run, load_run
from seqlab.config import flatten
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.loop import run
from seqlab.train.writer import history, read


class Trial:
    """What the laws of training are tried on. config: shrunk, its data a sample.

    folder: where the runs are written.
    """

    def __init__(self, config: Mapping[str, Any], folder: Path) -> None:
        self.config = dict(config)
        self.folder = folder

    @functools.cached_property
    def straight(self) -> Path:
        """The config trained without a break, then moved: nothing may depend on where it was."""
        return self.train(self.folder / "straight").rename(self.folder / "moved here")

    def train(self, directory: Path, overrides: Mapping[str, Any] | None = None) -> Path:
        """Train in a directory, from its latest checkpoint if it has one; returns it."""
        run(apply_overrides(self.config, overrides or {}), directory, directory.name)
        return directory

    def load(self, directory: Path) -> Run:
        """The run as it is after its last step, with whatever parts its config names."""
        return load_run(directory, last_step(directory), trusted=self._roots())

    def _roots(self) -> set[str]:
        """First words of every dotted path: the config is the user's own and has been built."""
        text = repr(list(flatten(self.config).values()))
        return {path[0] for path in re.findall(r"'(\w+)(\.\w+)+'", text)}


def losses(directory: Path) -> dict[int, float]:
    """The training loss of every step of a run."""
    return history(read(directory / "metrics.jsonl"))["train/loss"]


def last_step(directory: Path) -> int:
    """The step that a run has reached."""
    return max(losses(directory))


def largest_difference(a: Run, b: Run) -> float:
    """Of the parameters of two runs, absolute."""
    pairs = zip(jax.tree.leaves(a.params), jax.tree.leaves(b.params), strict=True)
    return max(float(np.abs(np.asarray(x) - np.asarray(y)).max(initial=0)) for x, y in pairs)


def back_to(directory: Path, step: int, copy: Path) -> Path:
    """A copy of a run whose checkpoints after `step` are gone, as if it had been killed there."""
    shutil.copytree(directory, copy)
    for saved in (copy / "checkpoints").iterdir():
        if saved.name.isdigit() and int(saved.name) > step:
            shutil.rmtree(saved)
    return copy
