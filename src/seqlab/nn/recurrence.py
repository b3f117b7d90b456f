"""A step plus a scan: the one loop over time that all recurrences share."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

State = Mapping[str, Float[Array, "B ..."]]
Step = Callable[[State, Float[Array, "B G"]], State]


def masked_scan(
    step: Step,
    state: State,
    inputs: Float[Array, "B T G"],
    mask: Bool[Array, "B T"],
    starts: Bool[Array, "B T"],
    reverse: bool = False,
) -> tuple[State, Float[Array, "B T H"]]:
    """h_t = step(h_{t-1}, inputs_t) at real tokens; the state waits where the mask is off.

    starts: where a new segment begins, and the state with it at zero. reverse: from the last
    column to the first; since padding holds the state, a row's pass begins at its own last token.
    Returns the final state and h at every column.
    """

    def body(state: State, row: tuple) -> tuple[State, jax.Array]:
        x, real, start = row
        clean = {key: jnp.where(start[:, None], 0.0, value) for key, value in state.items()}
        new = step(clean, x)
        kept = {key: jnp.where(real[:, None], new[key], state[key]) for key in state}
        return kept, kept["h"]

    rows = jax.tree.map(lambda a: jnp.moveaxis(a, 1, 0), (inputs, mask, starts))
    final, outputs = jax.lax.scan(body, dict(state), rows, reverse=reverse)
    return final, jnp.moveaxis(outputs, 0, 1)
