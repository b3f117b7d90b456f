"""Decoder-only language model."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp

from seqlab.models.base import Decoder, Model, ModelCarry, make_stack


class LM(Model):
    """p(token_t | tokens before t) by one causal stack over source and target in one row."""

    decoder: Decoder

    abstract: ClassVar[bool] = False
    layout: ClassVar[Literal["pair", "prefix"]] = "prefix"

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        source_vocabulary: int,
        target_vocabulary: int,
        dtype: str = "float32",
        remat: bool = False,
    ) -> "LM":
        """One vocabulary serves source and target; its size is target_vocabulary."""
        del source_vocabulary
        stack = make_stack(config, "decoder", True, dtype, remat)
        return cls(Decoder(target_vocabulary, stack, config["tie_embeddings"], dtype, parent=None))

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
        """A language model has no encoder: a source with tokens is refused."""
        del source_mask, source_segments
        if source is not None and source.shape[1]:
            raise ValueError("a language model reads its source as a prefix of `inputs`")
        rate = None if dropout is None else jnp.asarray(dropout)
        return self.decoder(inputs, mask, segments, None, carry, rate)

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> ModelCarry:
        """Room for `capacity` tokens; there is no memory."""
        del memory
        return self.decoder.init_carry(batch, capacity, 0)
