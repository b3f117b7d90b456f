"""Attention inside the recurrence: look first, then step. Bahdanau et al. 2015."""

from typing import ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.mixers.attentive import Attentive, AttentiveCarry
from seqlab.mixers.recurrent import project
from seqlab.nn.linear import Linear
from seqlab.nn.recurrence import State
from seqlab.types import Memory, View


class Bahdanau(Attentive):
    """α_t = weights(score(s_{t-1}, source)); c_t = Σ_j α_tj m_j; s_t = cell([x_t; c_t], s_{t-1});
    y_t = W [s_t; c_t; x_t], a deep output without its maxout."""

    abstract: ClassVar[bool] = False

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        view: View,
        carry: AttentiveCarry | None = None,
        memory: Memory | None = None,
    ) -> tuple[jax.Array, AttentiveCarry | None]:
        p, source, start = self.begin(x, carry, memory)
        parameters, outer, inner = self.cell_parameters(x.dtype, self.source_width)
        inner = inner.astype(x.dtype)

        def step(state: State, row: tuple[jax.Array, jax.Array]) -> tuple[State, tuple]:
            inputs, seen = row
            context, weights = self.look(p, state["h"], source, seen)
            extra = jnp.dot(context.astype(x.dtype), inner).astype(inputs.dtype)
            new = self.recurrence.step(parameters, state, inputs + extra)
            return new, (new["h"], context, weights)

        inputs = project(x, outer, parameters["bias"])
        state, (h, context, weights) = self.scan(step, inputs, view, start, source)
        self.sow("intermediates", "weights", weights[:, None])
        self.sow("intermediates", "heads", context)
        read = jnp.concatenate([h.astype(x.dtype), context.astype(x.dtype), x], axis=-1)
        y = Linear(self.width, name="out")(read)
        return y, None if carry is None else self.after(state, view, start, source)
