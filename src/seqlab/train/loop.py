"""One run from its config to its directory: train, evaluate, save; resume where it stopped."""

import contextlib
import dataclasses
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqlab.train import processes, variants
from seqlab.train.atomic import make_atomically
from seqlab.train.cache import use_compilation_cache
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.conventions import conventions
from seqlab.train.directory import RunDirectory
from seqlab.train.lengths import check_lengths
from seqlab.train.size import check_budget, size
from seqlab.train.source import dataset_of
from seqlab.train.training import Training
from seqlab.train.writer import MetricsWriter, NoWriter

log = logging.getLogger("seqlab")


def run(config: dict[str, Any], directory: Path, name: str) -> None:
    """Train the run in `directory` to `train.steps`, from its latest checkpoint if it has one.

    Every process of the run calls this; the first one writes.

    Returns normally also when the loss stops being finite: that is a result, which the run's
    status and metrics tell. Raises what went wrong otherwise.
    """
    use_compilation_cache()
    check_budget(config)
    run_directory = RunDirectory.create(directory, config, writes=processes.writes())
    dataset = dataset_of(config)
    if processes.writes() and not run_directory.tokenizer.exists():
        with make_atomically(run_directory.tokenizer) as scratch:
            dataset.save(scratch)
    run_directory.conventions = {
        **conventions(config, dataset.task, dataset.records("valid")),
        **variants.conventions(config),
    }
    best = config["train"]["best"]
    checkpoints = Checkpoints(
        run_directory.checkpoints,
        config["train"]["keep"],
        best["metric"],
        best["direction"],
        processes.writes(),
    )
    with _closing(checkpoints):
        training = Training(config, dataset, checkpoints)
        check_lengths(config, training.programs.model)
        variants.check_variants(config, dataset)
        resumed = training.restore()
        if processes.writes():
            log.info("%s: %s", name, f"restored step {resumed}" if resumed else "from scratch")
        run_directory.update(step=resumed, resumed_from=resumed or None)
        opened = MetricsWriter if processes.writes() else NoWriter
        with opened(run_directory.metrics, resumed, config["train"]["tensorboard"]) as writer:
            if not resumed:
                writer.write(0, "data", dataset.counts())
                writer.write(0, "baseline", dataset.baselines())
                writer.write(0, "model", dataclasses.asdict(size(config)))
            training.run(run_directory, writer, name)
    run_directory.update(step=training.step, saved=checkpoints.committed())


@contextlib.contextmanager
def _closing(checkpoints: Checkpoints) -> Iterator[None]:
    """Close them at the end, unless other processes would be waited for that may be gone."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Exception) and processes.several():
            raise processes.lost(error) from error
        checkpoints.close()
        raise
    checkpoints.close()
