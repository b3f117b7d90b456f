"""Post-LN. Vaswani et al. 2017."""

import dataclasses

import jax

from seqlab.placements.base import NormFactory, Placement, Sublayers


@dataclasses.dataclass(frozen=True)
class Post(Placement):
    """x <- norm(x + F(x)) a sublayer; no final norm, the last sublayer's is it."""

    def layer(self, stream: jax.Array, sublayers: Sublayers, norm: NormFactory) -> jax.Array:
        """Norm after the sum, across the shortcut."""
        for name, sublayer in sublayers.items():
            stream = norm(f"{name}_norm")(stream + sublayer(stream))
        return stream
