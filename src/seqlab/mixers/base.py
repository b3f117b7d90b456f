"""The contract of a mixer: one call for training, prefill, single steps and streaming.

    y, carry = mixer(x, view, carry=None, memory=None)   # x, y: [B, T, D]
    carry = mixer.init_carry(batch, capacity, memory=0)

Without a carry, x is a whole sequence, computed in parallel where the mixer can. With a carry, x
continues what the carry has seen, in chunks of any length with any padding, and the law is: any
split into chunks gives what the whole sequence gives. Every leaf of a carry has the batch on axis
0, so that beam search can reorder any model's memory by one tree_map.
"""

from typing import Any, ClassVar

import flax.linen as nn
import jax

from seqlab.types import Memory, View


class Mixer(nn.Module):
    """Base of all mixers; y has the shape and dtype of x.

    width: model width D. causal: the output at t depends on inputs up to t only. dtype: what a
    carry's keys and values are kept in.
    """

    width: int
    causal: bool = True
    dtype: str = "float32"

    abstract: ClassVar[bool] = True
    positional: ClassVar[bool] = False  # do position encodings act inside it?
    cross: ClassVar[bool] = False  # does it read a memory?
    packs: ClassVar[bool] = True  # can it keep packed sequences apart?

    @property
    def bridged(self) -> tuple[str, ...]:
        """Names of the states that an encoder may set: entries of the carry's `state`."""
        return ()

    def __call__(
        self, x: jax.Array, view: View, carry: Any = None, memory: Memory | None = None
    ) -> tuple[jax.Array, Any]:
        """Mix x [B, T, D] along time. Without a carry, the one returned is the state at the end
        of the sequence where the mixer has one of fixed size, else None."""
        raise NotImplementedError

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> Any:
        """The carry of `batch` rows that have seen nothing: room for `capacity` real tokens and
        `memory` source tokens. Pure in the fields: needs no parameters."""
        raise NotImplementedError
