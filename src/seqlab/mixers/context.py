"""The whole source in one vector, read anew at every step."""

from typing import ClassVar

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp

from seqlab.mixers.base import Mixer
from seqlab.nn.linear import Linear
from seqlab.types import Leaf, Memory, View


@flax.struct.dataclass
class ContextCarry:
    """vector [B, D]: the source's summary, projected once."""

    vector: Leaf


class Context(Mixer):
    """y_t = W x_t + C s, s the memory's summary; below a recurrence ("c+r") that feeds it the
    fixed context at every step. Cho et al. 2014.

    One vector cannot tell packed sources apart, so packed rows are refused.
    """

    abstract: ClassVar[bool] = False
    cross: ClassVar[bool] = True
    packs: ClassVar[bool] = False

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        view: View,
        carry: ContextCarry | None = None,
        memory: Memory | None = None,
    ) -> tuple[jax.Array, ContextCarry | None]:
        del view
        if memory is not None:
            summary = memory.summary.astype(x.dtype)
            vector = Linear(self.width, bias=False, name="context")(summary)
        elif carry is not None:
            vector = carry.vector.astype(x.dtype)
        else:
            raise ValueError("a context needs a memory (the source) or a carry that holds it")
        y = Linear(self.width, name="input")(x) + vector[:, None]
        return y, None if carry is None else ContextCarry(vector)

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> ContextCarry:
        """No context: zeros."""
        del capacity, memory
        return ContextCarry(jnp.zeros((batch, self.width), self.dtype))
