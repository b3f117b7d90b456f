"""Neither norm nor residual: the layers of classic recurrent networks."""

import dataclasses

import jax

from seqlab.placements.base import NormFactory, Placement, Sublayers


@dataclasses.dataclass(frozen=True)
class Plain(Placement):
    """x <- F(x)."""

    def layer(self, stream: jax.Array, sublayers: Sublayers, norm: NormFactory) -> jax.Array:
        """One sublayer after the other."""
        del norm
        for sublayer in sublayers.values():
            stream = sublayer(stream)
        return stream
