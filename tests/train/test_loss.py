"""Cross-entropy: label smoothing, weights, padding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.train.loss import correct, cross_entropy

LOGITS = jnp.array([[[2.0, 1.0, 0.0, -1.0]]])


def tokens(*ids):
    return jnp.array([ids], jnp.int32)


@pytest.mark.parametrize(("smoothing", "loss"), [(0.0, 0.440190), (0.1, 0.590190)])
def test_label_smoothing_is_spread_over_all_symbols(smoothing, loss):
    found = cross_entropy(LOGITS, tokens(0), jnp.ones((1, 1)), jnp.float32(smoothing))
    np.testing.assert_allclose(found, loss, atol=1e-6)


@pytest.mark.parametrize("noise", [0.0, 1e4, np.inf, np.nan])
def test_padding_changes_neither_loss_nor_gradient(noise):
    def loss(logits, targets, weights):
        return cross_entropy(logits, targets, weights, jnp.float32(0.1))

    padded = jnp.concatenate([LOGITS, jnp.full((1, 7, 4), noise)], axis=1)
    targets = tokens(0, *[3] * 7)
    weights = jnp.array([[1.0] + [0.0] * 7])
    alone = loss(LOGITS, tokens(0), jnp.ones((1, 1)))
    np.testing.assert_array_equal(loss(padded, targets, weights), alone)
    if np.isfinite(noise):
        gradient = jax.grad(loss)(padded, targets, weights)
        np.testing.assert_array_equal(gradient[:, 1:], np.zeros((1, 7, 4)))
        expected = jax.grad(loss)(LOGITS, tokens(0), jnp.ones((1, 1)))
        np.testing.assert_array_equal(gradient[:, :1], expected)


def test_a_target_outside_the_vocabulary_is_nan_unless_it_is_padding():
    weights = jnp.ones((1, 1))
    assert np.isnan(cross_entropy(LOGITS, tokens(4), weights))
    assert cross_entropy(LOGITS, tokens(4), 0 * weights) == 0


def test_weights_weigh():
    twice = cross_entropy(LOGITS, tokens(0), jnp.array([[2.0]]))
    np.testing.assert_allclose(twice, 2 * 0.440190, atol=1e-5)


def test_half_precision_logits_are_widened():
    loss = cross_entropy(LOGITS.astype(jnp.bfloat16), tokens(0), jnp.ones((1, 1)))
    assert loss.dtype == jnp.float32
    np.testing.assert_allclose(loss, 0.440190, atol=1e-6)


def test_correct_counts_weight():
    logits = jnp.concatenate([LOGITS, LOGITS, LOGITS], axis=1)
    found = correct(logits, tokens(0, 1, 0), jnp.array([[1.0, 1.0, 0.0]]))
    assert found == 1.0
