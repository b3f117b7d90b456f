"""Token-weighted cross-entropy."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from seqlab.nn.precision import wide


def cross_entropy(
    logits: Float[Array, "B T V"],
    targets: Int[Array, "B T"],
    weights: Float[Array, "B T"],
    smoothing: Float[Array, ""] | float = 0.0,
) -> Float[Array, ""]:
    """Sum over tokens of weight * [(1 - ε) (-log p(target)) + ε mean_v(-log p(v))], in nats.

    The smoothed mass ε is spread over all V symbols, the target's own included. A sum, so that
    the mean over any number of micro-batches and devices is one division by the total weight.
    Targets of weight 0 (padding) count nothing, whatever their logits. Szegedy et al. 2016.
    """
    log_p = jax.nn.log_softmax(logits.astype(wide(logits.dtype)))
    gold = jnp.take_along_axis(log_p, targets[..., None], axis=-1, mode="fill")[..., 0]
    loss = -(1 - smoothing) * gold - smoothing * jnp.mean(log_p, axis=-1)
    return jnp.sum(jnp.where(weights > 0, loss * weights, 0.0))


def correct(
    logits: Float[Array, "B T V"], targets: Int[Array, "B T"], weights: Float[Array, "B T"]
) -> Float[Array, ""]:
    """Weight of the tokens whose most probable symbol is the target."""
    return jnp.sum(jnp.where(jnp.argmax(logits, axis=-1) == targets, weights, 0.0))
