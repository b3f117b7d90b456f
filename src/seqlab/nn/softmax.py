"""Softmax over the keys that may be seen."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from seqlab.nn.precision import wide


def masked_softmax(
    scores: Float[Array, "*B S"], mask: Bool[Array, "*#B #S"]
) -> Float[Array, "*B S"]:
    """softmax(scores)_j = exp(s_j - max) / sum over seen j; 0 where nothing may be seen.

    Computed in at least float32. Unseen keys get weight exactly 0, also in rows without any key,
    and their scores get a gradient of exactly 0 (no inf - inf, no 0/0, forward or backward).
    """
    scores = scores.astype(wide(scores.dtype))
    lowest = jnp.finfo(scores.dtype).min
    peak = jnp.max(jnp.where(mask, scores, lowest), axis=-1, keepdims=True)
    weights = jnp.where(mask, jnp.exp(jnp.where(mask, scores - peak, 0.0)), 0.0)
    total = jnp.sum(weights, axis=-1, keepdims=True)
    return weights / jnp.where(total > 0, total, 1.0)
