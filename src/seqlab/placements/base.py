"""A placement: how the sublayers F of a layer act on the stream."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import jax

Sublayers = Mapping[str, Callable[[jax.Array], jax.Array]]
NormFactory = Callable[[str], Callable[[jax.Array], jax.Array]]


@dataclasses.dataclass(frozen=True)
class Placement:
    """Base: the stream is x itself; subclasses say what a layer does.

    `norm(name)` creates a norm in the module that calls: the layer for `layer`, the stack for
    `start` and `finish`. A stream may be any pytree.
    """

    abstract: ClassVar[bool] = True

    def start(self, x: jax.Array, norm: NormFactory) -> Any:
        """What enters the first layer, from x [B, T, D]."""
        del norm
        return x

    def layer(self, stream: Any, sublayers: Sublayers, norm: NormFactory) -> Any:
        """One layer: `sublayers` in order, name -> F."""
        raise NotImplementedError

    def finish(self, stream: Any, norm: NormFactory) -> jax.Array:
        """What leaves the last layer, [B, T, D]."""
        del norm
        return stream
