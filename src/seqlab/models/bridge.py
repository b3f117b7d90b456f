"""From the encoder's last states to the decoder's first ones: the fixed vector of a source."""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.build import ConfigError
from seqlab.mixers.base import Mixer
from seqlab.models.layer import Carries, sublayer_keys
from seqlab.models.stack import Stack
from seqlab.nn.linear import Linear

States = dict[str, jax.Array]  # name -> [B, H]


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a recurrence holds: names of its states, and their units (of both directions)."""

    names: tuple[str, ...]
    units: int


class Bridge(nn.Module):
    """Base: states of the encoder's recurrences, bottom first -> those of the decoder's."""

    present: ClassVar[bool] = True

    def check(self, below: Sequence[Shape], above: Sequence[Shape]) -> None:
        """Raise ConfigError where the encoder's states cannot become the decoder's."""
        for part, shapes in (("encoder", below), ("decoder", above)):
            if not shapes:
                raise ConfigError(
                    f"model.bridge: {type(self).__name__} needs recurrences, the {part} has none; "
                    "use models.bridge.NoBridge"
                )

    def __call__(self, states: Sequence[States], wanted: Sequence[Shape]) -> list[States]:
        """The decoder's first states."""
        raise NotImplementedError


class NoBridge(Bridge):
    """Nothing is handed over: the decoder starts from zero and reads the source by attention."""

    present: ClassVar[bool] = False

    def check(self, below: Sequence[Shape], above: Sequence[Shape]) -> None:
        """It fits everything."""


class Copy(Bridge):
    """The n-th recurrence of the decoder starts where the n-th of the encoder has ended.

    Sutskever et al. 2014. Of a bidirectional encoder, both directions' states stand side by side.
    """

    def check(self, below: Sequence[Shape], above: Sequence[Shape]) -> None:
        """The same kinds of recurrences, as many and as wide."""
        super().check(below, above)
        if list(below) != list(above):
            texts = (
                ", ".join(f"{'/'.join(s.names)} of {s.units}" for s in each)
                for each in (below, above)
            )
            raise ConfigError(
                "model.bridge: Copy needs equal recurrences, the encoder has {} and the decoder "
                "{}; use models.bridge.Project".format(*texts)
            )

    def __call__(self, states: Sequence[States], wanted: Sequence[Shape]) -> list[States]:
        return [
            {name: both_ways(own, name) for name in shape.names}
            for own, shape in zip(states, wanted, strict=True)
        ]


class Project(Bridge):
    """h_0 = tanh(W h + b) and c_0 = W c + b (the cell of an LSTM, which tanh would bound).

    h: last hidden states of the encoder's top recurrence, both directions; each recurrence of the
    decoder has a projection of its own. Cho et al. 2014, Bahdanau et al. 2015.
    """

    @nn.compact
    def __call__(self, states: Sequence[States], wanted: Sequence[Shape]) -> list[States]:
        last = both_ways(states[-1], "h")
        return [
            {name: self.project(f"{name}_{place}", name, last, shape) for name in shape.names}
            for place, shape in enumerate(wanted)
        ]

    def project(self, key: str, name: str, last: jax.Array, shape: Shape) -> jax.Array:
        """One state of one recurrence."""
        y = Linear(shape.units, name=key)(last)
        return jnp.tanh(y) if name == "h" else y


def both_ways(state: States, name: str) -> jax.Array:
    """A state, beside that of the other direction where there is one."""
    directions = [state[key] for key in (name, f"backward_{name}") if key in state]
    return jnp.concatenate(directions, axis=-1)


def recurrences(stack: Stack) -> list[tuple[int, str, Mixer]]:
    """(layer, key, mixer) of every recurrence that has states to hand over, bottom first."""
    found = []
    for layer, sublayers in enumerate(stack.layers):
        for key, name in sublayer_keys(sublayers).items():
            if stack.mixers[name].bridged:
                found.append((layer, key, stack.mixers[name]))
    return found


def shapes(stack: Stack) -> list[Shape]:
    """What the recurrences of a stack hold."""
    found = []
    for _, _, mixer in recurrences(stack):
        directions = 2 if getattr(mixer, "bidirectional", False) else 1
        found.append(Shape(mixer.bridged, directions * getattr(mixer, "units")))  # noqa: B009
    return found


def final_states(stack: Stack, layers: Sequence[Carries]) -> list[States]:
    """The states of the recurrences in the carries of a stack."""
    return [layers[layer][key].state for layer, key, _ in recurrences(stack)]


def started(
    stack: Stack, states: Sequence[States], carry: Sequence[Carries] | None
) -> list[Carries]:
    """The carries of a stack with these states in its recurrences.

    carry: what they are put into; None: carries of a whole sequence, None where a mixer needs none.
    """
    B = jax.tree.leaves(list(states))[0].shape[0]
    places = {(layer, key): n for n, (layer, key, _) in enumerate(recurrences(stack))}
    result = []
    for layer, sublayers in enumerate(stack.layers):
        after = {}
        for key, name in sublayer_keys(sublayers).items():
            old = None if carry is None else carry[layer][key]
            if (layer, key) in places:
                old = stack.mixers[name].init_carry(B, 0) if old is None else old
                old = dataclasses.replace(old, state={**old.state, **states[places[layer, key]]})
            after[key] = old
        result.append(after)
    return result
