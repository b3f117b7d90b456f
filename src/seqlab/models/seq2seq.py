"""Encoder-decoder."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.build import ConfigError
from seqlab.models.base import Decoder, Model, ModelCarry, make_stack, run_stack
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
    ) -> Memory:
        table = Embedding(self.vocabulary, self.stack.width, self.dtype, name="embedding")
        y, _ = run_stack(self, self.stack, table(tokens, mask), mask, segments, rate=rate)
        return Memory(y, View.of(mask, segments))


class Seq2Seq(Model):
    """p(target_t | targets before t, source); the decoder reads the encoder by cross-attention.

    Sutskever et al. 2014; Vaswani et al. 2017. Source and target have vocabularies and embeddings
    of their own.
    """

    encoder: Encoder
    decoder: Decoder

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
        above = make_stack(config, "decoder", True, dtype, remat)
        if not any(mixer.cross for mixer in above.mixers.values()):
            raise ConfigError(
                "model.decoder.pattern: no sublayer reads the encoder; add one such as "
                "mixers.cross.Cross ('a+x')"
            )
        return cls(
            Encoder(source_vocabulary, below, dtype, parent=None),
            Decoder(target_vocabulary, above, config["tie_embeddings"], dtype, parent=None),
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
        """With a carry, the first call brings the source and later calls leave it out."""
        rate = None if dropout is None else jnp.asarray(dropout)
        memory = None
        if source is not None:
            real = jnp.ones(source.shape, bool) if source_mask is None else source_mask
            memory = self.encoder(source, real, source_segments, rate)
        return self.decoder(inputs, mask, segments, memory, carry, rate)

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> ModelCarry:
        """Room for `capacity` target tokens and `memory` source tokens."""
        return self.decoder.init_carry(batch, capacity, memory)
