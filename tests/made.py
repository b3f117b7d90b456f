"""A run directory that nothing was trained for: what reads runs needs no more."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seqlab.train.checkpoint import Checkpoints
from seqlab.train.directory import RunDirectory
from seqlab.train.hyper import Hyper
from seqlab.train.predictions import Prediction, save
from seqlab.train.source import dataset_of
from seqlab.train.state import TrainState
from seqlab.train.step import Recipe
from seqlab.train.writer import MetricsWriter
from toys import model_of


def made(config: dict[str, Any], path: Path, step: int = 4) -> Path:
    """A run of this config with random parameters, its checkpoint at `step`; returns its path.

    The parameters are numbers of bfloat16. Losses fall by 1 / step; 60 predictions are empty.
    """
    run = RunDirectory.create(path, config)
    dataset = dataset_of(config)
    dataset.save(run.tokenizer)
    _, params = model_of(config, dataset.target_vocab)
    params = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16).astype(jnp.float32), params)
    train, best = config["train"], config["train"]["best"]
    recipe = Recipe(train["optimizer"], train["schedule"], 1, bool(train["ema"]))
    state = TrainState.create(
        params, recipe.optimizer_for(Hyper.of(config)), jax.random.key(0), recipe.ema
    )
    checkpoints = Checkpoints(run.checkpoints, 1, best["metric"], best["direction"])
    checkpoints.save(state.replace(step=jnp.int32(step)), {"stream": {}, "tokens": 0.0}, {})
    checkpoints.close()
    with MetricsWriter(run.metrics) as writer:
        for number in range(1, step + 1):
            writer.write(number, "train", {"loss": 1 / number})
        writer.write(step, "valid", {"loss": np.float32(0.5)})
    save(run.predictions, [Prediction(n, "a", "", ("a",), False, 0.0) for n in range(60)])
    run.conventions = {"exact": "share of outputs that equal their target"}
    run.record_environment()
    run.update(state="done", step=step)
    return run.path
