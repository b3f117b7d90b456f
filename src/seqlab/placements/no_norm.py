"""Control: residuals without any norm."""

import dataclasses

import jax

from seqlab.placements.base import NormFactory, Placement, Sublayers


@dataclasses.dataclass(frozen=True)
class NoNorm(Placement):
    """x <- x + F(x)."""

    def layer(self, stream: jax.Array, sublayers: Sublayers, norm: NormFactory) -> jax.Array:
        """The plain sum."""
        del norm
        for sublayer in sublayers.values():
            stream = stream + sublayer(stream)
        return stream
