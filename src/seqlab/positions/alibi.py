"""Attention with linear biases. Press et al. 2022."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from seqlab.positions.base import Position, Table, distance


def slopes(heads: int) -> list[float]:
    """2^(-8h/H), h = 1..H; for H no power of two, the next lower power's, then every second of
    the next higher power's (the authors' rule)."""
    power = 2 ** math.floor(math.log2(heads))
    lower = [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)]
    return lower + [2.0 ** (-4.0 * h / power) for h in range(1, 2 * (heads - power), 2)]


@dataclasses.dataclass(frozen=True)
class Alibi(Position):
    """score - slope[head] * |distance|; slopes are fixed. Without a causal mask it is symmetric."""

    def bias(
        self,
        table: Table,
        q: Float[Array, "B T H K"],
        k: Float[Array, "B S G K"],
        positions_q: Int[Array, "B T"],
        positions_k: Int[Array, "B S"],
    ) -> Float[Array, "#B #H #T #S"]:
        """-slope * |distance|."""
        del table, k
        slope = jnp.asarray(np.array(slopes(q.shape[2]), np.float32))[None, :, None, None]
        return -slope * jnp.abs(distance(positions_q, positions_k))[:, None].astype(jnp.float32)
