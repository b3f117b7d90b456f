"""The places where a position encoding may act; the base class acts at none of them.

An encoding is a frozen dataclass of pure functions. Its parameters are declared by name as
(initialiser, shape) and created by the module that calls it: those of `embed` once a model, those
of `bias` once a layer, or once a stack when `shared`.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

Specs = Mapping[str, tuple[Callable[..., jax.Array], tuple[int, ...]]]
Table = Mapping[str, jax.Array]


@dataclasses.dataclass(frozen=True)
class Position:
    """No position encoding ("NoPE"): in a decoder the causal mask is then the only order signal.

    Kazemnejad et al. 2023. Subclasses override the hooks in which they act.
    """

    shared: ClassVar[bool] = False  # is `table` one for all layers?

    @property
    def limit(self) -> int | None:
        """Number of positions the encoding has; None: no limit."""
        return None

    def embed_table(self, width: int) -> Specs:
        """Parameters of `embed`."""
        del width
        return {}

    def embed(
        self, table: Table, x: Float[Array, "B T D"], positions: Int[Array, "B T"]
    ) -> Float[Array, "B T D"]:
        """Act on the input of the first layer."""
        del table, positions
        return x

    def table(self, heads: int, head_width: int) -> Specs:
        """Parameters of `bias`."""
        del heads, head_width
        return {}

    def rotate(
        self,
        q: Float[Array, "B T H K"],
        k: Float[Array, "B T G K"],
        positions_q: Int[Array, "B T"],
        positions_k: Int[Array, "B T"],
    ) -> tuple[Float[Array, "B T H K"], Float[Array, "B T G K"]]:
        """Act on queries and keys before their dot product; cached keys are already rotated."""
        del positions_q, positions_k
        return q, k

    def bias(
        self,
        table: Table,
        q: Float[Array, "B T H K"],
        k: Float[Array, "B S G K"],
        positions_q: Int[Array, "B T"],
        positions_k: Int[Array, "B S"],
    ) -> Float[Array, "#B #H #T #S"]:
        """What is added to the scaled scores."""
        del table, q, k, positions_q, positions_k
        return jnp.zeros((1, 1, 1, 1), jnp.float32)

    def acts_on_input(self) -> bool:
        """Does it act in `embed`, which every kind of layer sees?"""
        return type(self).embed is not Position.embed

    def acts_in_attention(self) -> bool:
        """Does it act in self-attention, by rotation or bias?"""
        kind: Any = type(self)
        return kind.rotate is not Position.rotate or kind.bias is not Position.bias


def distance(positions_q: Int[Array, "B T"], positions_k: Int[Array, "B S"]) -> Int[Array, "B T S"]:
    """Key position minus query position: negative looks back."""
    return positions_k[:, None, :] - positions_q[:, :, None]
