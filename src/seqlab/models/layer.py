"""One layer: its mixers and its feed-forward, placed around the stream."""

from collections.abc import Callable, Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.mixers.base import Mixer
from seqlab.nn.dropout import dropout
from seqlab.nn.feedforward import PositionWise
from seqlab.placements.base import Placement
from seqlab.types import Memory, View

Carries = dict[str, Any]


class Layer(nn.Module):
    """stream <- placement.layer(stream, mixers and feed-forward); dropout ends every branch.

    sublayers: which of `mixers` stand here, in order. `mixers` and `norm` are templates: each is
    cloned where it is used, since a Linen instance used twice would share its weights.
    """

    sublayers: tuple[str, ...]
    mixers: Mapping[str, Mixer]
    placement: Placement
    norm: nn.Module
    feedforward: PositionWise

    @nn.compact
    def __call__(
        self, stream: Any, view: View, memory: Memory | None = None, carries: Carries | None = None
    ) -> tuple[Any, Carries]:
        """The stream after this layer, and a carry for each mixer."""
        after: Carries = {}

        def branch(key: str, mixer: Mixer) -> Callable[[jax.Array], jax.Array]:
            def apply(x: jax.Array) -> jax.Array:
                carry = None if carries is None else carries[key]
                y, after[key] = mixer.clone(parent=self, name=key)(x, view, carry, memory)
                return dropout(self, y, view.dropout)

            return apply

        def feed(x: jax.Array) -> jax.Array:
            return dropout(self, self.feedforward(x, view), view.dropout)

        branches = {
            key: branch(key, self.mixers[name])
            for key, name in sublayer_keys(self.sublayers).items()
        }
        if self.feedforward.present:
            branches["feedforward"] = feed
        stream = self.placement.layer(stream, branches, norm_factory(self, self.norm))
        finite = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(stream)]
        self.sow("diagnostics", "finite", jnp.all(jnp.stack(finite)))
        return stream, after

    def init_carry(self, batch: int, capacity: int, memory: int) -> Carries:
        """A carry for each mixer."""
        return {
            key: self.mixers[name].init_carry(batch, capacity, memory)
            for key, name in sublayer_keys(self.sublayers).items()
        }


def sublayer_keys(sublayers: tuple[str, ...]) -> dict[str, str]:
    """Name of each sublayer in the parameters -> name of its mixer: `a`, then `a_2`, ..."""
    keys: dict[str, str] = {}
    for name in sublayers:
        count = sum(other == name for other in keys.values()) + 1
        keys[name if count == 1 else f"{name}_{count}"] = name
    return keys


def norm_factory(parent: nn.Module, template: nn.Module) -> Callable[[str], Any]:
    """norm(name): a norm of its own, created in `parent`."""
    return lambda name: template.clone(parent=parent, name=name)
