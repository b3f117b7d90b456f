"""What may not be generated: rules that set log probabilities to -inf."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


@dataclasses.dataclass(frozen=True)
class Rules:
    """min_length: tokens before EOS may come, prompt not counted. no_repeat_ngram: n-grams of the
    output may not come twice (0: they may)."""

    min_length: int = 0
    no_repeat_ngram: int = 0

    def __call__(
        self,
        log_p: Float[Array, "R V"],
        tokens: Int[Array, "R N"],
        step: Int[Array, ""],
        eos: int,
    ) -> Float[Array, "R V"]:
        """log_p of the token after the first `step` of `tokens`, with what is forbidden at -inf."""
        if self.min_length:
            is_eos = jnp.arange(log_p.shape[1]) == eos
            early = step < self.min_length
            log_p = jnp.where(early & is_eos[None], -jnp.inf, log_p)
        if self.no_repeat_ngram:
            banned = repeats(tokens, step, self.no_repeat_ngram, log_p.shape[1])
            log_p = jnp.where(banned, -jnp.inf, log_p)
        return log_p


def repeats(
    tokens: Int[Array, "R N"], step: Int[Array, ""], n: int, vocabulary: int
) -> Bool[Array, "R V"]:
    """The tokens that would complete an n-gram which the first `step` tokens hold already."""
    R, N = tokens.shape
    if n > N:
        return jnp.zeros((R, vocabulary), bool)
    starts = jnp.arange(N - n + 1)
    windows = tokens[:, starts[:, None] + jnp.arange(n)[None]]  # [R, N-n+1, n]
    last = jax.lax.dynamic_slice(tokens, (0, jnp.maximum(step - n + 1, 0)), (R, n - 1))
    same = jnp.all(windows[..., :-1] == last[:, None], axis=-1)
    seen = same & (starts + n <= step)[None] & (step >= n - 1)
    rows = jnp.arange(R)[:, None]
    ends = jnp.where(seen, windows[..., -1], vocabulary)  # out of range: dropped
    return jnp.zeros((R, vocabulary), bool).at[rows, ends].set(True, mode="drop")
