"""Dropout with a traced rate."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.nn.dropout import dropout

X = 3.0 * jnp.ones((200, 200))


class Drop(nn.Module):
    """Two dropouts in a row of modules, as two layers have them."""

    def setup(self):
        self.first, self.second = Layer(), Layer()

    def __call__(self, x, rate):
        return self.first(x, rate), self.second(x, rate)


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x, rate):
        return dropout(self, x, rate)


@jax.jit
def dropped(rate, seed):
    return Drop().apply({}, X, rate, rngs={"dropout": jax.random.key(seed)})


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_what_is_kept_is_scaled_so_that_the_mean_stays(rate):
    y = np.asarray(dropped(rate, 0)[0])
    assert abs((y == 0).mean() - rate) < 0.01
    np.testing.assert_allclose(y[y != 0], 3.0 / (1 - rate), rtol=1e-5)


def test_all_rates_share_one_program():
    dropped(0.1, 0)
    before = dropped._cache_size()
    dropped(0.2, 1)
    assert dropped._cache_size() == before


def test_masks_differ_between_layers_and_keys_and_repeat_with_the_key():
    first, second = dropped(0.5, 0)
    assert (first != second).any()
    assert (first != dropped(0.5, 1)[0]).any()
    np.testing.assert_array_equal(first, dropped(0.5, 0)[0])


def test_rate_zero_and_no_rate_change_nothing():
    np.testing.assert_array_equal(dropped(0.0, 0)[0], X)
    y = Layer().apply({}, X, None)  # needs no key
    assert y is X


def test_the_dtype_is_kept():
    x = X.astype(jnp.bfloat16)
    y = Layer().apply({}, x, jnp.float32(0.5), rngs={"dropout": jax.random.key(0)})
    assert y.dtype == jnp.bfloat16
