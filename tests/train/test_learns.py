"""Labels are shifted exactly once: nothing leaks, and everything can be learnt."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.decoding.greedy import greedy
from seqlab.train.hyper import Hyper
from seqlab.train.programs import programs
from seqlab.types import Batch
from toys import batch, config

VOCABULARY, STEPS, TIME = 11, 200, 9
BOS, EOS = 1, 2
OPTIONS = config(train__lr=3e-3)


@pytest.fixture(scope="module")
def trained():
    """(batches stacked on axis 0) -> state, loss of each step."""
    shared = programs(OPTIONS, VOCABULARY, VOCABULARY)
    hyper = Hyper.of(OPTIONS)

    def train(batches):
        state = shared.init(jax.random.key(0), hyper)
        state, metrics = shared.train(state, batches, jnp.int32(STEPS), hyper)
        return shared.model, state, np.asarray(metrics["loss"])

    return train


def shifted(tokens):
    """Rows of [steps, rows, TIME]: inputs are BOS and all but the last, targets the tokens."""
    first = np.full((*tokens.shape[:2], 1), BOS, np.int32)
    one = batch([TIME] * tokens.shape[1], TIME)
    same = {
        name: np.broadcast_to(getattr(one, name), (STEPS, *getattr(one, name).shape))
        for name in ("mask", "weights", "source", "source_mask", "index")
    }
    inputs = np.concatenate([first, tokens[:, :, :-1]], axis=-1)
    return Batch(inputs=inputs, targets=tokens, **same)


def test_unpredictable_tokens_stay_unpredictable(trained):
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, (STEPS, 32, TIME), np.int32)
    _, _, losses = trained(shifted(tokens))
    np.testing.assert_allclose(losses[-20:].mean(), np.log(VOCABULARY), rtol=0.02)


def test_one_sequence_is_learnt_by_heart_and_generated(trained):
    row = np.array([5, 3, 3, 9, 4, 3, 10, 6, EOS], np.int32)
    model, state, losses = trained(shifted(np.broadcast_to(row, (STEPS, 32, TIME))))
    assert losses[-1] < 0.05
    nothing = jnp.zeros((1, 0), jnp.int32)
    run = jax.jit(functools.partial(greedy, model, steps=12, eos=EOS))
    prompt = jnp.full((1, 1), BOS, jnp.int32)
    found = run(state.params, prompt, prompt > 0, nothing, nothing > 0)
    np.testing.assert_array_equal(found.tokens[0], [*row, 0, 0, 0])
