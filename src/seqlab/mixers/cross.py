"""Attention from the target to the source."""

from typing import Any, ClassVar

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp

from seqlab.mixers.attention import Heads
from seqlab.nn.masks import visible
from seqlab.nn.scores import Parameters, Score
from seqlab.types import Leaf, Memory, View


@flax.struct.dataclass
class MemoryCache:
    """Keys and values [B, S, G, K] of the source, its mask and segments [B, S]."""

    keys: Leaf
    values: Leaf
    mask: Leaf
    segments: Leaf

    @property
    def view(self) -> View:
        """The view of the source; positions do not act across."""
        return View(self.mask, jnp.zeros_like(self.segments), self.segments)


def held(carry: MemoryCache | None) -> MemoryCache:
    """The source that a carry holds. Raises ValueError where there is none."""
    if carry is None:
        raise ValueError("attention to a source needs a memory, or a carry that holds one")
    return carry


def recall(
    score: Score, p: Parameters, dtype: Any, memory: Memory | None, carry: MemoryCache | None
) -> MemoryCache:
    """The source as one head reads it whose values are the memory itself.

    Its keys are scored, as far as queries do not matter, once: when the memory is given.
    """
    if memory is None:
        source = held(carry)
        keys, values = source.keys.astype(dtype), source.values.astype(dtype)
        return MemoryCache(keys, values, source.mask, source.segments)
    values = memory.x.astype(dtype)[:, :, None]
    return MemoryCache(score.keys(p, values), values, memory.view.mask, memory.view.segments)


class Cross(Heads):
    """Multi-head attention whose keys and values come from a memory. Vaswani et al. 2017.

    The memory is projected once: prefill passes it, steps read it from the carry.
    """

    abstract: ClassVar[bool] = False
    cross: ClassVar[bool] = True

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        view: View,
        carry: MemoryCache | None = None,
        memory: Memory | None = None,
    ) -> tuple[jax.Array, MemoryCache | None]:
        p = self.score_parameters()
        if memory is not None:
            k = self.score.keys(p, self.keys(memory.x))
            v = self.split("value", memory.x, self.groups)
            source = MemoryCache(k, v, memory.view.mask, memory.view.segments)
        else:
            source = held(carry)
        mask = visible(view, source.view)
        scores = self.score(p, self.queries(x), source.keys.astype(x.dtype))
        y = self.combine(scores, source.values.astype(x.dtype), mask, view)
        return y, None if carry is None else source

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> MemoryCache:
        """Room for `memory` source tokens, none of them real."""
        del capacity
        keys = jnp.zeros((batch, memory, self.groups, self.head_width), self.dtype)
        tokens = jnp.zeros((batch, memory), jnp.int32)
        return MemoryCache(keys, keys, tokens > 0, tokens)
