"""Beam search over any model with a carry."""

from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from seqlab.build import ConfigError
from seqlab.decoding.penalty import LengthPenalty
from seqlab.decoding.prompt import read_prompt
from seqlab.decoding.rules import Rules
from seqlab.models.base import Model
from seqlab.types import Leaf


@flax.struct.dataclass
class Beams:
    """The `nbest` best hypotheses of each row, best first.

    tokens [B, J, N]: EOS included, `pad` after it. score [B, J]: log p / penalty(n); -inf where
    there is no such hypothesis. log_p [B, J]: sum of log probabilities. truncated [B, J]: N tokens
    without EOS; such hypotheses stand after all that ended.
    """

    tokens: Leaf
    score: Leaf
    log_p: Leaf
    truncated: Leaf


@flax.struct.dataclass
class _Search:
    """alive: hypotheses that go on (tokens [B, K, N], log_p [B, K]); done: those that ended."""

    step: Leaf
    carry: Leaf
    last: Leaf
    alive: Leaf
    alive_log_p: Leaf
    done: Leaf
    done_log_p: Leaf
    done_score: Leaf


def beam_search(
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
    beam: int = 4,
    nbest: int = 1,
    penalty: LengthPenalty | None = None,
    rules: Rules | None = None,
) -> Beams:
    """The most probable continuations of each prompt by at most `steps` tokens.

    Of the 2K best continuations of the K alive hypotheses, those among the first K that end in EOS
    compete with the ended ones by their score, and the K best without EOS go on (so that a beam of
    1 is greedy search). A row is finished when no alive hypothesis
    can still reach a score among the `nbest` best. A row without any real token generates nothing.
    Raises ConfigError unless 1 <= nbest <= beam. Pure: jit it with the model and the keyword
    arguments held fixed. Wu et al. 2016.
    """
    if not 1 <= nbest <= beam:
        raise ConfigError(f"decode.nbest: must be from 1 to the beam {beam}, got {nbest}")
    penalty, rules = penalty or LengthPenalty("none"), rules or Rules()
    start = read_prompt(model, params, inputs, mask, source, source_mask, steps)
    B, N = inputs.shape[0], steps
    empty = jnp.full((B, beam, N), pad, inputs.dtype)
    never = jnp.full((B, beam), -jnp.inf, jnp.float32)
    search = _Search(
        step=jnp.int32(0),
        carry=jax.tree.map(lambda leaf: jnp.repeat(leaf, beam, axis=0), start.carry),
        last=jnp.broadcast_to(start.token[:, None], (B, beam)),
        alive=empty,
        # One hypothesis at first: K equal ones would stay equal.
        alive_log_p=never.at[:, 0].set(jnp.where(start.empty, -jnp.inf, 0.0)),
        done=empty,
        done_log_p=never,
        done_score=never,
    )

    def unfinished(search: _Search) -> jax.Array:
        length = search.step.astype(jnp.float32) + 1.0
        hope = penalty.bound(search.alive_log_p.max(axis=1), length, N)
        return (search.step < N) & jnp.any(hope > search.done_score[:, nbest - 1])

    def advance(search: _Search) -> _Search:
        return _step(model, params, search, eos, penalty, rules)

    return _result(jax.lax.while_loop(unfinished, advance, search), pad, penalty, nbest)


def _step(
    model: Model, params: Any, search: _Search, eos: int, penalty: LengthPenalty, rules: Rules
) -> _Search:
    B, K, N = search.alive.shape
    real = jnp.isfinite(search.alive_log_p).reshape(B * K, 1)
    out: Any = model.apply(
        {"params": params}, search.last.reshape(B * K, 1), real, carry=search.carry
    )
    logits, carry = out
    log_p = rules(
        jax.nn.log_softmax(logits[:, 0]), search.alive.reshape(B * K, N), search.step, eos
    )
    V = log_p.shape[1]
    total = search.alive_log_p[..., None] + log_p.reshape(B, K, V)
    best, place = jax.lax.top_k(total.reshape(B, K * V), min(2 * K, K * V))
    parent, token = place // V, (place % V).astype(search.alive.dtype)
    tokens = jnp.take_along_axis(search.alive, parent[..., None], axis=1)
    tokens = jax.lax.dynamic_update_slice(tokens, token[..., None], (0, 0, search.step))
    ended = token == eos

    length = search.step.astype(jnp.float32) + 1.0
    among_best = jnp.arange(best.shape[1])[None] < K
    score = jnp.where(ended & among_best, best, -jnp.inf) / penalty(length)
    pool = jnp.concatenate([search.done_score, score], axis=1)
    done_score, kept = jax.lax.top_k(pool, K)
    done = _take(jnp.concatenate([search.done, tokens], axis=1), kept)
    done_log_p = _take(jnp.concatenate([search.done_log_p, best], axis=1), kept)

    alive_log_p, kept = jax.lax.top_k(jnp.where(ended, -jnp.inf, best), K)
    rows = (jnp.arange(B)[:, None] * K + _take(parent, kept)).reshape(-1)
    return _Search(
        step=search.step + 1,
        carry=jax.tree.map(lambda leaf: leaf[rows], carry),
        last=_take(token, kept),
        alive=_take(tokens, kept),
        alive_log_p=alive_log_p,
        done=done,
        done_log_p=done_log_p,
        done_score=done_score,
    )


def _result(search: _Search, pad: int, penalty: LengthPenalty, nbest: int) -> Beams:
    """Ended hypotheses first, then, where there are too few, those that were cut."""
    K = search.alive.shape[1]
    cut_score = search.alive_log_p / penalty(search.step.astype(jnp.float32))
    ended = jnp.isfinite(search.done_score)
    # Two keys in one: ended before cut, then by score.
    lowest = jnp.finfo(jnp.float32).min
    group = jnp.concatenate([jnp.where(ended, 0.0, lowest), jnp.full_like(cut_score, lowest)], 1)
    score = jnp.concatenate([search.done_score, cut_score], axis=1)
    order = jnp.lexsort((-score, -group), axis=-1)[:, :nbest]
    score = _take(score, order)
    tokens = _take(jnp.concatenate([search.done, search.alive], axis=1), order)
    there = jnp.isfinite(score)
    return Beams(
        tokens=jnp.where(there[..., None], tokens, pad),
        score=score,
        log_p=_take(jnp.concatenate([search.done_log_p, search.alive_log_p], axis=1), order),
        truncated=(order >= K) & there,
    )


def _take(values: jax.Array, index: jax.Array) -> jax.Array:
    """values[b, index[b, j]] for values [B, M, ...] and index [B, J]."""
    return jnp.take_along_axis(
        values, index.reshape(index.shape + (1,) * (values.ndim - 2)), axis=1
    )
