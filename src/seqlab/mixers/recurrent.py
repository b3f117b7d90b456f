"""What RNN, LSTM and GRU share: parameters, directions, carry."""

from collections.abc import Mapping
from typing import ClassVar

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp

from seqlab.build import ConfigError
from seqlab.mixers.base import Mixer
from seqlab.nn.linear import Linear, xavier
from seqlab.nn.precision import wide
from seqlab.nn.recurrence import State, masked_scan
from seqlab.types import Leaf, Memory, View, at_last, segment_starts

Parameters = Mapping[str, jax.Array]


@flax.struct.dataclass
class RecurrentCarry:
    """state: name -> [B, H], at least float32. segment [B]: that of the last real token, -1 before
    the first."""

    state: Leaf
    segment: Leaf


class Recurrent(Mixer):
    """A gated recurrence h_t = step(h_{t-1}, x_t W + b), scanned over time in float32 state.

    hidden: units a direction; 0: the width (half of it each way when bidirectional). Outputs are
    projected to the width only where their number differs. reverse: run backwards, from each row's
    last token to its first (source reversal, Sutskever et al. 2014). bidirectional: a second
    recurrence does so; either way there is no carry to continue. The input projection of all steps
    is one matrix product outside of the scan. Recurrent matrices start orthogonal, each gate by
    itself (Saxe et al. 2014).
    """

    hidden: int = 0
    bidirectional: bool = False
    reverse: bool = False

    abstract: ClassVar[bool] = True
    gates: ClassVar[int] = 1
    states: ClassVar[tuple[str, ...]] = ("h",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bidirectional and self.hidden == 0 and self.width % 2:
            raise ConfigError(
                f"model.width: a bidirectional recurrence halves it, got {self.width}; "
                f"set an even width, or `hidden`"
            )
        if self.bidirectional and self.reverse:
            raise ConfigError(
                "model.mixers: a bidirectional recurrence runs in reverse anyway; drop one of "
                "`bidirectional` and `reverse`"
            )

    @property
    def units(self) -> int:
        """H, hidden units a direction."""
        return self.hidden or (self.width // 2 if self.bidirectional else self.width)

    @property
    def bridged(self) -> tuple[str, ...]:
        """The states that an encoder may set."""
        return self.states

    def step(self, parameters: Parameters, state: State, x: jax.Array) -> State:
        """One step from the projected input x [B, gates * H]."""
        raise NotImplementedError

    def bias(self, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        """Initial bias of the gates, [gates * H]."""
        del key
        return jnp.zeros(shape)

    def parameters(self, owner: nn.Module, prefix: str, width: int) -> Parameters:
        """Input kernel [width, gates * H], recurrent kernel [H, gates * H], bias [gates * H].

        owner: the module that they become parameters of.
        """
        H, n = self.units, self.gates
        return {
            "kernel": owner.param(f"{prefix}kernel", gatewise(xavier, n), (width, n * H)),
            "recurrent": owner.param(
                f"{prefix}recurrent", gatewise(nn.initializers.orthogonal(), n), (H, n * H)
            ),
            "bias": owner.param(f"{prefix}bias", self.bias, (n * H,)),
        }

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        view: View,
        carry: RecurrentCarry | None = None,
        memory: Memory | None = None,
    ) -> tuple[jax.Array, RecurrentCarry]:
        del memory
        self._refuse_the_future(carry)
        start = carry or self.init_carry(x.shape[0], 0)
        state, outputs = self._direction("", x, view, start, self.reverse)
        if self.bidirectional:
            back, backward = self._direction("backward_", x, view, start, reverse=True)
            state = {**state, **{f"backward_{key}": value for key, value in back.items()}}
            outputs = jnp.concatenate([outputs, backward], axis=-1)
        y = outputs.astype(x.dtype)
        if y.shape[-1] != self.width:
            y = Linear(self.width, name="out")(y)
        return y, RecurrentCarry(state, at_last(view.segments, view.mask, start.segment))

    def _refuse_the_future(self, carry: RecurrentCarry | None) -> None:
        if not (self.bidirectional or self.reverse):
            return
        kind = "bidirectional" if self.bidirectional else "reverse"
        if carry is not None:
            raise ValueError(f"a {kind} recurrence sees the future: it cannot go on from a carry")
        if self.causal:
            raise ConfigError(
                f"model.mixers: a {kind} recurrence cannot stand where causality is required"
            )

    def _direction(
        self, prefix: str, x: jax.Array, view: View, carry: RecurrentCarry, reverse: bool
    ):
        parameters = self.parameters(self, prefix, x.shape[-1])
        inputs = project(x, parameters["kernel"], parameters["bias"])
        parameters = {**parameters, "recurrent": parameters["recurrent"].astype(x.dtype)}
        if reverse:
            starts = segment_starts(view.mask[:, ::-1], view.segments[:, ::-1])[:, ::-1]
        else:
            starts = segment_starts(view.mask, view.segments, carry.segment)

        def step(state: State, row: jax.Array) -> tuple[State, jax.Array]:
            new = self.step(parameters, state, row)
            return new, new["h"]

        return masked_scan(
            step,
            {key: carry.state[key].astype(inputs.dtype) for key in self.states},
            inputs,
            view.mask,
            starts,
            reverse,
        )

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> RecurrentCarry:
        """Zero state; its size does not depend on the capacity."""
        del capacity, memory
        zero = jnp.zeros((batch, self.units), jnp.float32)
        return RecurrentCarry(dict.fromkeys(self.states, zero), jnp.full(batch, -1, jnp.int32))


def project(x: jax.Array, kernel: jax.Array, bias: jax.Array) -> jax.Array:
    """x W + b for all steps at once, in the dtype of x and kept in at least float32."""
    return jnp.dot(x, kernel.astype(x.dtype)).astype(wide(x.dtype)) + bias[None, None]


def gatewise(init: nn.initializers.Initializer, gates: int) -> nn.initializers.Initializer:
    """The initialiser applied to each gate's block of columns by itself."""

    def initialise(key: jax.Array, shape: tuple[int, int], dtype: jnp.dtype = jnp.float32):
        block = (shape[0], shape[1] // gates)
        keys = jax.random.split(key, gates)
        return jnp.concatenate([init(k, block, dtype) for k in keys], axis=1)

    return initialise


def recur(parameters: Parameters, h: jax.Array) -> jax.Array:
    """h U, computed in the dtype of U and returned in that of h."""
    matrix = parameters["recurrent"]
    return jnp.dot(h.astype(matrix.dtype), matrix, preferred_element_type=h.dtype)
