"""The smallest things that are still the real thing: a config, a model, a batch, a run."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

from seqlab.config import defaults
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.directory import RunDirectory
from seqlab.train.size import example_inputs, make_model
from seqlab.types import Batch

ROOT = Path(__file__).parents[1]

COPY = {
    "kind": "tasks.probes.copying.Copy",
    "symbols": 4,
    "train_max": 3,
    "test_lengths": (2, 4),
    "epoch_examples": 40,
    "valid_examples": 12,
    "test_examples": 4,
}
SMALL = {
    "data.tokenizer": {
        "source": "data.text.words.Words",
        "target": "data.text.words.Words",
    },
    "data.shared_vocabulary": True,
    "data.max_length": {"source": 8, "target": 8},
    "data.buckets": (10,),
    "model.kind": "models.lm.LM",
    "model.width": 16,
    "model.heads": 2,
    "train.steps": 6,
    "train.batch": 8,
    "train.steps_per_call": 2,
    "train.eval_every": 3,
    "train.checkpoint_every": 3,
    "train.progress": False,
    "decode.max_length": 6,
}


def config(**changes: Any) -> dict[str, Any]:
    """A decoder-only model of two layers on sequences of up to three symbols.

    changes: dotted keys, with `__` for the dot.
    """
    base = defaults()
    base.task = dict(COPY)
    base.model.mixers = {"a": "mixers.attention.MultiHead", "x": "mixers.cross.Cross"}
    return apply_overrides(base, SMALL | {k.replace("__", "."): v for k, v in changes.items()})


def pair(**changes: Any) -> dict[str, Any]:
    """The same task for an encoder-decoder."""
    kind = {"model__kind": "models.seq2seq.Seq2Seq", "model__decoder": {"pattern": "a+x"}}
    return config(**{**kind, **changes})


def model_of(config: dict[str, Any], vocabulary: int = 11) -> tuple[Any, Any]:
    """Its model, and parameters with no zero bias or unit gain that would hide what they do."""
    model = make_model(config, vocabulary, vocabulary)
    params = jax.jit(lambda key: model.init(key, **example_inputs(model))["params"])(
        jax.random.key(0)
    )
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(jax.random.key(1), len(leaves))
    noisy = [
        leaf + 0.1 * jax.random.normal(key, leaf.shape)
        for key, leaf in zip(keys, leaves, strict=True)
    ]
    return model, jax.tree.unflatten(tree, noisy)


def batch(lengths: list[int], time: int, vocabulary: int = 11, seed: int = 0) -> Batch:
    """Rows of random tokens for a decoder-only model, right-padded with noise."""
    random = np.random.default_rng(seed)
    rows = len(lengths)
    mask = np.arange(time) < np.array(lengths)[:, None]
    return Batch(
        inputs=random.integers(0, vocabulary, (rows, time), np.int32),
        mask=mask,
        targets=random.integers(0, vocabulary, (rows, time), np.int32),
        weights=mask.astype(np.float32),
        source=np.zeros((rows, 0), np.int32),
        source_mask=np.zeros((rows, 0), bool),
        index=np.arange(rows, dtype=np.int32),
    )


def train(config: dict[str, Any], path: Path) -> RunDirectory:
    """Train a run to its end in this process."""
    from seqlab.train.loop import run

    run(config, path, path.name)
    return RunDirectory(path)


def python(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess:
    """Run Python in a fresh process with one CPU device."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=surroundings(**environment),
        timeout=300,
    )


def surroundings(**environment: str) -> dict[str, str]:
    """The environment of a fresh process: one device, and seqlab on the path."""
    path = os.pathsep.join([str(ROOT / "src"), environment.pop("PYTHONPATH", "")])
    plain = {"XLA_FLAGS": "", "JAX_PLATFORMS": "cpu", "PYTHONPATH": path.rstrip(os.pathsep)}
    return os.environ | plain | environment
