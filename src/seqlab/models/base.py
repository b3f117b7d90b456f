"""The contract of a model: tokens in, logits out, and a carry."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import flax.linen as nn
import flax.struct
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from seqlab.build import ConfigError
from seqlab.models.layer import Carries
from seqlab.models.stack import Stack, build_stack
from seqlab.nn.dropout import dropout
from seqlab.nn.embedding import Embedding, Unembedding
from seqlab.nn.range import check_range
from seqlab.types import Leaf, Memory, View, at_last, count_positions


@flax.struct.dataclass
class ModelCarry:
    """A model's memory: `seen` [B] real tokens of `segment` [B] (-1: none), and its layers'."""

    seen: Leaf
    segment: Leaf
    layers: Any


class Model(nn.Module):
    """Base of all models; decoding, training and analysis know models by this alone.

    layout: how an example is laid out for it: "pair" (source to the encoder, target to the
    decoder) or "prefix" (both in one row).
    """

    abstract: ClassVar[bool] = True
    layout: ClassVar[Literal["pair", "prefix"]]

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        source_vocabulary: int,
        target_vocabulary: int,
        dtype: str = "float32",
        remat: bool = False,
    ) -> "Model":
        """The model that the `model` part of a config describes."""
        raise NotImplementedError

    def __call__(
        self,
        inputs: Int[Array, "B T"],
        mask: Bool[Array, "B T"],
        *,
        source: Int[Array, "B S"] | None = None,
        source_mask: Bool[Array, "B S"] | None = None,
        segments: Int[Array, "B T"] | None = None,
        source_segments: Int[Array, "B S"] | None = None,
        carry: ModelCarry | None = None,
        dropout: Float[Array, ""] | None = None,
    ) -> tuple[Float[Array, "B T V"], ModelCarry | None]:
        """Logits (float32) of the token after each input. With a carry, inputs go on from it."""
        raise NotImplementedError

    def position_limit(self, part: str) -> int | None:
        """Number of positions of the "encoder" or "decoder"; None: no limit."""
        return getattr(self, part).stack.position.limit

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> ModelCarry:
        """The carry of rows that have seen nothing: room for `capacity` target tokens and `memory`
        source tokens."""
        raise NotImplementedError


class Decoder(nn.Module):
    """Embedding, stack and logits: what a language model is and an encoder-decoder ends in."""

    vocabulary: int
    stack: Stack
    tie_embeddings: bool = True
    dtype: str = "float32"

    @nn.compact
    def __call__(
        self,
        inputs: Int[Array, "B T"],
        mask: Bool[Array, "B T"],
        segments: Int[Array, "B T"] | None,
        memory: Memory | None,
        carry: ModelCarry | None,
        rate: Float[Array, ""] | None,
        starts: list[Carries] | None = None,
    ) -> tuple[Float[Array, "B T V"], ModelCarry | None]:
        table = Embedding(self.vocabulary, self.stack.width, self.dtype, name="embedding")
        x = table(inputs, mask)
        y, after = run_stack(self, self.stack, x, mask, segments, memory, carry, rate, starts)
        logits = table.logits(y) if self.tie_embeddings else Unembedding(self.vocabulary)(y)
        return logits, None if carry is None else after

    def init_carry(self, batch: int, capacity: int, memory: int) -> ModelCarry:
        """Nothing seen."""
        layers = self.stack.init_carry(batch, capacity, memory)
        return ModelCarry(jnp.zeros(batch, jnp.int32), jnp.full(batch, -1, jnp.int32), layers)


def run_stack(
    module: nn.Module,
    stack: Stack,
    x: Float[Array, "B T D"],
    mask: Bool[Array, "B T"],
    segments: Int[Array, "B T"] | None = None,
    memory: Memory | None = None,
    carry: ModelCarry | None = None,
    rate: Float[Array, ""] | None = None,
    starts: list[Carries] | None = None,
) -> tuple[Float[Array, "B T D"], ModelCarry]:
    """Give token vectors their positions, drop some, and send them through the stack.

    module: the caller, which owns the parameters of the position encoding. The carry that comes
    back goes on from the one given; without one, its layers hold the final states of recurrences.
    """
    segments = jnp.zeros(mask.shape, jnp.int32) if segments is None else segments
    B = mask.shape[0]
    before = (None, None) if carry is None else (carry.seen, carry.segment)
    view = View(mask, count_positions(mask, segments, *before), segments, rate)
    position = stack.position
    if position.limit is not None:
        check_range(view.positions, position.limit, "position", "the position encoding", mask)
    specs = position.embed_table(stack.width)
    rows = {name: module.param(f"position_{name}", *spec) for name, spec in specs.items()}
    x = position.embed(rows, x, view.positions)
    x = jnp.where(mask[..., None], x, jnp.zeros((), x.dtype))
    inside = None if carry is None else carry.layers
    y, layers = stack(dropout(module, x, rate), view, memory, inside, starts)
    if carry is None:
        carry = ModelCarry(jnp.zeros(B, jnp.int32), jnp.full(B, -1, jnp.int32), [])
    seen = at_last(view.positions + 1, mask, carry.seen)
    return y, ModelCarry(seen, at_last(segments, mask, carry.segment), layers)


def part_config(config: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The model config with the options of its `encoder` or `decoder` put over the common ones."""
    common = {key: value for key, value in config.items() if key not in ("encoder", "decoder")}
    own = config.get(part) or {}
    for key in own:
        if key not in common:
            raise ConfigError(f"model.{part}.{key}: no such option of a model")
    return {**common, **own}


def make_stack(
    config: Mapping[str, Any],
    part: str,
    causal: bool,
    dtype: str,
    remat: bool,
    memory_width: int = 0,
) -> Stack:
    """The stack of a model's encoder or decoder."""
    own = part_config(config, part)
    return build_stack(own, "model", causal, dtype, remat, memory_width)
