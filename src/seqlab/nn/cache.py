"""The keys and values that attention must remember of the past."""

import flax.struct
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from seqlab.nn.range import check_range
from seqlab.types import Leaf, View


@flax.struct.dataclass
class KeyValueCache:
    """Room for C real tokens a row; padding takes none.

    keys (already rotated) and values [B, C, G, K]; mask, positions, segments [B, C] of the tokens
    in the slots; used [B]: number of slots taken, the slot of the row's next token.
    """

    keys: Leaf
    values: Leaf
    mask: Leaf
    positions: Leaf
    segments: Leaf
    used: Leaf

    @classmethod
    def empty(cls, batch: int, capacity: int, heads: int, head_width: int, dtype: str):
        """No slot taken."""
        tokens = jnp.zeros((batch, capacity), jnp.int32)
        keys = jnp.zeros((batch, capacity, heads, head_width), dtype)
        return cls(keys, keys, tokens > 0, tokens, tokens, jnp.zeros(batch, jnp.int32))

    @property
    def view(self) -> View:
        """The view of the tokens in the slots."""
        return View(self.mask, self.positions, self.segments)

    def append(
        self, k: Float[Array, "B T G K"], v: Float[Array, "B T G K"], view: View
    ) -> tuple["KeyValueCache", Int[Array, "B T"], Bool[Array, " B"]]:
        """The cache with the chunk's real tokens added, their slots, and whether each row fits.

        A row that does not fit is an error before dispatch; in a compiled program the caller must
        turn its output into NaN.
        """
        capacity = self.keys.shape[1]
        slots = self.used[:, None] + jnp.cumsum(view.mask.astype(jnp.int32), axis=1) - 1  # [B, T]
        used = self.used + jnp.sum(view.mask, axis=1, dtype=jnp.int32)
        check_range(
            used - 1, capacity, "cache slot", "the decoding cache (its `capacity`)", used > 0
        )
        rows = jnp.arange(k.shape[0])[:, None]
        target = jnp.where(view.mask, slots, capacity)  # out of range: dropped, never clamped

        def put(old: jax.Array, new: jax.Array) -> jax.Array:
            return old.at[rows, target].set(new.astype(old.dtype), mode="drop")

        cache = KeyValueCache(
            keys=put(self.keys, k),
            values=put(self.values, v),
            mask=put(self.mask, view.mask),
            positions=put(self.positions, view.positions),
            segments=put(self.segments, view.segments),
            used=used,
        )
        return cache, slots, used <= capacity
