"""Bucketed relative position bias. Raffel et al. 2020 (T5)."""

import dataclasses
import math
from typing import ClassVar

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from seqlab.positions.base import Position, Specs, Table, distance


@dataclasses.dataclass(frozen=True)
class T5(Position):
    """score + b[bucket(distance), head], one trained table for all layers.

    Half of the buckets are exact distances, the other half widen logarithmically up to
    max_distance. With `causal` all buckets look back; else half of them for each sign. Scores keep
    their 1/sqrt(K), which T5 itself drops.
    """

    buckets: int = 32
    max_distance: int = 128
    causal: bool = True
    shared: ClassVar[bool] = True

    def table(self, heads: int, head_width: int) -> Specs:
        """b."""
        del head_width
        return {"bias": (nn.initializers.normal(0.02), (self.buckets, heads))}

    def bucket(self, relative: Int[Array, "*S"]) -> Int[Array, "*S"]:
        """Bucket of a relative position (key minus query)."""
        count, base = self.buckets, 0
        if self.causal:
            far = jnp.maximum(-relative, 0)
        else:
            count //= 2
            base = jnp.where(relative > 0, count, 0)
            far = jnp.abs(relative)
        exact = count // 2
        log = jnp.log(jnp.maximum(far, 1).astype(jnp.float32) / exact)
        wide = exact + (log / math.log(self.max_distance / exact) * (count - exact)).astype(
            jnp.int32
        )
        return base + jnp.where(far < exact, far, jnp.minimum(wide, count - 1))

    def bias(
        self,
        table: Table,
        q: Float[Array, "B T H K"],
        k: Float[Array, "B S G K"],
        positions_q: Int[Array, "B T"],
        positions_k: Int[Array, "B S"],
    ) -> Float[Array, "#B #H #T #S"]:
        """b[bucket(distance)]."""
        del q, k
        rows = table["bias"][self.bucket(distance(positions_q, positions_k))]  # [B, T, S, H]
        return jnp.moveaxis(rows, -1, 1)
