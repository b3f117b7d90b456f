"""Long short-term memory. Hochreiter & Schmidhuber 1997; forget gate: Gers et al. 2000."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from seqlab.mixers.recurrent import Parameters, Recurrent, recur
from seqlab.nn.recurrence import State


class Lstm(Recurrent):
    """i, f, g, o = x W + b + h U; c' = σ(f) c + σ(i) tanh(g); h' = σ(o) tanh(c').

    forget_bias: initial bias of the forget gate; at 0 half of the cell is lost every step, 1 is
    the usual remedy (Jozefowicz et al. 2015). The cell c is float32 under bf16.
    """

    forget_bias: float = 1.0

    abstract: ClassVar[bool] = False
    gates: ClassVar[int] = 4
    states: ClassVar[tuple[str, ...]] = ("h", "c")

    def bias(self, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        """forget_bias at the forget gate, 0 elsewhere."""
        del key
        return jnp.zeros(shape).at[self.units : 2 * self.units].set(self.forget_bias)

    def step(self, parameters: Parameters, state: State, x: jax.Array) -> State:
        """One step."""
        i, f, g, o = jnp.split(x + recur(parameters, state["h"]), 4, axis=-1)
        c = jax.nn.sigmoid(f) * state["c"] + jax.nn.sigmoid(i) * jnp.tanh(g)
        return {"h": jax.nn.sigmoid(o) * jnp.tanh(c), "c": c}
