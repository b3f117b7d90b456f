"""Greedy decoding: always the most probable token."""

from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from seqlab.models.base import Model
from seqlab.types import Leaf, at_last


@flax.struct.dataclass
class Decoded:
    """tokens [B, N]: what was generated, EOS included, `pad` after it. score [B]: sum of the log
    probabilities of the generated tokens, EOS included. truncated [B]: N tokens without EOS."""

    tokens: Leaf
    score: Leaf
    truncated: Leaf


def greedy(
    model: Model,
    params: Any,
    inputs: Int[Array, "B P"],
    mask: Bool[Array, "B P"],
    source: Int[Array, "B S"],
    source_mask: Bool[Array, "B S"],
    *,
    steps: int,
    eos: int,
    pad: int = 0,
) -> Decoded:
    """Continue each row's prompt by at most `steps` tokens, until its EOS.

    Prompts may be padded on either side. A row without any real token (a filler) generates
    nothing. Pure: jit it with model, steps, eos and pad held fixed. The prompt but for its last
    token is read in one call; the loop then reads one token a step.
    """
    B, P = inputs.shape
    columns = jnp.broadcast_to(jnp.arange(P), (B, P))
    last = at_last(columns, mask, jnp.full(B, -1))
    before = mask & (columns != last[:, None])
    first = at_last(inputs, mask, jnp.full(B, pad))
    carry = model.init_carry(B, P + steps, source.shape[1])
    # One prompt token (BOS) leaves nothing to read but the source.
    width = P if P > 1 else 0
    _, carry = model.apply(
        {"params": params},
        inputs[:, :width],
        before[:, :width],
        source=source,
        source_mask=source_mask,
        carry=carry,
    )
    tokens = jnp.full((B, steps), pad, inputs.dtype)
    start = (jnp.int32(0), first, last < 0, carry, tokens, jnp.zeros(B, jnp.float32))

    def unfinished(loop: tuple) -> jax.Array:
        return (loop[0] < steps) & ~jnp.all(loop[2])

    def advance(loop: tuple) -> tuple:
        step, token, done, carry, tokens, score = loop
        real = ~done[:, None]
        out: Any = model.apply({"params": params}, token[:, None], real, carry=carry)
        logits, carry = out
        chosen = jnp.argmax(logits[:, 0], axis=-1).astype(inputs.dtype)
        log_p = jnp.max(jax.nn.log_softmax(logits[:, 0]), axis=-1)
        chosen = jnp.where(done, pad, chosen)
        tokens = jax.lax.dynamic_update_slice(tokens, chosen[:, None], (0, step))
        score = score + jnp.where(done, 0.0, log_p)
        return step + 1, chosen, done | (chosen == eos), carry, tokens, score

    _, _, done, _, tokens, score = jax.lax.while_loop(unfinished, advance, start)
    return Decoded(tokens, score, ~done)
