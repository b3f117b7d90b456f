"""Embedding: its scale, its limit, and what padding may hold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.nn.embedding import Embedding, Unembedding

TABLE = Embedding(vocabulary=8, width=4)
PARAMS = TABLE.init(jax.random.key(0), jnp.zeros((1, 1), jnp.int32), jnp.ones((1, 1), bool))
ROWS = PARAMS["params"]["table"]
LOOK = jax.jit(TABLE.apply)


def tokens(*ids):
    return jnp.array([ids], jnp.int32)


def mask(*real):
    return jnp.array([real], bool)


def test_rows_are_scaled_by_the_root_of_the_width():
    x = LOOK(PARAMS, tokens(3, 0), mask(1, 1))
    np.testing.assert_allclose(x[0], 2.0 * ROWS[jnp.array([3, 0])], rtol=1e-6)


def test_inputs_have_unit_variance():
    wide = Embedding(500, 64)
    params = wide.init(jax.random.key(0), tokens(0), mask(1))
    x = wide.apply(params, jnp.arange(500)[None], jnp.ones((1, 500), bool))
    assert abs(float(x.var()) - 1) < 0.05


def test_tied_logits_read_the_same_table():
    x = jnp.ones((1, 1, 4))
    logits = TABLE.apply(PARAMS, x, method=TABLE.logits)
    np.testing.assert_allclose(logits[0, 0], ROWS.sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("bad", [8, 100, -1])
def test_a_token_outside_the_vocabulary_is_an_error_and_in_a_program_nan(bad):
    with pytest.raises(ValueError, match=f"token id {bad} is out of range.*0 to 7"):
        TABLE.apply(PARAMS, tokens(1, bad), mask(1, 1))
    x = LOOK(PARAMS, tokens(1, bad), mask(1, 1))
    assert np.isfinite(x[0, 0]).all()
    assert np.isnan(x[0, 1]).all()
    mapped = jax.vmap(lambda ids: TABLE.apply(PARAMS, ids, mask(1, 1)))
    assert np.isnan(mapped(jnp.stack([tokens(0, 1), tokens(bad, 1)]))[1, 0, 0]).all()


@pytest.mark.parametrize("noise", [-5, 8, 10**6])
def test_padding_may_hold_any_id(noise):
    for look in (LOOK, TABLE.apply):
        x = look(PARAMS, tokens(1, noise), mask(1, 0))
        assert np.isfinite(x).all()


def test_logits_of_half_precision_are_float32():
    x = jnp.ones((1, 2, 4), jnp.bfloat16)
    head = Unembedding(8)
    params = head.init(jax.random.key(0), x)
    assert head.apply(params, x).dtype == jnp.float32
    assert TABLE.apply(PARAMS, x, method=TABLE.logits).dtype == jnp.float32
