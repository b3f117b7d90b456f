"""Softmax over what may be seen: pins, extremes, gradients."""

import jax
import jax.numpy as jnp
import numpy as np

from seqlab.nn.softmax import masked_softmax


def test_weights_of_the_seen_keys():
    weights = masked_softmax(jnp.array([[1.0, 2.0, 3.0]]), jnp.array([[True, False, True]]))
    e = np.exp([1.0, 3.0])
    np.testing.assert_allclose(weights, [[e[0] / e.sum(), 0.0, e[1] / e.sum()]], rtol=1e-6)


def test_unseen_keys_weigh_exactly_nothing_whatever_their_score():
    scores = 1e4 * jnp.array([[1.0, 9.0, -3.0], [jnp.inf, 1.0, jnp.nan]])
    mask = jnp.array([[True, False, True], [False, True, False]])
    weights = masked_softmax(scores, mask)
    np.testing.assert_array_equal(weights, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def test_a_row_that_sees_nothing_is_zero_and_so_is_its_gradient():
    def loss(scores):
        return jnp.sum(masked_softmax(scores, mask) * jnp.arange(6.0).reshape(2, 3))

    mask = jnp.array([[False, False, False], [True, True, False]])
    scores = jnp.array([[1.0, jnp.inf, 3.0], [1.0, 2.0, jnp.nan]])
    assert not masked_softmax(scores, mask)[0].any()
    gradient = jax.jit(jax.grad(loss))(scores)
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[0], np.zeros(3))
    assert gradient[1, 0] != 0
    assert gradient[1, 2] == 0


def test_half_precision_is_widened():
    scores = jnp.zeros((1, 1000), jnp.bfloat16)
    weights = masked_softmax(scores, jnp.ones((1, 1000), bool))
    assert weights.dtype == jnp.float32
    np.testing.assert_allclose(weights.sum(), 1.0, rtol=1e-6)
