"""Top-k, top-p and drawing."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.decoding.greedy import greedy
from seqlab.decoding.sample import Sample, top_k, top_p
from toys import config, model_of

P = jnp.log(jnp.array([[0.2, 0.5, 0.3]]))


def left(log_p):
    return np.flatnonzero(np.isfinite(log_p[0])).tolist()


def test_top_k_leaves_exactly_k_tokens():
    assert left(top_k(P, 1)) == [1]
    assert left(top_k(P, 2)) == [1, 2]
    assert left(top_k(P, 7)) == [0, 1, 2]
    assert left(top_k(jnp.zeros((1, 4)), 2)) == [0, 1]  # of equal ones the first


@pytest.mark.parametrize(("p", "expected"), [(0.49, [1]), (0.51, [1, 2]), (0.81, [0, 1, 2])])
def test_top_p_leaves_the_smallest_set_that_reaches_p(p, expected):
    assert left(top_p(P, p)) == expected


def test_the_best_token_is_always_left():
    assert left(top_p(top_k(P, 1), 0.1)) == [1]
    assert left(top_p(P, 1e-6)) == [1]


def test_draws_follow_the_probabilities():
    many = jnp.tile(P, (4000, 1))
    drawn = np.asarray(jax.jit(Sample())(jax.random.key(0), many))
    share = np.bincount(drawn, minlength=3) / len(drawn)
    np.testing.assert_allclose(share, [0.2, 0.5, 0.3], atol=0.03)
    cold = jax.jit(Sample(temperature=0.05))(jax.random.key(0), many)
    assert (np.asarray(cold) == 1).mean() > 0.999
    assert set(np.asarray(jax.jit(Sample(k=2))(jax.random.key(0), many)).tolist()) == {1, 2}


@pytest.mark.parametrize("options", [{"temperature": 0.0}, {"k": -1}, {"p": 0.0}, {"p": 1.5}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ConfigError, match="temperature > 0"):
        Sample(**options)


def test_a_key_decides_the_output_and_k_1_is_greedy():
    model, params = model_of(config(model__depth=1), 9)
    prompt = jnp.array([[3, 4], [5, 6]])
    nothing = jnp.zeros((2, 0), jnp.int32)
    arguments = (params, prompt, prompt > 0, nothing, nothing > 0)

    @functools.cache
    def compiled(**options):
        choose = {"choose": Sample(**options)} if options else {}
        return jax.jit(functools.partial(greedy, model, steps=6, eos=1, **choose))

    def run(seed, **options):
        return compiled(**options)(*arguments, key=jax.random.key(seed)).tokens.tolist()

    assert run(0, temperature=3.0) == run(0, temperature=3.0)
    assert run(0, temperature=3.0) != run(1, temperature=3.0)
    assert run(0, k=1) == run(0)
