"""The position-wise half of a layer."""

from typing import ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from seqlab.build import ConfigError, suggest
from seqlab.nn.dropout import dropout
from seqlab.nn.linear import Linear
from seqlab.types import View

ACTIVATIONS = {
    "relu": jax.nn.relu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "silu": jax.nn.silu,
    "tanh": jnp.tanh,
}


class PositionWise(nn.Module):
    """Base: y [B, T, D] from x [B, T, D], every column by itself; or nothing at all."""

    present: ClassVar[bool] = True

    def __call__(self, x: Float[Array, "B T D"], view: View) -> Float[Array, "B T D"]:
        """y."""
        raise NotImplementedError


class FeedForward(PositionWise):
    """y = W2 act(W1 x + b1) + b2 with inner width `factor` times the outer. Vaswani et al. 2017.

    hidden: the inner width itself (0: by the factor). activation: "relu", "gelu" (exact, by erf),
    "silu" or "tanh". Dropout acts on the inner units.
    """

    factor: int = 4
    hidden: int = 0
    activation: str = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation not in ACTIVATIONS:
            raise ConfigError(
                f"feedforward.activation: {self.activation!r} is unknown"
                + suggest(self.activation, ACTIVATIONS)
            )

    @nn.compact
    def __call__(self, x: Float[Array, "B T D"], view: View) -> Float[Array, "B T D"]:
        width = x.shape[-1]
        hidden = self.hidden or self.factor * width
        inner = ACTIVATIONS[self.activation](Linear(hidden, name="up")(x))
        return Linear(width, name="down")(dropout(self, inner, view.dropout))


class NoFeedForward(PositionWise):
    """Layers without a position-wise half, as in classic recurrent networks."""

    present: ClassVar[bool] = False
