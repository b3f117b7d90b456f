"""Score functions against their formulas; weights and their controls."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError, build
from seqlab.nn.weights import Shuffled, Softmax, Uniform

B, T, S, H, G, Q, K = 2, 3, 4, 4, 2, 6, 5
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return jnp.asarray(RANDOM.normal(size=shape).astype(np.float32))


QUERIES, KEYS = normal(B, T, H, Q), normal(B, S, G, K)
EQUAL = normal(B, S, G, Q)  # as wide as the queries


def formula(name, p, q, k, head):
    """One query and one key."""
    group = head // (H // G)
    if name == "Dot":
        return q @ k
    if name == "ScaledDot":
        return q @ k / np.sqrt(Q)
    if name == "General":
        return q @ (p["kernel"][group].T @ k)
    if name == "Additive":
        hidden = np.tanh(p["query"][head].T @ q + p["key"][group].T @ k)
    else:
        hidden = np.tanh(p["kernel"][group].T @ np.concatenate([q, k]))
    return p["vector"][head] @ hidden


@pytest.mark.parametrize("name", ["Dot", "ScaledDot", "General", "Additive", "Concat"])
def test_a_score_is_its_formula(name):
    score = build(f"nn.scores.{name}", "test")
    keys = EQUAL if name in ("Dot", "ScaledDot") else KEYS
    specs = score.specs(H, G, Q, keys.shape[-1])
    p = {key: normal(*shape) for key, (_, shape) in specs.items()}
    found = jax.jit(lambda q, k: score(p, q, score.keys(p, k)))(QUERIES, keys)
    assert found.shape == (B, H, T, S)
    for b, h, t, s in np.ndindex(*found.shape):
        expected = formula(name, p, QUERIES[b, t, h], keys[b, s, h // (H // G)], h)
        np.testing.assert_allclose(found[b, h, t, s], expected, rtol=1e-4, atol=1e-5)


def test_concat_is_additive_with_its_matrix_cut():
    additive, concat = build("nn.scores.Additive", "t"), build("nn.scores.Concat", "t")
    specs = concat.specs(G, G, Q, K)
    p = {key: normal(*shape) for key, (_, shape) in specs.items()}
    cut = {"query": p["kernel"][:, :Q], "key": p["kernel"][:, Q:], "vector": p["vector"]}
    queries = QUERIES[:, :, :G]
    np.testing.assert_allclose(
        concat(p, queries, concat.keys(p, KEYS)),
        additive(cut, queries, additive.keys(cut, KEYS)),
        atol=1e-5,
    )


@pytest.mark.parametrize("name", ["Dot", "ScaledDot"])
def test_a_product_needs_equal_widths(name):
    with pytest.raises(ConfigError, match=r"got 6 and 5; use nn\.scores\.General"):
        build(f"nn.scores.{name}", "test").specs(H, G, Q, K)


SCORES = normal(B, 1, T, 5)
MASK = jnp.array([[1, 1, 0, 1, 1], [0, 0, 0, 0, 0]], bool)[:, None, None]


def test_uniform_ignores_the_scores():
    weights = np.asarray(Uniform()(SCORES, MASK))
    np.testing.assert_allclose(weights[0], np.broadcast_to([0.25, 0.25, 0, 0.25, 0.25], (1, T, 5)))
    assert not weights[1].any()


def test_shuffled_deals_the_same_weights_out_anew():
    weights, plain = Shuffled()(SCORES, MASK), Softmax()(SCORES, MASK)
    np.testing.assert_allclose(np.sort(weights), np.sort(plain), atol=1e-7)
    assert np.all(np.asarray(weights)[0, :, :, 2] == 0.0)
    assert not np.asarray(weights)[1].any()
    assert np.abs(weights - plain).max() > 0.1
    assert np.abs(Shuffled(seed=1)(SCORES, MASK) - weights).max() > 0.1
    np.testing.assert_array_equal(weights, Shuffled()(SCORES, MASK))
