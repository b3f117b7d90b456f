"""Nothing out of range passes: an error that names the limit, or NaN in a compiled program.

NaN spreads over its whole row (its attention weight is 0, but 0 * NaN is NaN) and to no other row.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from toys import config, model_of

LEARNED = {"kind": "positions.learned.Learned", "max_length": 8}
TOKENS = jnp.asarray(np.random.default_rng(0).integers(0, 11, (2, 9), np.int32))
# The first row is one token too long, the second is not.
MASK = jnp.arange(9)[None] < jnp.array([9, 8])[:, None]


@pytest.fixture(scope="module")
def learned():
    return model_of(config(model__position=LEARNED, model__depth=1))


def logits(built, tokens, mask):
    model, params = built
    return model.apply({"params": params}, tokens, mask)[0]


def test_a_position_beyond_the_table(learned):
    with pytest.raises(ValueError, match=r"position 8 is out of range.* 0 to 7"):
        logits(learned, TOKENS, MASK)
    y = jax.jit(lambda t, m: logits(learned, t, m))(TOKENS, MASK)
    assert np.isnan(y[0, 8]).all()
    assert np.isfinite(y[1, :8]).all()


def test_a_position_beyond_the_table_under_vmap(learned):
    run = jax.jit(jax.vmap(lambda t, m: logits(learned, t[None], m[None])[0]))
    y = run(TOKENS, MASK)
    assert np.isnan(y[0, 8]).all()
    assert np.isfinite(y[1, :8]).all()


def test_padding_takes_no_position(learned):
    """Nine columns, eight real tokens: padded on the left they still fit."""
    mask = jnp.arange(9)[None] >= jnp.array([1, 2])[:, None]
    assert np.isfinite(logits(learned, TOKENS, mask)[:, 2:]).all()


@pytest.mark.parametrize("bad", [11, -1])
def test_a_token_outside_the_vocabulary(learned, bad):
    tokens = TOKENS.at[1, 3].set(bad)[:, :8]
    with pytest.raises(ValueError, match=f"token id {bad} is out of range: the vocabulary"):
        logits(learned, tokens, MASK[:, :8])
    y = jax.jit(lambda t: logits(learned, t, MASK[:, :8]))(tokens)
    assert np.isfinite(y[0]).all()
    assert np.isnan(y[1, 3:]).all()


@pytest.fixture(scope="module")
def full_cache():
    """A model, and its carry after eight tokens of the first row and seven of the second."""
    model, params = model_of(config(model__depth=1))
    lengths = jnp.array([8, 7])
    mask = jnp.arange(8)[None] < lengths[:, None]
    run = jax.jit(lambda t, m, c: model.apply({"params": params}, t, m, carry=c))
    _, carry = run(TOKENS[:, :8], mask, model.init_carry(2, 8))
    return model, params, carry


def test_a_ninth_token_in_a_cache_of_eight(full_cache):
    model, params, carry = full_cache
    one = TOKENS[:, :1], jnp.ones((2, 1), bool)
    with pytest.raises(ValueError, match=r"cache slot 8 is out of range.*capacity.* 0 to 7"):
        model.apply({"params": params}, *one, carry=carry)
    y, after = jax.jit(lambda t, m: model.apply({"params": params}, t, m, carry=carry))(*one)
    assert np.isnan(y[0]).all()
    assert np.isfinite(y[1]).all()
    before, later = carry.layers[0]["a"], after.layers[0]["a"]
    np.testing.assert_array_equal(before.keys[0], later.keys[0])  # the last slot is as it was


def test_a_ninth_token_in_a_cache_of_eight_under_vmap(full_cache):
    model, params, carry = full_cache

    def row(token, carry):
        carry = jax.tree.map(lambda a: a[None], carry)
        mask = jnp.ones((1, 1), bool)
        return model.apply({"params": params}, token[None], mask, carry=carry)[0]

    y = jax.jit(jax.vmap(row))(TOKENS[:, :1], carry)
    assert np.isnan(y[0]).all()
    assert np.isfinite(y[1]).all()
