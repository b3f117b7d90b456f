"""A step plus a scan: the one loop over time that all recurrences share."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

State = Mapping[str, Float[Array, "B ..."]]
Step = Callable[[State, Any], tuple[State, Any]]


def masked_scan(
    step: Step,
    state: State,
    inputs: Any,
    mask: Bool[Array, "B T"],
    starts: Bool[Array, "B T"],
    reverse: bool = False,
) -> tuple[State, Any]:
    """state, output_t = step(state, inputs_t) at real tokens; at padding the state waits.

    inputs, outputs: any trees of arrays [B, T, ...]; outputs are 0 at padding. starts: where a new
    segment begins, and the state with it at zero. reverse: from the last column to the first; since
    padding holds the state, a row's pass begins at its own last token. Returns the final state and
    the outputs of every column.
    """

    def body(state: State, row: tuple) -> tuple[State, Any]:
        x, real, start = row
        clean = {key: jnp.where(start[:, None], 0.0, value) for key, value in state.items()}
        new, output = step(clean, x)
        kept = {key: jnp.where(real[:, None], new[key], state[key]) for key in state}
        return kept, jax.tree.map(lambda y: jnp.where(real[:, None], y, 0.0), output)

    rows = jax.tree.map(lambda a: jnp.moveaxis(a, 1, 0), (inputs, mask, starts))
    final, outputs = jax.lax.scan(body, dict(state), rows, reverse=reverse)
    return final, jax.tree.map(lambda a: jnp.moveaxis(a, 0, 1), outputs)
