"""Norms against float64, where float32 statistics or one-pass variances would lose the digits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.nn.norms import LayerNorm, RMSNorm


def normalised(norm, x):
    params = norm.init(jax.random.key(0), x)
    return norm.apply(params, x)


def exact(x):
    x = np.asarray(x, np.float64)
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize(("mean", "tolerance"), [(0.0, 1e-5), (1000.0, 1e-3), (30000.0, 2e-2)])
def test_layer_norm_survives_a_large_mean(mean, tolerance):
    x = jnp.asarray(np.random.default_rng(0).normal(mean, 1, (3, 64)), jnp.float32)
    np.testing.assert_allclose(normalised(LayerNorm(), x), exact(x), atol=tolerance)


def test_layer_norm_in_bfloat16_with_mean_1000():
    x = jnp.asarray(np.random.default_rng(0).normal(1000, 20, (3, 64)), jnp.bfloat16)
    y = normalised(LayerNorm(), x)
    assert y.dtype == jnp.bfloat16
    np.testing.assert_allclose(np.asarray(y, np.float32), exact(x), atol=2e-2)


def test_layer_norm_of_a_constant_is_its_bias():
    y = normalised(LayerNorm(), jnp.full((2, 8), 7.0))
    np.testing.assert_array_equal(y, np.zeros((2, 8)))


def test_rms_norm_is_not_centred():
    y = normalised(RMSNorm(), jnp.array([[3.0, 4.0]]))
    np.testing.assert_allclose(y, np.array([[3.0, 4.0]]) / np.sqrt(12.5), rtol=1e-5)


def test_scale_and_bias_act_after_the_norm():
    x = jnp.array([[1.0, 3.0]])
    params = {"params": {"scale": jnp.array([2.0, 2.0]), "bias": jnp.array([0.5, 0.5])}}
    np.testing.assert_allclose(LayerNorm().apply(params, x), [[-1.5, 2.5]], atol=1e-4)
