"""Affine map whose parameters stay float32 while it computes in the dtype of its input."""

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float

xavier = nn.initializers.xavier_uniform()


class Linear(nn.Module):
    """y = x W + b, W [D, features], Glorot-uniform; output dtype = input dtype."""

    features: int
    bias: bool = True

    @nn.compact
    def __call__(self, x: Float[Array, "*B D"]) -> Float[Array, "*B E"]:
        kernel = self.param("kernel", xavier, (x.shape[-1], self.features))
        y = jnp.dot(x, kernel.astype(x.dtype))
        if not self.bias:
            return y
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        return y + bias.astype(x.dtype).reshape((1,) * (x.ndim - 1) + bias.shape)
