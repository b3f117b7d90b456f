"""The contract of a model: tokens in, logits out, and a carry."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from seqlab.build import ConfigError
from seqlab.models.layer import Carries
from seqlab.models.stack import Stack, build_stack
from seqlab.nn.dropout import dropout
from seqlab.nn.embedding import Embedding, Unembedding
from seqlab.nn.range import check_range
from seqlab.types import View, at_last, count_positions


@flax.struct.dataclass
class ModelCarry:
    """What a model remembers: `seen` [B] real tokens of `segment` [B] (-1: none), and its layers."""

    seen: Int[Array, " B"]
    segment: Int[Array, " B"]
    layers: list[Carries]


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
    def __call__(self, inputs, mask, segments, memory, carry, rate):
        segments = jnp.zeros(mask.shape, jnp.int32) if segments is None else segments
        if carry is None:
            positions = count_positions(mask, segments)
        else:
            positions = count_positions(mask, segments, carry.seen, carry.segment)
        view = View(mask, positions, segments, rate)
        table = Embedding(self.vocabulary, self.stack.width, self.dtype, name="embedding")
        x = embed(self, self.stack, table, inputs, view)
        y, layers = self.stack(x, view, memory, None if carry is None else carry.layers)
        logits = table.logits(y) if self.tie_embeddings else Unembedding(self.vocabulary)(y)
        return logits, None if carry is None else advance(carry, view, layers)

    def init_carry(self, batch: int, capacity: int, memory: int) -> ModelCarry:
        """Nothing seen."""
        layers = self.stack.init_carry(batch, capacity, memory)
        return ModelCarry(jnp.zeros(batch, jnp.int32), jnp.full(batch, -1, jnp.int32), layers)


def embed(module: nn.Module, stack: Stack, table: Embedding, tokens: jax.Array, view: View):
    """Token vectors with their positions, exactly 0 at padding, and dropout: [B, T, D]."""
    position = stack.position
    if position.limit is not None:
        check_range(view.positions, position.limit, "position", "the position encoding", view.mask)
    specs = position.embed_table(stack.width)
    rows = {name: module.param(f"position_{name}", *spec) for name, spec in specs.items()}
    # Padding may hold any id, even one outside of the vocabulary: it is never looked up.
    x = position.embed(rows, table(jnp.where(view.mask, tokens, 0)), view.positions)
    return dropout(module, jnp.where(view.mask[..., None], x, jnp.zeros((), x.dtype)), view.dropout)


def advance(carry: ModelCarry, view: View, layers: list[Carries]) -> ModelCarry:
    """The carry after a chunk: `seen` counts on from each row's last real token."""
    seen = at_last(view.positions + 1, view.mask, carry.seen)
    return ModelCarry(seen, at_last(view.segments, view.mask, carry.segment), layers)


def part_config(config: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The model config with the options of its `encoder` or `decoder` put over the common ones."""
    common = {key: value for key, value in config.items() if key not in ("encoder", "decoder")}
    own = config.get(part) or {}
    for key in own:
        if key not in common:
            raise ConfigError(f"model.{part}.{key}: no such option of a model")
    return {**common, **own}


def make_stack(config: Mapping[str, Any], part: str, causal: bool, dtype: str, remat: bool) -> Stack:
    """The stack of a model's encoder or decoder."""
    return build_stack(part_config(config, part), "model", causal, dtype, remat)
