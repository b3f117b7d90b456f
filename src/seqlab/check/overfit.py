"""Overfits one batch: a model that cannot learn eight examples by heart learns nothing."""

from pathlib import Path
from typing import Any

import numpy as np

from seqlab.check.law import Found, Law
from seqlab.check.trial import Trial, losses
from seqlab.data.dataset import Dataset
from seqlab.data.stream import Stream
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.directory import RunDirectory
from seqlab.train.source import dataset_of
from seqlab.train.training import Training
from seqlab.train.writer import MetricsWriter
from seqlab.types import Batch

STEPS, FRACTION = 96, 0.5
RATE, OF_SGD = 1e-2, 0.3


class Repeated(Stream):
    """The first batch of a stream, for ever."""

    def __init__(self, stream: Stream) -> None:
        self.first = next(stream)  # nothing else is read: there is no state of the base class
        stream.close()

    def __next__(self) -> tuple[int, Batch]:
        return self.first

    def state(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


def overfits(trial: Trial) -> Found:
    """96 steps on the same 8 examples bring the loss below half of what it was.

    At a constant rate of 1e-2 (plain SGD: 0.3), gradients clipped at 1, with the config's own
    optimizer, dropout and accumulation. The loss compared is the mean of the last 8 steps.
    """
    plain = trial.config["train"]["optimizer"]["name"] == "sgd"
    config = apply_overrides(
        trial.config,
        {
            "train.steps": STEPS,
            "train.lr": OF_SGD if plain else RATE,
            "train.eval_every": STEPS,
            "train.checkpoint_every": 0,
        },
    )
    dataset, path = dataset_of(config), trial.folder / "overfit"
    learn(config, dataset, path)
    found = np.array(list(losses(path).values()))
    last = float(found[-8:].mean())
    limit = FRACTION * found[0]
    return Found(
        len(found) == STEPS and bool(last <= limit),
        f"loss {found[0]:.2f} -> {last:.2f} (limit {limit:.2f})",
    )


def learn(config: dict[str, Any], dataset: Dataset, path: Path) -> None:
    """Train on the first batch of the data over and over, and write the metrics."""
    directory = RunDirectory.create(path, config)
    best = config["train"]["best"]
    checkpoints = Checkpoints(directory.checkpoints, 1, best["metric"], best["direction"])
    try:
        training = Training(config, dataset, checkpoints)
        training.stream = Repeated(training.stream)
        with MetricsWriter(directory.metrics) as writer:
            training.run(directory, writer, path.name)
    finally:
        checkpoints.close()


LAW = Law(
    "overfits one batch",
    overfits,
    "Gradients do not reach the parameters, or the model cannot see what it needs. Look for a "
    "detached or saturated part (train/gradient_norm/... of a real run tells the layer), for a "
    "decoder that does not read its source, for targets that do not follow from the inputs.",
)
