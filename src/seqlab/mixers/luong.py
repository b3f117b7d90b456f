"""Attention after the recurrence: step first, then look. Luong et al. 2015."""

from typing import ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.mixers.attentive import Attentive, AttentiveCarry
from seqlab.mixers.base import Mixer
from seqlab.mixers.cross import MemoryCache, recall
from seqlab.mixers.recurrent import project
from seqlab.nn.attend import attend
from seqlab.nn.linear import Linear, xavier
from seqlab.nn.masks import visible
from seqlab.nn.recurrence import State
from seqlab.nn.scores import Dot, Score
from seqlab.nn.weights import Softmax
from seqlab.types import Memory, View


class Luong(Mixer):
    """c_t = Σ_j α_tj m_j, α_t = weights(score(x_t, source)); y_t = tanh(W [c_t; x_t]).

    It stands above a recurrence ("r+l"), whose states x_t are the queries; without input feeding
    nothing of it enters the recurrence, so all steps are computed at once. memory_width: width of
    the encoder (0: as the decoder).
    """

    score: Score = Dot()
    weights: Softmax = Softmax()
    memory_width: int = 0

    abstract: ClassVar[bool] = False
    cross: ClassVar[bool] = True

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        view: View,
        carry: MemoryCache | None = None,
        memory: Memory | None = None,
    ) -> tuple[jax.Array, MemoryCache | None]:
        specs = self.score.specs(1, 1, self.width, self.memory_width or self.width)
        p = {name: self.param(f"score_{name}", *spec) for name, spec in specs.items()}
        source = recall(self.score, p, x.dtype, memory, carry)
        scores = self.score(p, x[:, :, None], source.keys)
        weights = self.weights(scores, visible(view, source.view))
        self.sow("intermediates", "weights", weights)
        context = attend(weights, source.values)[:, :, 0]
        self.sow("intermediates", "heads", context)
        y = jnp.tanh(Linear(self.width, name="out")(jnp.concatenate([context, x], axis=-1)))
        return y, None if carry is None else source

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> MemoryCache:
        """Room for `memory` source tokens, none of them real."""
        del capacity
        tokens = jnp.zeros((batch, memory), jnp.int32)
        keys = jnp.zeros((batch, memory, 1, self.width), self.dtype)
        values = jnp.zeros((batch, memory, 1, self.memory_width or self.width), self.dtype)
        return MemoryCache(keys, values, tokens > 0, tokens)


class InputFeeding(Attentive):
    """s_t = cell([x_t; f_{t-1}], s_{t-1}); c_t = Σ_j α_tj m_j, α_t = weights(score(s_t, source));
    f_t = tanh(W [c_t; s_t]), which is the output and is fed to the next step (section 3.3)."""

    score: Score = Dot()

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
        parameters, outer, inner = self.cell_parameters(x.dtype, self.units)
        shape = (self.source_width + self.units, self.units)
        inner = inner.astype(x.dtype)
        readout = self.param("readout", xavier, shape).astype(x.dtype)

        def step(state: State, row: tuple[jax.Array, jax.Array]) -> tuple[State, tuple]:
            inputs, seen = row
            fed = jnp.dot(state["fed"].astype(x.dtype), inner).astype(inputs.dtype)
            new = self.recurrence.step(parameters, state, inputs + fed)
            context, weights = self.look(p, new["h"], source, seen)
            both = jnp.concatenate([context, new["h"]], axis=-1).astype(x.dtype)
            out = jnp.tanh(jnp.dot(both, readout).astype(inputs.dtype))
            return {**new, "fed": out}, (out, context, weights)

        inputs = project(x, outer, parameters["bias"])
        state, (y, context, weights) = self.scan(step, inputs, view, start, source)
        self.sow("intermediates", "weights", weights[:, None])
        self.sow("intermediates", "heads", context)
        y = y.astype(x.dtype)
        if self.units != self.width:
            y = Linear(self.width, name="out")(y)
        return y, None if carry is None else self.after(state, view, start, source)

    @property
    def kept(self) -> tuple[str, ...]:
        """The cell's states and what is fed."""
        return (*self.recurrence.states, "fed")
