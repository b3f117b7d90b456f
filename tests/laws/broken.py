"""Mixers broken on purpose, each against one law."""

import dataclasses

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.mixers.attention import MultiHead
from seqlab.mixers.lstm import Lstm


def everything_real(view):
    """The view with its padding taken for tokens."""
    return dataclasses.replace(view, mask=jnp.ones_like(view.mask))


class SeesTheFuture(MultiHead):
    """The causal mask is forgotten."""

    @nn.compact
    def __call__(self, x, view, carry=None, memory=None):
        everything = MultiHead(
            self.width, causal=False, heads=self.heads, position=self.position, name="inner"
        )
        return everything(x, view)[0], carry


class SeesPadding(MultiHead):
    """The padding mask is forgotten."""

    def __call__(self, x, view, carry=None, memory=None):
        return super().__call__(x, everything_real(view), carry, memory)


class SeesOtherSegments(MultiHead):
    """The segments are forgotten."""

    def __call__(self, x, view, carry=None, memory=None):
        view = dataclasses.replace(view, segments=jnp.zeros_like(view.segments))
        return super().__call__(x, view, carry, memory)


class ForgetsTheLastToken(MultiHead):
    """The carry counts one slot too few: the next chunk overwrites the last token."""

    def __call__(self, x, view, carry=None, memory=None):
        y, after = super().__call__(x, view, carry, memory)
        if after is not None:
            after = dataclasses.replace(after, used=jnp.maximum(after.used - 1, 0))
        return y, after


class PositionsStartOver(MultiHead):
    """With a carry, the positions of a chunk count from its own first token."""

    def __call__(self, x, view, carry=None, memory=None):
        if carry is not None:
            own = jnp.cumsum(view.mask.astype(jnp.int32), axis=1) - 1
            view = dataclasses.replace(view, positions=jnp.maximum(own, 0))
        return super().__call__(x, view, carry, memory)


class CarriesPadding(Lstm):
    """The state moves on at padding."""

    def __call__(self, x, view, carry=None, memory=None):
        return super().__call__(x, everything_real(view), carry, memory)


class MixesNothing(MultiHead):
    """Each token sees itself only."""

    def __call__(self, x, view, carry=None, memory=None):
        y, after = super().__call__(x, view, carry, memory)
        return x + 0.0 * y, after


class IsFarOffInHalfPrecision(MultiHead):
    """Three times the answer in bfloat16."""

    def __call__(self, x, view, carry=None, memory=None):
        y, after = super().__call__(x, view, carry, memory)
        return (y * 3.0 if x.dtype == jnp.bfloat16 else y), after


class DividesByItsLength(MultiHead):
    """0 / 0 in a row without any token."""

    def __call__(self, x, view, carry=None, memory=None):
        y, after = super().__call__(x, view, carry, memory)
        length = jnp.sum(view.mask.astype(y.dtype), axis=1)[:, None, None]
        return y * (length / length), after


class SwapsRows(MultiHead):
    """What row 0 has seen is read by another row."""

    def __call__(self, x, view, carry=None, memory=None):
        if carry is not None:
            carry = dataclasses.replace(carry, keys=carry.keys.at[0].set(carry.keys[1]))
        return super().__call__(x, view, carry, memory)


class ClampsItsCache(MultiHead):
    """A full cache goes on without a word."""

    def __call__(self, x, view, carry=None, memory=None):
        y, after = super().__call__(x, view, carry, memory)
        return jnp.nan_to_num(y), after


class KnowsWhoCompiles(MultiHead):
    """Answers differently when it is compiled."""

    def __call__(self, x, view, carry=None, memory=None):
        y, after = super().__call__(x, view, carry, memory)
        return (y * 2.0 if isinstance(view.mask, jax.core.Tracer) else y), after
