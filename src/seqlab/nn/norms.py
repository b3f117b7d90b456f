"""Normalisation over the width of each token, statistics in float32."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from seqlab.nn.precision import wide


class LayerNorm(nn.Module):
    """y = g (x - mean) / sqrt(var + eps) + b over the last axis.

    The variance is that of the centred values (two passes): E[x²] - E[x]² loses all digits where
    the mean is large. Ba et al. 2016.
    """

    eps: float = 1e-5

    @nn.compact
    def __call__(self, x: Float[Array, "*B D"]) -> Float[Array, "*B D"]:
        scale = self.param("scale", nn.initializers.ones, x.shape[-1:])
        bias = self.param("bias", nn.initializers.zeros, x.shape[-1:])
        values = x.astype(wide(x.dtype))
        centred = values - jnp.mean(values, axis=-1, keepdims=True)
        variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(variance + self.eps)
        return _affine(normal, scale, bias).astype(x.dtype)


class RMSNorm(nn.Module):
    """y = g x / sqrt(mean(x²) + eps): no centring, no bias. Zhang & Sennrich 2019."""

    eps: float = 1e-5

    @nn.compact
    def __call__(self, x: Float[Array, "*B D"]) -> Float[Array, "*B D"]:
        scale = self.param("scale", nn.initializers.ones, x.shape[-1:])
        values = x.astype(wide(x.dtype))
        square = jnp.mean(jnp.square(values), axis=-1, keepdims=True)
        return _affine(values * jax.lax.rsqrt(square + self.eps), scale, None).astype(x.dtype)


def _affine(x, scale, bias):
    shape = (1,) * (x.ndim - 1) + scale.shape
    y = x * scale.astype(x.dtype).reshape(shape)
    return y if bias is None else y + bias.astype(x.dtype).reshape(shape)
