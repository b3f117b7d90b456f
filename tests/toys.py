"""The smallest things that are still the real thing: a config, a model, a batch, a run."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from seqlab.config import defaults
from seqlab.models.base import Model, ModelCarry
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.directory import RunDirectory
from seqlab.train.size import abstract_params, make_model
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

RECURRENT = {
    "r": "mixers.gru.Gru",
    "s": "mixers.lstm.Lstm",
    "b": {"kind": "mixers.bahdanau.Bahdanau", "cell": "mixers.lstm.Lstm"},
    "l": {"kind": "mixers.luong.Luong", "score": "nn.scores.General"},
    "f": {"kind": "mixers.luong.InputFeeding", "score": "nn.scores.Concat"},
    "c": "mixers.context.Context",
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


def recurrent(pattern: str, bridge: str, encoder: dict[str, Any] | None = None, **changes: Any):
    """A classic encoder-decoder of recurrences: no norm, no residual, no feed-forward.

    pattern: of the decoder, from the sublayers in RECURRENT.
    """
    both_ways = {"kind": "mixers.gru.Gru", "bidirectional": True}
    return pair(
        **{
            "model__mixers": RECURRENT,
            "model__position": "positions.base.Position",
            "model__placement": "placements.plain.Plain",
            "model__feedforward": "nn.feedforward.NoFeedForward",
            "model__encoder": encoder or {"pattern": "r", "mixers": {"r": both_ways}},
            "model__decoder": {"pattern": pattern},
            "model__bridge": bridge,
            "model__depth": 1,
            **changes,
        }
    )


def model_of(config: dict[str, Any], vocabulary: int = 11) -> tuple[Any, Any]:
    """Its model, and random parameters with no zero bias or unit gain that would hide what they do.

    Drawn by NumPy: compiling an initialisation would take longer than most tests.
    """
    model = make_model(config, vocabulary, vocabulary)
    random = np.random.default_rng(0)

    def draw(path: tuple, leaf: jax.ShapeDtypeStruct) -> jax.Array:
        name = path[-1].key
        fan_in = leaf.shape[-1] if name == "table" else leaf.shape[-2] if leaf.ndim > 1 else 1
        spread = 0.1 if name in ("scale", "bias") else fan_in**-0.5
        values = (name == "scale") + spread * random.normal(size=leaf.shape)
        return jnp.asarray(values, leaf.dtype)

    return model, jax.tree_util.tree_map_with_path(draw, abstract_params(model))


class Table(nn.Module):
    """Logits by token."""

    vocabulary: int

    @nn.compact
    def __call__(self, inputs):
        shape = (self.vocabulary, self.vocabulary)
        return self.param("table", nn.initializers.normal(), shape)[inputs]


class Markov(Model):
    """p(next | last) is a row of a table: a model whose every number is known."""

    vocabulary: int
    abstract: ClassVar[bool] = True
    layout: ClassVar[str] = "prefix"

    @nn.compact
    def __call__(self, inputs, mask, *, carry=None, **rest):
        return Table(self.vocabulary, name="decoder")(inputs), carry

    def init_carry(self, batch, capacity, memory=0):
        return ModelCarry(jnp.zeros(batch, jnp.int32), jnp.zeros(batch, jnp.int32), [])


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


def python(
    *arguments: str, cwd: Path = ROOT, input: str = "", **environment: str
) -> subprocess.CompletedProcess:
    """Run Python in a fresh process with one CPU device; `input` is what it reads."""
    return subprocess.run(
        [sys.executable, *arguments],
        input=input,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=surroundings(**environment),
        timeout=300,
    )


def surroundings(**environment: str) -> dict[str, str]:
    """The environment of a fresh process: one device, and seqlab on the path."""
    path = os.pathsep.join([str(ROOT / "src"), environment.pop("PYTHONPATH", "")])
    plain = {
        "XLA_FLAGS": "",
        "JAX_PLATFORMS": "cpu",
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        "PYTHONPATH": path.rstrip(os.pathsep),
    }
    return os.environ | plain | environment
