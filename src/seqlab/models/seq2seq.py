"""Encoder-decoder."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from seqlab.build import ConfigError, build
from seqlab.models.base import Decoder, Model, ModelCarry, make_stack, run_stack
from seqlab.models.bridge import (
    Bridge,
    States,
    both_ways,
    final_states,
    shapes,
    started,
)
from seqlab.models.stack import Stack
from seqlab.nn.embedding import Embedding
from seqlab.types import Memory, View


class Encoder(nn.Module):
    """Embedding and a stack that sees the whole source."""

    vocabulary: int
    stack: Stack
    dtype: str = "float32"

    @nn.compact
    def __call__(
        self,
        tokens: jax.Array,
        mask: jax.Array,
        segments: jax.Array | None,
        rate: jax.Array | None,
    ) -> tuple[Memory, list[States]]:
        """What the decoder may read, and the final states of the recurrences."""
        table = Embedding(self.vocabulary, self.stack.width, self.dtype, name="embedding")
        y, end = run_stack(self, self.stack, table(tokens, mask), mask, segments, rate=rate)
        states = final_states(self.stack, end.layers)
        return Memory(y, View.of(mask, segments), summary(y, mask, states)), states


def summary(
    x: Float[Array, "B S D"], mask: Bool[Array, "B S"], states: list[States]
) -> Float[Array, "B U"]:
    """A source in one vector: the last hidden states of the top recurrence, or, where there is
    none, the mean of the encoder's outputs."""
    if states:
        return both_ways(states[-1], "h")
    real = mask.astype(x.dtype)
    return jnp.einsum("bsd,bs->bd", x, real) / jnp.maximum(jnp.sum(real, axis=1), 1.0)[:, None]


class Seq2Seq(Model):
    """p(target_t | targets before t, source). Sutskever et al. 2014; Vaswani et al. 2017.

    The decoder knows the source by the states that the bridge hands over, by sublayers that read
    the memory (cross-attention, attention of recurrences, a fixed context), or both. Source and
    target have vocabularies and embeddings of their own.
    """

    encoder: Encoder
    decoder: Decoder
    bridge: Bridge

    abstract: ClassVar[bool] = False
    layout: ClassVar[Literal["pair", "prefix"]] = "pair"

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        source_vocabulary: int,
        target_vocabulary: int,
        dtype: str = "float32",
        remat: bool = False,
    ) -> "Seq2Seq":
        """Raises ConfigError when no layer of the decoder reads the encoder."""
        below = make_stack(config, "encoder", False, dtype, remat)
        above = make_stack(config, "decoder", True, dtype, remat, below.width)
        bridge = build(config["bridge"], "model.bridge", parent=None)
        bridge.check(shapes(below), shapes(above))
        if not bridge.present and not any(mixer.cross for mixer in above.mixers.values()):
            raise ConfigError(
                "model.decoder.pattern: no sublayer reads the encoder; add one such as "
                "mixers.cross.Cross ('a+x'), or a model.bridge between recurrences"
            )
        return cls(
            Encoder(source_vocabulary, below, dtype, parent=None),
            Decoder(target_vocabulary, above, config["tie_embeddings"], dtype, parent=None),
            bridge,
        )

    def __call__(
        self,
        inputs: jax.Array,
        mask: jax.Array,
        *,
        source: jax.Array | None = None,
        source_mask: jax.Array | None = None,
        segments: jax.Array | None = None,
        source_segments: jax.Array | None = None,
        carry: ModelCarry | None = None,
        dropout: jax.Array | None = None,
    ) -> tuple[jax.Array, ModelCarry | None]:
        """With a carry, the first call brings the source and later calls leave it out.

        Packed rows are refused where one vector stands for the whole source.
        """
        rate = None if dropout is None else jnp.asarray(dropout)
        if source_segments is not None:
            self._refuse_packed()
        memory = starts = None
        if source is not None:
            real = jnp.ones(source.shape, bool) if source_mask is None else source_mask
            memory, states = self.encoder(source, real, source_segments, rate)
            if self.bridge.present:
                stack = self.decoder.stack
                first = self.bridge(states, shapes(stack))
                starts = started(stack, first, None if carry is None else carry.layers)
                if carry is not None:
                    carry, starts = dataclasses.replace(carry, layers=starts), None
        return self.decoder(inputs, mask, segments, memory, carry, rate, starts)

    def _refuse_packed(self) -> None:
        mixers = self.decoder.stack.mixers.values()
        if self.bridge.present or not all(mixer.packs for mixer in mixers):
            raise ValueError(
                "a bridge or a fixed context sums up a whole source: rows cannot hold several"
            )

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> ModelCarry:
        """Room for `capacity` target tokens and `memory` source tokens."""
        return self.decoder.init_carry(batch, capacity, memory)
