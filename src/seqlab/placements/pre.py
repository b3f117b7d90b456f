"""Pre-LN. Baevski & Auli 2019; Xiong et al. 2020."""

import dataclasses

import jax

from seqlab.placements.base import NormFactory, Placement, Sublayers


@dataclasses.dataclass(frozen=True)
class Pre(Placement):
    """x <- x + F(norm(x)) a sublayer; the stack ends in a norm, which the logits need."""

    def layer(self, stream: jax.Array, sublayers: Sublayers, norm: NormFactory) -> jax.Array:
        """Norm inside the branch, the stream itself untouched."""
        for name, sublayer in sublayers.items():
            stream = stream + sublayer(norm(f"{name}_norm")(stream))
        return stream

    def finish(self, stream: jax.Array, norm: NormFactory) -> jax.Array:
        """The final norm."""
        return norm("final_norm")(stream)
