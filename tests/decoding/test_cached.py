"""Decoding with a cache gives what the whole sequence, read again at every step, gives."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.decoding.greedy import greedy
from seqlab.models.base import ModelCarry
from toys import config, model_of, pair

POSITIONS = (
    "base.Position",
    "sinusoidal.Sinusoidal",
    "learned.Learned",
    "rope.Rope",
    "alibi.Alibi",
    "t5.T5",
    "shaw.Shaw",
)
VOCABULARY, PROMPT, TIME, NEW, SOURCE = 11, 15, 16, 32, 6
LENGTHS = jnp.array([1, 3, 15])  # of the prompts, which stand in one batch
PROMPTS = jnp.arange(PROMPT)[None] < LENGTHS[:, None]
ROOM = PROMPT + NEW
RANDOM = np.random.default_rng(0)
TOKENS = jnp.asarray(RANDOM.integers(0, VOCABULARY, (3, TIME), np.int32))
SOURCES = {
    "source": jnp.asarray(RANDOM.integers(0, VOCABULARY, (3, SOURCE), np.int32)),
    "source_mask": jnp.arange(SOURCE)[None] < jnp.array([6, 4, 1])[:, None],
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A model and the three programs that the tests share."""

    position: str
    encoder: bool

    @functools.cached_property
    def built(self) -> tuple[Any, Any]:
        options = {"model__position": f"positions.{self.position}", "model__tie_embeddings": False}
        return model_of((pair if self.encoder else config)(**options), VOCABULARY)

    @property
    def source(self) -> dict[str, Any]:
        return SOURCES if self.encoder else {}

    @functools.cached_property
    def whole(self) -> Any:
        """tokens, lengths -> logits [B, ROOM, V] of one forward pass without a carry."""
        model, params = self.built

        @jax.jit
        def run(tokens, lengths):
            tokens = jnp.pad(tokens, ((0, 0), (0, ROOM - tokens.shape[1])))
            mask = jnp.arange(ROOM)[None] < lengths[:, None]
            return model.apply({"params": params}, tokens, mask, **self.source)[0]

        return run

    @functools.cached_property
    def chunk(self) -> Any:
        """tokens, mask, carry, first? -> logits and carry."""
        model, params = self.built

        def run(tokens, mask, carry, first):
            source = self.source if first else {}
            return model.apply({"params": params}, tokens, mask, carry=carry, **source)

        return jax.jit(run, static_argnums=3)

    def carry(self) -> ModelCarry:
        return self.built[0].init_carry(3, ROOM, SOURCE if self.encoder else 0)


cases = functools.cache(Case)


# With an encoder, one encoding of each hook; slow: all.
BESIDE_A_SOURCE = ("base.Position", "rope.Rope", "t5.T5")


def model_kinds():
    for encoder in (False, True):
        for position in POSITIONS:
            slow = encoder and position not in BESIDE_A_SOURCE
            name = f"{position}-{'encoder-' * encoder}decoder"
            marks = [pytest.mark.slow] if slow else []
            yield pytest.param((position, encoder), id=name, marks=marks)


@pytest.fixture(scope="module", params=model_kinds())
def case(request):
    return cases(*request.param)


def test_prefill_and_single_steps_equal_the_whole(case):
    whole = np.asarray(case.whole(TOKENS, jnp.full(3, TIME)))
    logits, carry = case.chunk(TOKENS[:, :PROMPT], PROMPTS, case.carry(), True)
    for row, length in enumerate(LENGTHS):
        np.testing.assert_allclose(logits[row, :length], whole[row, :length], atol=1e-5)
    seen = np.array(LENGTHS)
    while (seen < TIME).any():
        more = seen < TIME
        column = np.minimum(seen, TIME - 1)
        token = TOKENS[np.arange(3), column][:, None]
        logits, carry = case.chunk(token, jnp.asarray(more)[:, None], carry, False)
        expected = whole[np.arange(3), column]
        np.testing.assert_allclose(np.asarray(logits)[more, 0], expected[more], atol=1e-5)
        seen = seen + more
    np.testing.assert_array_equal(carry.seen, [TIME] * 3)


