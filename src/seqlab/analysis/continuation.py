"""Going on from a run's parameters, in a new run of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError
from seqlab.data.dataset import Dataset
from seqlab.sweep.attempt import is_done
from seqlab.sweep.overrides import apply_overrides
from seqlab.sweep.validation import validate
from seqlab.train import loop
from seqlab.train.directory import RunDirectory
from seqlab.train.source import dataset_of


def continued(
    path: Path,
    config: Mapping[str, Any],
    dataset: Dataset,
    steps: int,
    directory: str | Path,
    overrides: Mapping[str, Any] | None,
) -> Path:
    """Train `steps` from the parameters of the run at `path`, in `directory`; returns its path.

    dataset: the run's, whose tokenizers the new run must share. overrides: dotted config keys to
    change. Raises ConfigError for a directory that holds anything else or other tokenizers.
    """
    changes = {"init_from": str(path), "train.steps": steps, **(overrides or {})}
    new = apply_overrides(config, changes)
    validate(new)
    if not dataset_of(new).reads_as(dataset):
        raise ConfigError(
            "init_from: tokenizers made from the training data of this config differ from those of "
            f"{path}; the data, or a key of `data` or `task`, is not what the run was trained with"
        )
    run = RunDirectory.create(directory, new)
    with run.lock() as mine:
        if not mine:
            raise ConfigError(f"{run.path}: another process is training it")
        if not is_done(run.status, new):
            run.update(state="running")
            run.record_environment()
            loop.run(new, run.path, run.path.name)
            run.update(state="done")
    return run.path
