"""Small parts: ranges, activations, linear maps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.nn.feedforward import FeedForward
from seqlab.nn.linear import Linear
from seqlab.nn.range import check_range, poison


def test_the_range_error_names_the_value_and_the_limit():
    with pytest.raises(ValueError, match=r"slot 9 is out of range: the cache holds 0 to 7 \(8 in"):
        check_range(jnp.array([[3, 9]]), 8, "slot", "the cache")
    with pytest.raises(ValueError, match="-1"):
        check_range(jnp.array([[-1]]), 8, "slot", "the cache")


def test_what_the_mask_hides_is_in_range():
    check_range(jnp.array([[3, 9]]), 8, "slot", "the cache", jnp.array([[True, False]]))


def test_poison_marks_whole_rows():
    y = poison(jnp.ones((2, 3, 4)), jnp.array([True, False]))
    assert np.isfinite(y[0]).all()
    assert np.isnan(y[1]).all()


def test_a_misspelt_activation_is_named_with_the_nearest_one():
    with pytest.raises(ConfigError, match="'gelo' is unknown; did you mean `gelu`"):
        FeedForward(activation="gelo")


def test_a_linear_map_keeps_float32_parameters_and_the_dtype_of_its_input():
    x = jnp.ones((1, 2, 3), jnp.bfloat16)
    layer = Linear(5)
    params = layer.init(jax.random.key(0), x)
    assert layer.apply(params, x).dtype == jnp.bfloat16
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(params))
