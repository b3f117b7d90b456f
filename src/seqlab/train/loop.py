"""One run from its config to its directory: train, evaluate, save; resume where it stopped."""

import dataclasses
import logging
from pathlib import Path
from typing import Any

from seqlab.train import variants
from seqlab.train.cache import use_compilation_cache
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.conventions import conventions
from seqlab.train.directory import RunDirectory
from seqlab.train.lengths import check_lengths
from seqlab.train.size import check_budget, size
from seqlab.train.source import dataset_of
from seqlab.train.training import Training
from seqlab.train.writer import MetricsWriter

log = logging.getLogger("seqlab")


def run(config: dict[str, Any], directory: Path, name: str) -> None:
    """Train the run in `directory` to `train.steps`, from its latest checkpoint if it has one.

    Returns normally also when the loss stops being finite: that is a result, which the run's
    status and metrics tell. Raises what went wrong otherwise.
    """
    use_compilation_cache()
    check_budget(config)
    run_directory = RunDirectory.create(directory, config)
    dataset = dataset_of(config)
    if not run_directory.tokenizer.exists():
        dataset.save(run_directory.tokenizer)
    run_directory.conventions = {
        **conventions(config, dataset.task, dataset.records("valid")),
        **variants.conventions(config),
    }
    best = config["train"]["best"]
    checkpoints = Checkpoints(
        run_directory.checkpoints, config["train"]["keep"], best["metric"], best["direction"]
    )
    try:
        training = Training(config, dataset, checkpoints)
        check_lengths(config, training.programs.model)
        variants.check_variants(config, dataset)
        resumed = training.restore()
        log.info("%s: %s", name, f"restored step {resumed}" if resumed else "starting from scratch")
        run_directory.update(step=resumed, resumed_from=resumed or None)
        with MetricsWriter(
            run_directory.metrics, resumed, config["train"]["tensorboard"]
        ) as writer:
            if not resumed:
                writer.write(0, "data", dataset.counts())
                writer.write(0, "baseline", dataset.baselines())
                writer.write(0, "model", dataclasses.asdict(size(config)))
            training.run(run_directory, writer, name)
    finally:
        checkpoints.close()
    run_directory.update(step=training.step)
