"""Dropout with a rate that may be traced, so that a sweep over rates compiles once."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def dropout(
    module: nn.Module, x: Float[Array, "*S"], rate: Float[Array, ""] | None
) -> Float[Array, "*S"]:
    """y = x * keep / (1 - rate), keep ~ Bernoulli(1 - rate); x itself when rate is None.

    The mask comes from the module's "dropout" key, so it differs between layers and steps.
    Srivastava et al. 2014.
    """
    if rate is None:
        return x
    keep = jax.random.bernoulli(module.make_rng("dropout"), 1.0 - rate, x.shape)
    scale = jnp.asarray(1.0 / jnp.maximum(1.0 - rate, 1e-6), x.dtype)
    return jnp.where(keep, x * scale, jnp.zeros((), x.dtype))
