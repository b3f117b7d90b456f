"""The two products of dense attention, with grouped keys and values.

Vaswani et al. 2017; groups: Shazeer 2019, Ainslie et al. 2023.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float


def scores(q: Float[Array, "B T H K"], k: Float[Array, "B S G K"]) -> Float[Array, "B H T S"]:
    """q·k in float32; each of the G key heads serves H/G query heads."""
    B, T, H, K = q.shape
    G = k.shape[2]
    grouped = q.reshape(B, T, G, H // G, K)
    raw = jnp.einsum("btgrk,bsgk->bgrts", grouped, k, preferred_element_type=jnp.float32)
    return raw.reshape(B, H, T, k.shape[1])


def attend(weights: Float[Array, "B H T S"], v: Float[Array, "B S G K"]) -> Float[Array, "B T H K"]:
    """Weighted sum of the values, in their dtype."""
    B, H, T, S = weights.shape
    G = v.shape[2]
    grouped = weights.astype(v.dtype).reshape(B, G, H // G, T, S)
    return jnp.einsum("bgrts,bsgk->btgrk", grouped, v).reshape(B, T, H, v.shape[-1])
