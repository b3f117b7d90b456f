"""Fixed sines and cosines added to the input. Vaswani et al. 2017."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from seqlab.build import ConfigError
from seqlab.positions.base import Position, Table


def sinusoids(positions: Int[Array, "B T"], width: int, base: float) -> Float[Array, "B T D"]:
    """PE[p, 2i] = sin(p / base^(2i/D)), PE[p, 2i+1] = cos(same), in float32, interleaved."""
    frequency = base ** (-jnp.arange(0, width, 2, dtype=jnp.float32) / width)
    angle = positions.astype(jnp.float32)[..., None] * frequency[None, None]
    return jnp.stack([jnp.sin(angle), jnp.cos(angle)], axis=-1).reshape(*positions.shape, width)


@dataclasses.dataclass(frozen=True)
class Sinusoidal(Position):
    """x + PE(position); any position exists, since PE is a formula.

    PE(p + k) is a rotation of PE(p) that depends on k only. The width must be even.
    """

    base: float = 10000.0

    def embed(
        self, table: Table, x: Float[Array, "B T D"], positions: Int[Array, "B T"]
    ) -> Float[Array, "B T D"]:
        """x + PE(positions)."""
        del table
        if x.shape[-1] % 2:
            raise ConfigError(
                f"model.width: sinusoidal positions need an even width, got {x.shape[-1]}"
            )
        return x + sinusoids(positions, x.shape[-1], self.base).astype(x.dtype)