def test_five_cached_and_three_new_tokens_in_one_call(case):
    whole = case.whole(TOKENS, jnp.full(3, TIME))

    def part(start, count):
        tokens = jnp.pad(TOKENS[:, start : start + count], ((0, 0), (0, PROMPT - count)))
        return tokens, jnp.broadcast_to(jnp.arange(PROMPT) < count, (3, PROMPT))

    first, carry = case.chunk(*part(0, 5), case.carry(), True)
    np.testing.assert_allclose(first[:, :5], whole[:, :5], atol=1e-5)
    used = [layer["a"].used for layer in carry.layers]
    np.testing.assert_array_equal(used, np.full((2, 3), 5))
    tokens, mask = part(5, 3)
    # Where there is a source it may be given again: the cache then holds the same of it.
    second, carry = case.chunk(tokens, mask, carry, True)
    np.testing.assert_allclose(second[:, :3], whole[:, 5:8], atol=1e-5)
    used = [layer["a"].used for layer in carry.layers]
    np.testing.assert_array_equal(used, np.full((2, 3), 8))


def again_and_again(case):
    """32 tokens a row and their summed log probabilities, reading the whole prefix every time."""
    tokens = np.zeros((3, ROOM), np.int32)
    tokens[:, :PROMPT] = np.where(PROMPTS, TOKENS[:, :PROMPT], 0)
    lengths, rows = np.array(LENGTHS), np.arange(3)
    chosen, scores = [], np.zeros(3)
    for _ in range(NEW):
        logits = case.whole(jnp.asarray(tokens), jnp.asarray(lengths))
        last = np.asarray(jax.nn.log_softmax(logits))[rows, lengths - 1]
        scores += last.max(axis=-1)
        chosen.append(last.argmax(axis=-1))
        tokens[rows, lengths] = chosen[-1]
        lengths = lengths + 1
    return np.stack(chosen, axis=1), scores


def test_the_best_tokens_are_those_of_reading_everything_again(case):
    expected, _ = again_and_again(case)
    logits, carry = case.chunk(TOKENS[:, :PROMPT], PROMPTS, case.carry(), True)
    token = np.asarray(logits)[np.arange(3), LENGTHS - 1].argmax(axis=-1)
    found = [token]
    for _ in range(NEW - 1):
        last = jnp.asarray(token[:, None], jnp.int32)
        logits, carry = case.chunk(last, jnp.ones((3, 1), bool), carry, False)
        token = np.asarray(logits[:, 0]).argmax(axis=-1)
        found.append(token)
    np.testing.assert_array_equal(np.stack(found, axis=1), expected)
    assert len(np.unique(expected)) > 2


@pytest.mark.parametrize(
    ("position", "encoder"),
    [
        pytest.param(position, encoder, marks=[] if quick else [pytest.mark.slow])
        for encoder in (False, True)
        for position in POSITIONS
        for quick in [position == ("rope.Rope" if encoder else "t5.T5")]
    ],
)
def test_the_greedy_decoder_equals_reading_everything_again(position, encoder):
    case = cases(position, encoder)
    model, params = case.built
    nothing = {"source": jnp.zeros((3, 0), jnp.int32), "source_mask": jnp.zeros((3, 0), bool)}
    source = case.source or nothing
    run = jax.jit(functools.partial(greedy, model, steps=NEW, eos=-1))
    # Noise in the padding of the prompts, and no EOS: 32 tokens in every row.
    found = run(params, TOKENS[:, :PROMPT], PROMPTS, source["source"], source["source_mask"])
    expected, scores = again_and_again(case)
    np.testing.assert_array_equal(found.tokens, expected)
    np.testing.assert_allclose(found.score, scores, atol=1e-3)
    assert found.truncated.all()
