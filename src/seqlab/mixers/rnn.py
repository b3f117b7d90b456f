"""The plain recurrence. Elman 1990."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from seqlab.mixers.recurrent import Parameters, Recurrent, recur
from seqlab.nn.recurrence import State


class Rnn(Recurrent):
    """h' = tanh(x W + b + h U)."""

    abstract: ClassVar[bool] = False

    def step(self, parameters: Parameters, state: State, x: jax.Array) -> State:
        """One step."""
        return {"h": jnp.tanh(x + recur(parameters, state["h"]))}
