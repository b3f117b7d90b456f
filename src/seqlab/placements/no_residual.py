"""Control: norms without residuals."""

import dataclasses

import jax

from seqlab.placements.base import NormFactory, Placement, Sublayers


@dataclasses.dataclass(frozen=True)
class NoResidual(Placement):
    """x <- norm(F(x))."""

    def layer(self, stream: jax.Array, sublayers: Sublayers, norm: NormFactory) -> jax.Array:
        """The branch alone."""
        for name, sublayer in sublayers.items():
            stream = norm(f"{name}_norm")(sublayer(stream))
        return stream
