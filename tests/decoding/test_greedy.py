"""Greedy decoding of a model whose probabilities are a table."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from seqlab.decoding.greedy import greedy
from toys import Markov

PAD, EOS, A, B = range(4)
# p(next | last): after the prompt (A) 0.5 EOS; after B almost surely A.
TABLE = np.array(
    [
        [0.25, 0.25, 0.25, 0.25],
        [0.25, 0.25, 0.25, 0.25],
        [0.01, 0.50, 0.04, 0.45],
        [0.01, 0.03, 0.95, 0.01],
    ],
    np.float32,
)
RUN = jax.jit(functools.partial(greedy, Markov(4), steps=5, eos=EOS, pad=PAD))


def run(table, *prompts, mask=None):
    inputs = jnp.array(prompts, jnp.int32)
    mask = jnp.ones(inputs.shape, bool) if mask is None else jnp.array(mask, bool)
    nothing = jnp.zeros((len(prompts), 0), jnp.int32)
    params = {"decoder": {"table": jnp.log(jnp.asarray(table))}}
    return RUN(params, inputs, mask, nothing, nothing > 0)


def test_it_takes_the_best_token_and_ends_in_eos():
    found = run(TABLE, [A], [B])
    np.testing.assert_array_equal(found.tokens, [[EOS] + [PAD] * 4, [A, EOS] + [PAD] * 3])
    np.testing.assert_allclose(found.score, np.log([0.5, 0.95 * 0.5]), rtol=1e-5)
    assert not found.truncated.any()


def test_an_output_without_eos_is_cut_and_says_so():
    endless = TABLE.copy()
    endless[A] = [0.01, 0.04, 0.05, 0.9]
    found = run(endless, [A], [B])
    np.testing.assert_array_equal(found.tokens, [[B, A, B, A, B], [A, B, A, B, A]])
    assert found.truncated.all()


def test_a_filler_row_generates_nothing():
    found = run(TABLE, [B], [B], mask=[[True], [False]])
    np.testing.assert_array_equal(found.tokens[1], [PAD] * 5)
    assert found.score[1] == 0
    assert not found.truncated[1]
    assert found.tokens[0, 0] == A


def test_only_the_last_real_token_of_a_padded_prompt_counts():
    found = run(TABLE, [A, B, A], [A, B, A], mask=[[1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(found.tokens[:, 0], [A, EOS])
