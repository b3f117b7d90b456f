"""From scores to attention weights, and two controls that put something else in their place.

Every attention takes any of these as its option `weights`. The controls have no parameters, so a
trained model can be evaluated with them (`evaluate.variants`): what it loses is what its weights
were worth (Wiegreffe & Pinter 2019).
"""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from seqlab.nn.precision import wide
from seqlab.nn.softmax import masked_softmax


@dataclasses.dataclass(frozen=True)
class Softmax:
    """softmax over the keys that may be seen; 0 elsewhere, also where nothing may be seen."""

    def __call__(
        self, scores: Float[Array, "B H T S"], mask: Bool[Array, "#B #H #T S"]
    ) -> Float[Array, "B H T S"]:
        """The weights."""
        return masked_softmax(scores, mask)


@dataclasses.dataclass(frozen=True)
class Uniform(Softmax):
    """Control: every key that may be seen weighs the same, whatever its score."""

    def __call__(
        self, scores: Float[Array, "B H T S"], mask: Bool[Array, "#B #H #T S"]
    ) -> Float[Array, "B H T S"]:
        seen = jnp.broadcast_to(mask, scores.shape).astype(wide(scores.dtype))
        return seen / jnp.maximum(jnp.sum(seen, axis=-1, keepdims=True), 1.0)


@dataclasses.dataclass(frozen=True)
class Shuffled(Softmax):
    """Control: the softmax weights, dealt out anew among the keys that may be seen.

    The deal depends on `seed`, row, head, query and the number of keys that may be seen; inside a
    recurrence, which attends one step at a time, it is the same at each step.
    """

    seed: int = 0

    def __call__(
        self, scores: Float[Array, "B H T S"], mask: Bool[Array, "#B #H #T S"]
    ) -> Float[Array, "B H T S"]:
        weights = masked_softmax(scores, mask)
        seen = jnp.broadcast_to(mask, weights.shape)
        noise = jax.random.uniform(jax.random.key(self.seed), weights.shape)
        # Seen keys first, in random order; the n-th seen key gets the n-th of them.
        order = jnp.argsort(jnp.where(seen, noise, 2.0), axis=-1)
        place = jnp.maximum(jnp.cumsum(seen.astype(jnp.int32), axis=-1) - 1, 0)
        dealt = jnp.take_along_axis(jnp.take_along_axis(weights, order, axis=-1), place, axis=-1)
        return jnp.where(seen, dealt, 0.0)
