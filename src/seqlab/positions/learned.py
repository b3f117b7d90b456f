"""One trained vector a position, added to the input. Gehring et al. 2017."""

import dataclasses

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from seqlab.positions.base import Position, Specs, Table


@dataclasses.dataclass(frozen=True)
class Learned(Position):
    """x + P[position], P [max_length, D] ~ N(0, 1/2), the mean square of the sinusoids.

    There is no vector beyond max_length: an error before dispatch, NaN in a compiled program.
    """

    max_length: int = 512

    @property
    def limit(self) -> int | None:
        """max_length."""
        return self.max_length

    def embed_table(self, width: int) -> Specs:
        """P."""
        return {"embedding": (nn.initializers.normal(2**-0.5), (self.max_length, width))}

    def embed(
        self, table: Table, x: Float[Array, "B T D"], positions: Int[Array, "B T"]
    ) -> Float[Array, "B T D"]:
        """x + P[positions]."""
        rows = jnp.take(table["embedding"], positions, axis=0, mode="fill", fill_value=jnp.nan)
        return x + rows.astype(x.dtype)
