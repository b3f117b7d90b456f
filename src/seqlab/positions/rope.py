"""Rotary position embedding. Su et al. 2021 (RoFormer)."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from seqlab.build import ConfigError
from seqlab.nn.precision import wide
from seqlab.positions.base import Position


@dataclasses.dataclass(frozen=True)
class Rope(Position):
    """Rotates the pair (x[2i], x[2i+1]) of each query and key by position * base^(-2i/K).

    q·k then depends on the distance only. Pairs are neighbours (RoFormer's layout, not the halves
    of GPT-NeoX: weights are not interchangeable). Angles are float32 whatever the compute dtype.
    """

    base: float = 10000.0

    def rotate(
        self,
        q: Float[Array, "B T H K"],
        k: Float[Array, "B T G K"],
        positions_q: Int[Array, "B T"],
        positions_k: Int[Array, "B T"],
    ) -> tuple[Float[Array, "B T H K"], Float[Array, "B T G K"]]:
        """Queries and keys turned by their positions."""
        return self.turn(q, positions_q), self.turn(k, positions_k)

    def turn(
        self, x: Float[Array, "B T H K"], positions: Int[Array, "B T"]
    ) -> Float[Array, "B T H K"]:
        """Each pair of channels turned by its angle."""
        width = x.shape[-1]
        if width % 2:
            raise ConfigError(f"model.heads: rotary positions need an even head width, got {width}")
        frequency = self.base ** (-jnp.arange(0, width, 2, dtype=jnp.float32) / width)
        angle = positions.astype(jnp.float32)[:, :, None, None] * frequency[None, None, None]
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        pairs = x.astype(wide(x.dtype)).reshape(*x.shape[:-1], -1, 2)
        even, odd = pairs[..., 0], pairs[..., 1]
        turned = jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
        return turned.reshape(x.shape).astype(x.dtype)
