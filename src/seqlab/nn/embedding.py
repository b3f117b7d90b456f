"""Tokens in, logits out, by one table or two."""

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from seqlab.nn.range import check_range


class Embedding(nn.Module):
    """x = sqrt(D) E[token], E ~ N(0, 1/D): unit variance at the input, as the encodings expect.

    `logits` reads the same table without the factor: y = x Eᵀ in float32 (tied embeddings, Press
    & Wolf 2017; scaling of Vaswani et al. 2017). A real token outside the vocabulary is an error
    before dispatch and NaN inside a compiled program, never its neighbour's vector; padding may
    hold any id.
    """

    vocabulary: int
    width: int
    dtype: str = "float32"

    def setup(self) -> None:
        init = nn.initializers.normal(self.width**-0.5)
        self.table = self.param("table", init, (self.vocabulary, self.width))

    def __call__(
        self, tokens: Int[Array, "B T"], mask: Bool[Array, "B T"]
    ) -> Float[Array, "B T D"]:
        check_range(tokens, self.vocabulary, "token id", "the vocabulary", mask)
        table = (self.table * self.width**0.5).astype(self.dtype)
        # Negative indices would count from the end: send them out of range instead.
        safe = jnp.where(mask, jnp.where(tokens < 0, self.vocabulary, tokens), 0)
        return jnp.take(table, safe, axis=0, mode="fill", fill_value=jnp.nan)

    def logits(self, x: Float[Array, "B T D"]) -> Float[Array, "B T V"]:
        table = self.table.astype(x.dtype)
        return jnp.einsum("btd,vd->btv", x, table, preferred_element_type=jnp.float32)


class Unembedding(nn.Module):
    """y = x W in float32, W [D, V] ~ N(0, 1/D): an output table of its own."""

    vocabulary: int

    @nn.compact
    def __call__(self, x: Float[Array, "B T D"]) -> Float[Array, "B T V"]:
        init = nn.initializers.normal(x.shape[-1] ** -0.5)
        kernel = self.param("kernel", init, (x.shape[-1], self.vocabulary)).astype(x.dtype)
        return jnp.einsum("btd,dv->btv", x, kernel, preferred_element_type=jnp.float32)
