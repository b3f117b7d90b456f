"""How well does a key fit a query? The score functions of attention, each a pure function.

    p = {name: parameter}            from `specs`
    keys = score.keys(p, k)          once a source: everything that the queries do not change
    s = score(p, q, keys)            [B, H, T, S], float32

Queries have H heads and keys G, each serving H / G of them; scored keys are as wide as a query, A =
Q. Every attention takes any of these as
its option `score`.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from seqlab.build import ConfigError
from seqlab.nn.attend import scores

Parameters = Mapping[str, jax.Array]
Specs = dict[str, tuple[Any, tuple[int, ...]]]
_matrix = nn.initializers.xavier_uniform(in_axis=1, out_axis=2, batch_axis=(0,))


@dataclasses.dataclass(frozen=True)
class Score:
    """Base: no parameters, keys as they are."""

    def specs(self, heads: int, groups: int, query: int, key: int) -> Specs:
        """name -> (initialiser, shape), for queries of width `query` and keys of width `key`."""
        del heads, groups
        if query != key:
            raise ConfigError(
                f"score: {type(self).__name__} needs queries and keys of one width, got {query} "
                f"and {key}; use nn.scores.General or nn.scores.Additive"
            )
        return {}

    def keys(self, p: Parameters, k: Float[Array, "B S G K"]) -> Float[Array, "B S G A"]:
        """What is kept of the keys."""
        del p
        return k

    def __call__(
        self, p: Parameters, q: Float[Array, "B T H Q"], keys: Float[Array, "B S G A"]
    ) -> Float[Array, "B H T S"]:
        """The scores of all queries and keys."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class ScaledDot(Score):
    """q·k / sqrt(K). Vaswani et al. 2017."""

    def __call__(
        self, p: Parameters, q: Float[Array, "B T H Q"], keys: Float[Array, "B S G A"]
    ) -> Float[Array, "B H T S"]:
        del p
        return scores(q, keys) * q.shape[-1] ** -0.5


@dataclasses.dataclass(frozen=True)
class Dot(Score):
    """q·k. Luong et al. 2015."""

    def __call__(
        self, p: Parameters, q: Float[Array, "B T H Q"], keys: Float[Array, "B S G A"]
    ) -> Float[Array, "B H T S"]:
        del p
        return scores(q, keys)


@dataclasses.dataclass(frozen=True)
class General(Score):
    """qᵀ W k, one W a key head. Luong et al. 2015."""

    def specs(self, heads: int, groups: int, query: int, key: int) -> Specs:
        del heads
        return {"kernel": (_matrix, (groups, key, query))}

    def keys(self, p: Parameters, k: Float[Array, "B S G K"]) -> Float[Array, "B S G A"]:
        """W k."""
        return jnp.einsum("bsgk,gka->bsga", k, p["kernel"].astype(k.dtype))

    def __call__(
        self, p: Parameters, q: Float[Array, "B T H Q"], keys: Float[Array, "B S G A"]
    ) -> Float[Array, "B H T S"]:
        del p
        return scores(q, keys)


@dataclasses.dataclass(frozen=True)
class Additive(Score):
    """vᵀ tanh(W q + U k), as wide inside as the query; one v a head. Bahdanau et al. 2015."""

    def specs(self, heads: int, groups: int, query: int, key: int) -> Specs:
        return {
            "query": (_matrix, (heads, query, query)),
            "key": (_matrix, (groups, key, query)),
            "vector": (_vector, (heads, query)),
        }

    def keys(self, p: Parameters, k: Float[Array, "B S G K"]) -> Float[Array, "B S G A"]:
        """U k."""
        return jnp.einsum("bsgk,gka->bsga", k, p["key"].astype(k.dtype))

    def __call__(
        self, p: Parameters, q: Float[Array, "B T H Q"], keys: Float[Array, "B S G A"]
    ) -> Float[Array, "B H T S"]:
        return _perceptron(p["vector"], p["query"], q, keys)


@dataclasses.dataclass(frozen=True)
class Concat(Score):
    """vᵀ tanh(W [q; k]), one W a key head. Luong et al. 2015.

    The same function as `Additive` with W cut in two; the matrix is drawn as one, and heads that
    share a key share it.
    """

    def specs(self, heads: int, groups: int, query: int, key: int) -> Specs:
        return {
            "kernel": (_matrix, (groups, query + key, query)),
            "vector": (_vector, (heads, query)),
        }

    def keys(self, p: Parameters, k: Float[Array, "B S G K"]) -> Float[Array, "B S G A"]:
        """The lower rows of W, times k."""
        lower = p["kernel"][:, -k.shape[-1] :]
        return jnp.einsum("bsgk,gka->bsga", k, lower.astype(k.dtype))

    def __call__(
        self, p: Parameters, q: Float[Array, "B T H Q"], keys: Float[Array, "B S G A"]
    ) -> Float[Array, "B H T S"]:
        upper = p["kernel"][:, : q.shape[-1]]
        upper = jnp.repeat(upper, q.shape[2] // upper.shape[0], axis=0)
        return _perceptron(p["vector"], upper, q, keys)


def _vector(key: jax.Array, shape: tuple[int, int], dtype: Any = jnp.float32) -> jax.Array:
    """N(0, 1/A): scores of order one."""
    return jax.random.normal(key, shape, dtype) * shape[-1] ** -0.5


def _perceptron(
    vector: Float[Array, "H A"],
    matrix: Float[Array, "H Q A"],
    q: Float[Array, "B T H Q"],
    keys: Float[Array, "B S G A"],
) -> Float[Array, "B H T S"]:
    """vᵀ tanh(W q + keys) for every pair, the sum over A in float32."""
    queries = jnp.einsum("bthq,hqa->btha", q, matrix.astype(q.dtype))
    shared = jnp.repeat(keys, q.shape[2] // keys.shape[2], axis=2)
    hidden = jnp.tanh(queries[:, :, None] + shared[:, None])  # [B, T, S, H, A]
    return jnp.einsum(
        "btsha,ha->bhts", hidden, vector.astype(q.dtype), preferred_element_type=jnp.float32
    )
