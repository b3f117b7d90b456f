"""What every decoding begins with: reading the prompt and the source into a carry."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from seqlab.models.base import Model, ModelCarry
from seqlab.types import at_last


class Start(NamedTuple):
    """carry after all of the prompt but its last real token; that token [B]; and which rows [B]
    have none (fillers, which generate nothing)."""

    carry: ModelCarry
    token: Int[Array, " B"]
    empty: Bool[Array, " B"]


def read_prompt(
    model: Model,
    params: Any,
    inputs: Int[Array, "B P"],
    mask: Bool[Array, "B P"],
    source: Int[Array, "B S"],
    source_mask: Bool[Array, "B S"],
    steps: int,
) -> Start:
    """Read prompts, padded on either side, in one call; room is left for `steps` tokens more."""
    B, P = inputs.shape
    columns = jnp.broadcast_to(jnp.arange(P), (B, P))
    last = at_last(columns, mask, jnp.full(B, -1))
    before = mask & (columns != last[:, None])
    # One prompt token (BOS) leaves nothing to read but the source.
    width = P if P > 1 else 0
    read: Any = model.apply(
        {"params": params},
        inputs[:, :width],
        before[:, :width],
        source=source,
        source_mask=source_mask,
        carry=model.init_carry(B, P + steps, source.shape[1]),
    )
    return Start(read[1], at_last(inputs, mask, jnp.zeros(B, inputs.dtype)), last < 0)
