"""Relative position representations of the keys. Shaw et al. 2018."""

import dataclasses

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from seqlab.positions.base import Position, Specs, Table, distance


@dataclasses.dataclass(frozen=True)
class Shaw(Position):
    """score + q · a[clip(distance, -k, k)] / sqrt(K), a [2k+1, K] trained, one table a layer.

    Only the key term: the paper found that its value term adds nothing (its Table 4).
    """

    clip: int = 16

    def table(self, heads: int, head_width: int) -> Specs:
        """a."""
        del heads
        return {"keys": (nn.initializers.xavier_uniform(), (2 * self.clip + 1, head_width))}

    def bias(
        self,
        table: Table,
        q: Float[Array, "B T H K"],
        k: Float[Array, "B S G K"],
        positions_q: Int[Array, "B T"],
        positions_k: Int[Array, "B S"],
    ) -> Float[Array, "#B #H #T #S"]:
        """q · a[distance] / sqrt(K)."""
        del k
        scores = jnp.einsum(  # of every query against every distance: [B, H, T, 2k+1]
            "bthk,rk->bhtr", q, table["keys"].astype(q.dtype), preferred_element_type=jnp.float32
        )
        index = jnp.clip(distance(positions_q, positions_k), -self.clip, self.clip) + self.clip
        return jnp.take_along_axis(scores * q.shape[-1] ** -0.5, index[:, None], axis=-1)
