"""The rows of a batch that one call of the step sees, and sums over all rows."""

import dataclasses
from typing import Any

import jax


@dataclasses.dataclass(frozen=True)
class Rows:
    """All rows, or along the mapped `axis` one device's part of them."""

    axis: str | None = None

    def key(self, key: jax.Array) -> jax.Array:
        """A key of its own for each part: the devices of a pmap drop other units."""
        return key if self.axis is None else jax.random.fold_in(key, jax.lax.axis_index(self.axis))

    def total(self, sums: Any) -> Any:
        """Sums over these rows -> sums over all rows."""
        return sums if self.axis is None else jax.lax.psum(sums, self.axis)
