"""Gated recurrent unit. Cho et al. 2014."""

from typing import ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.mixers.recurrent import Parameters, Recurrent, recur
from seqlab.nn.recurrence import State


class Gru(Recurrent):
    """r, z from x W + b + h U; h' = (1 - z) n + z h.

    reset_after: n = tanh(x W_n + b_n + r (h U_n + b_hn)), as cuDNN and PyTorch compute it; else
    n = tanh(x W_n + b_n + (r h) U_n), as in the paper's first version.
    """

    reset_after: bool = True

    abstract: ClassVar[bool] = False
    gates: ClassVar[int] = 3

    def parameters(self, owner: nn.Module, prefix: str, width: int) -> Parameters:
        """The shared ones, and b_hn [H] where the reset comes after the product."""
        parameters = super().parameters(owner, prefix, width)
        if not self.reset_after:
            return parameters
        inner = owner.param(f"{prefix}inner_bias", nn.initializers.zeros, (self.units,))
        return {**parameters, "inner_bias": inner}

    def step(self, parameters: Parameters, state: State, x: jax.Array) -> State:
        """One step."""
        h, H = state["h"], self.units
        matrix = parameters["recurrent"]
        if self.reset_after:
            product = recur(parameters, h)
            r, z = jnp.split(jax.nn.sigmoid(x[:, : 2 * H] + product[:, : 2 * H]), 2, axis=-1)
            inner = r * (product[:, 2 * H :] + parameters["inner_bias"][None])
        else:
            gates = recur({"recurrent": matrix[:, : 2 * H]}, h)
            r, z = jnp.split(jax.nn.sigmoid(x[:, : 2 * H] + gates), 2, axis=-1)
            inner = recur({"recurrent": matrix[:, 2 * H :]}, r * h)
        n = jnp.tanh(x[:, 2 * H :] + inner)
        return {"h": (1 - z) * n + z * h}
