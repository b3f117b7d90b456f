"""What a law is about: some part of seqlab at work inside a small stack of two layers."""

import dataclasses
import functools
import inspect
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from seqlab.build import resolve
from seqlab.models.base import ModelCarry, run_stack
from seqlab.models.stack import Stack, build_stack
from seqlab.types import Memory, View

WIDTH, HEADS, DEPTH = 16, 2, 2
ROWS, TIME, SOURCE = 4, 9, 5
CHUNK = 4  # columns of a chunk; shorter chunks are padded in different places


class Probe(nn.Module):
    """The stack on vectors, with positions, as a model uses it."""

    stack: Stack

    @nn.compact
    def __call__(self, x, mask, segments, memory, carry=None):
        return run_stack(self, self.stack, x, mask, segments, memory, carry)


@dataclasses.dataclass(frozen=True)
class System:
    """A mixer, position and placement, compiled once for each of a few fixed shapes."""

    mixer: Any
    position: Any = "positions.base.Position"
    placement: Any = "placements.pre.Pre"
    causal: bool = True
    depth: int = DEPTH

    @functools.cached_property
    def probe(self) -> Probe:
        config = {
            "width": WIDTH,
            "heads": HEADS,
            "kv_heads": 0,
            "depth": self.depth,
            "pattern": "m",
            "mixers": {"m": self.mixer},
            "position": self.position,
            "placement": self.placement,
            "norm": "nn.norms.LayerNorm",
            "feedforward": "nn.feedforward.FeedForward",
        }
        stack = build_stack(config, "law", self.causal, "float32", remat=False)
        return Probe(stack, parent=None)

    @property
    def template(self) -> Any:
        return self.probe.stack.mixers["m"]

    @functools.cached_property
    def params(self) -> Any:
        """Random everywhere: zero biases and unit gains would hide what they do."""
        data = example(0)
        arguments = (data.x, data.mask, data.segments, data.memory)
        shapes = jax.eval_shape(self.probe.init, jax.random.key(0), *arguments)["params"]
        random = np.random.default_rng(1)

        def draw(path, leaf):
            noise = random.normal(size=leaf.shape).astype(np.float32)
            if "scale" in str(path[-1]):
                return jnp.asarray(1 + 0.1 * noise)
            matrix = leaf.ndim > 2  # layers are stacked in front
            return jnp.asarray(noise * (leaf.shape[-2] ** -0.5 if matrix else 0.1))

        return jax.tree_util.tree_map_with_path(draw, shapes)

    @functools.cached_property
    def whole(self) -> Any:
        """(params, data) -> y [B, T, D] and the sown intermediates."""

        def run(params, data):
            (y, _), sown = self.probe.apply(
                {"params": params},
                data.x,
                data.mask,
                data.segments,
                data.memory,
                mutable=["intermediates"],
            )
            return y, sown.get("intermediates", {})

        return jax.jit(run)

    @functools.cached_property
    def pulled(self) -> Any:
        """(params, data, cotangent) -> gradients of sum(y * cotangent) to params, x and memory."""

        def loss(params, x, memory, data, cotangent):
            data = dataclasses.replace(data, x=x, memory=memory)
            return jnp.sum(self.whole(params, data)[0] * cotangent)

        gradient = jax.grad(loss, argnums=(0, 1, 2), allow_int=True)
        return jax.jit(lambda p, d, c: gradient(p, d.x, d.memory, d, c))

    @functools.cached_property
    def chunk(self) -> Any:
        """(params, x, mask, segments, memory, carry) -> y, carry."""

        def run(params, x, mask, segments, memory, carry):
            return self.probe.apply({"params": params}, x, mask, segments, memory, carry)

        return jax.jit(run)

    def init_carry(self, rows: int, capacity: int) -> ModelCarry:
        layers = self.probe.stack.init_carry(rows, capacity, SOURCE)
        return ModelCarry(jnp.zeros(rows, jnp.int32), jnp.full(rows, -1, jnp.int32), layers)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Data:
    """x [B, T, D], mask and segments [B, T], and a memory with its own padding."""

    x: jax.Array
    mask: jax.Array
    segments: jax.Array
    memory: Memory


def example(seed: int, lengths: Any = (TIME,) * ROWS, offset: Any = (0,) * ROWS) -> Data:
    """Random rows of the given lengths, each starting at its offset; noise in the padding."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(ROWS, TIME, WIDTH)).astype(np.float32)
    time = np.arange(TIME)[None]
    start, length = np.array(offset)[:, None], np.array(lengths)[:, None]
    mask = (time >= start) & (time < start + length)
    source_mask = np.arange(SOURCE)[None] < np.array([5, 3, 4, 1])[:, None]
    source = random.normal(size=(ROWS, SOURCE, WIDTH)).astype(np.float32)
    summary = jnp.asarray(random.normal(size=(ROWS, WIDTH)).astype(np.float32))
    memory = Memory(jnp.asarray(source), View.of(jnp.asarray(source_mask)), summary)
    return Data(jnp.asarray(x), jnp.asarray(mask), jnp.zeros((ROWS, TIME), jnp.int32), memory)


def is_valid(system: System) -> bool:
    """Some combinations are refused: a position that nothing in the stack would see."""
    from seqlab.build import ConfigError

    try:
        return system.probe is not None
    except ConfigError:
        return False


def options(kind: str) -> list[dict[str, Any]]:
    """Variants of a mixer that deserve the laws, by the options it has."""
    found = [{}]
    known = inspect.signature(resolve(kind, "law")).parameters
    if "kv_heads" in known:
        found.append({"kv_heads": 1, "qk_norm": True})
    if "reset_after" in known:
        found.append({"reset_after": False})
    if "hidden" in known:
        found.append({"hidden": 6})
    if "score" in known and "cell" not in known:
        found.append(
            {"score": "nn.scores.Concat", **({"kv_heads": 1} if "kv_heads" in known else {})}
        )
    if "cell" in known:
        found.append({"cell": "mixers.lstm.Lstm", "score": "nn.scores.General"})
    return found


def is_recurrent(kind: str) -> bool:
    """Can it run both ways?"""
    return "bidirectional" in inspect.signature(resolve(kind, "law")).parameters


def label(value: Any) -> str:
    """Short name of a part for a test's id."""
    if isinstance(value, str):
        return value.rpartition(".")[2]
    extra = [f"{key}={option}" for key, option in value.items() if key != "kind"]
    return ",".join([label(value["kind"]), *extra])
