"""One token after the other: the most probable one, or one drawn at random."""

from collections.abc import Callable
from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from seqlab.decoding.prompt import read_prompt
from seqlab.decoding.rules import Rules
from seqlab.models.base import Model
from seqlab.types import Leaf

Choose = Callable[[jax.Array, Float[Array, "B V"]], Int[Array, " B"]]


@flax.struct.dataclass
class Decoded:
    """tokens [B, N]: what was generated, EOS included, `pad` after it. score [B]: sum of the log
    probabilities of the generated tokens, EOS included. truncated [B]: N tokens without EOS."""

    tokens: Leaf
    score: Leaf
    truncated: Leaf


def most_probable(key: jax.Array, log_p: Float[Array, "B V"]) -> Int[Array, " B"]:
    """Greedy: the first of the most probable tokens."""
    del key
    return jnp.argmax(log_p, axis=-1)


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
    rules: Rules | None = None,
    choose: Choose = most_probable,
    key: jax.Array | None = None,
) -> Decoded:
    """Continue each row's prompt by at most `steps` tokens, until its EOS.

    Prompts may be padded on either side. A row without any real token (a filler) generates
    nothing. Pure: jit it with the model and the keyword arguments, but for key, held fixed.
    choose: the next tokens from a key and log probabilities; see `sample`.
    """
    start = read_prompt(model, params, inputs, mask, source, source_mask, steps)
    rules = rules or Rules()
    key = jax.random.key(0) if key is None else key
    B = inputs.shape[0]
    tokens = jnp.full((B, steps), pad, inputs.dtype)
    state = (jnp.int32(0), start.token, start.empty, start.carry, tokens, jnp.zeros(B, jnp.float32))

    def unfinished(loop: tuple) -> jax.Array:
        return (loop[0] < steps) & ~jnp.all(loop[2])

    def advance(loop: tuple) -> tuple:
        step, token, done, carry, tokens, score = loop
        out: Any = model.apply({"params": params}, token[:, None], ~done[:, None], carry=carry)
        logits, carry = out
        log_p = rules(jax.nn.log_softmax(logits[:, 0]), tokens, step, eos)
        chosen = choose(jax.random.fold_in(key, step), log_p).astype(inputs.dtype)
        gain = jnp.take_along_axis(log_p, chosen[:, None], axis=1)[:, 0]
        chosen = jnp.where(done, pad, chosen)
        tokens = jax.lax.dynamic_update_slice(tokens, chosen[:, None], (0, step))
        score = score + jnp.where(done, 0.0, gain)
        return step + 1, chosen, done | (chosen == eos), carry, tokens, score

    _, _, done, _, tokens, score = jax.lax.while_loop(unfinished, advance, state)
    return Decoded(tokens, score, ~done)
