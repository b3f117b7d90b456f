"""A mixer that keeps every law, and four that each break one on purpose."""

from typing import ClassVar

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp
import numpy as np

from seqlab.build import ConfigError
from seqlab.mixers.base import Mixer
from seqlab.nn.linear import Linear
from seqlab.types import Leaf


@flax.struct.dataclass
class MeanCarry:
    """total [B, D] and count [B] of the tokens seen."""

    total: Leaf
    count: Leaf


class Mean(Mixer):
    """y_t = W x_t + V (mean of x_u over real u <= t)."""

    abstract: ClassVar[bool] = False

    @nn.compact
    def __call__(self, x, view, carry=None, memory=None):
        del memory
        real = view.mask.astype(x.dtype)
        before = self.init_carry(x.shape[0], 0) if carry is None else carry
        total = before.total[:, None] + jnp.cumsum(x * real[..., None], axis=1)
        count = before.count[:, None] + jnp.cumsum(self.counted(real, carry), axis=1)
        mean = total / jnp.maximum(count, 1.0)[..., None]
        y = Linear(self.width, name="own")(x) + Linear(self.width, name="mean")(mean)
        after = None
        if carry is not None:
            seen = jnp.sum(real, axis=1)
            after = MeanCarry(
                before.total + jnp.sum(x * real[..., None], axis=1), before.count + seen
            )
        return y + self.more(x, view, carry), after

    def init_carry(self, batch, capacity, memory=0):
        del capacity, memory
        return MeanCarry(jnp.zeros((batch, self.width)), jnp.zeros(batch))

    @nn.nowrap
    def counted(self, real, carry):
        """What of each place counts in the mean: 1 for a token."""
        del carry
        return real

    @nn.nowrap
    def more(self, x, view, carry):
        """What is added to y."""
        del view, carry
        return jnp.zeros_like(x)


class Peeks(Mean):
    """Adds the token after, in a whole sequence: the output at t depends on t + 1."""

    def more(self, x, view, carry):
        if carry is not None:
            return jnp.zeros_like(x)
        real = x * view.mask[..., None].astype(x.dtype)
        return jnp.pad(real, ((0, 0), (0, 1), (0, 0)))[:, 1:]


class CountsPadding(Mean):
    """Divides by the number of places instead of tokens, in a whole sequence."""

    def counted(self, real, carry):
        return jnp.ones_like(real) if carry is None else real


class TracedNoise(Mean):
    """While training adds numbers that NumPy draws as the program is traced."""

    def more(self, x, view, carry):
        if view.dropout is None:
            return jnp.zeros_like(x)
        return jnp.asarray(0.1 * np.random.normal(size=self.width), x.dtype)[None, None]


class CalledNoise(Mean):
    """While training adds numbers that a callback draws anew at every step."""

    def more(self, x, view, carry):
        if view.dropout is None:
            return jnp.zeros_like(x)
        shape = jax.ShapeDtypeStruct((self.width,), jnp.float32)
        return jax.pure_callback(draw, shape)[None, None].astype(x.dtype)


def draw():
    """Other numbers at every call."""
    return (0.1 * np.random.normal(size=16)).astype(np.float32)


class Forgetful(Mean):
    """Cannot go on from a carry."""

    def more(self, x, view, carry):
        if carry is not None:
            raise NotImplementedError("no carry yet")
        return jnp.zeros_like(x)


class Rigid(Mean):
    """Fits one width only."""

    def __post_init__(self):
        super().__post_init__()
        if self.width != 24:
            raise ConfigError(f"model.width: needs 24, got {self.width}")
