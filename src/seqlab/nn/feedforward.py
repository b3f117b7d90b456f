"""The position-wise half of a layer."""

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


class FeedForward(nn.Module):
    """y = W2 act(W1 x + b1) + b2 with inner width `factor` times the outer. Vaswani et al. 2017.

    activation: "relu", "gelu" (exact, by erf), "silu" or "tanh". Dropout acts on the inner units.
    """

    factor: int = 4
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
        inner = ACTIVATIONS[self.activation](Linear(self.factor * width, name="up")(x))
        return Linear(width, name="down")(dropout(self, inner, view.dropout))
