"""What is out of range is an error, or NaN where no error can be raised."""

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int


def check_range(
    values: Int[Array, "..."],
    limit: int,
    what: str,
    where: str,
    mask: Bool[Array, "..."] | None = None,
) -> None:
    """Raise ValueError if a concrete value (under the mask) is negative or not below `limit`.

    Inside a compiled program nothing can be raised: there the caller fills with NaN.
    """
    if isinstance(values, jax.core.Tracer) or isinstance(mask, jax.core.Tracer):
        return
    seen = np.asarray(values) if mask is None else np.asarray(values)[np.asarray(mask)]
    bad = seen[(seen < 0) | (seen >= limit)]
    if bad.size:
        raise ValueError(
            f"{what} {int(bad.flat[0])} is out of range: {where} holds 0 to {limit - 1} "
            f"({limit} in all)"
        )


def poison(x: jax.Array, good: Bool[Array, "..."]) -> jax.Array:
    """x where `good` (broadcast from the left), NaN elsewhere."""
    good = good.reshape(good.shape + (1,) * (x.ndim - good.ndim))
    return jnp.where(good, x, jnp.asarray(jnp.nan, x.dtype))
