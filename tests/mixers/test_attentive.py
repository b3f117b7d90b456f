"""Bahdanau and Luong attention, step by step in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import build
from seqlab.mixers.bahdanau import Bahdanau
from seqlab.mixers.luong import InputFeeding, Luong
from seqlab.mixers.rnn import Rnn
from seqlab.types import Memory, View

B, T, S, D = 2, 4, 3, 5
RANDOM = np.random.default_rng(0)
X = jnp.asarray(RANDOM.normal(size=(B, T, D)).astype(np.float32))
SOURCE = RANDOM.normal(size=(B, S, D)).astype(np.float32)
SEEN = np.array([[1, 1, 1], [1, 1, 0]], bool)
VIEW = View.of(jnp.ones((B, T), bool))
MEMORY = Memory(jnp.asarray(SOURCE), View.of(jnp.asarray(SEEN)))


def run(mixer):
    shapes = jax.eval_shape(lambda k: mixer.init(k, X, VIEW, memory=MEMORY), jax.random.key(0))
    params = jax.tree.map(
        lambda leaf: RANDOM.normal(size=leaf.shape).astype(np.float32) * 0.5, shapes["params"]
    )
    y, _ = jax.jit(lambda p: mixer.apply({"params": p}, X, VIEW, memory=MEMORY))(params)
    return np.asarray(y), params


def softmax(scores, seen):
    weights = np.where(seen, np.exp(scores), 0.0)
    return weights / weights.sum()


def linear(p, x):
    return x @ p["kernel"] + p["bias"]


def additive(p, query, source):
    query, keys = query @ p["score_query"][0], source @ p["score_key"][0]
    return np.tanh(query + keys) @ p["score_vector"][0]


def test_bahdanau_looks_before_it_steps():
    y, p = run(Bahdanau(width=D, cell=Rnn(D, parent=None)))
    for b in range(B):
        h = np.zeros(D)
        for t in range(T):
            context = softmax(additive(p, h, SOURCE[b]), SEEN[b]) @ SOURCE[b]
            inputs = np.concatenate([np.asarray(X[b, t]), context]) @ p["kernel"]
            h = np.tanh(inputs + p["bias"] + h @ p["recurrent"])
            expected = linear(p["out"], np.concatenate([h, context, np.asarray(X[b, t])]))
            np.testing.assert_allclose(y[b, t], expected, atol=1e-5)


def test_input_feeding_steps_before_it_looks_and_feeds_what_it_read():
    y, p = run(InputFeeding(width=D, cell=Rnn(D, parent=None)))
    for b in range(B):
        h = fed = np.zeros(D)
        for t in range(T):
            inputs = np.concatenate([np.asarray(X[b, t]), fed]) @ p["kernel"]
            h = np.tanh(inputs + p["bias"] + h @ p["recurrent"])
            context = softmax(SOURCE[b] @ h, SEEN[b]) @ SOURCE[b]
            fed = np.tanh(np.concatenate([context, h]) @ p["readout"])
            np.testing.assert_allclose(y[b, t], fed, atol=1e-5)


@pytest.mark.parametrize("score", ["Dot", "General", "Additive"])
def test_luong_reads_with_what_stands_below(score):
    y, p = run(Luong(width=D, score=build(f"nn.scores.{score}", "test")))
    for b, t in np.ndindex(B, T):
        query = np.asarray(X[b, t])
        if score == "Additive":
            scores = additive(p, query, SOURCE[b])
        elif score == "General":
            scores = SOURCE[b] @ p["score_kernel"][0] @ query
        else:
            scores = SOURCE[b] @ query
        context = softmax(scores, SEEN[b]) @ SOURCE[b]
        expected = np.tanh(linear(p["out"], np.concatenate([context, query])))
        np.testing.assert_allclose(y[b, t], expected, atol=1e-5)


def test_keys_are_scored_once_a_source():
    """Steps read the carry: its keys hold U k, and no step multiplies by U again."""
    mixer = Bahdanau(width=D, cell=Rnn(D, parent=None))
    _, drawn = run(mixer)
    p = jax.tree.map(jnp.asarray, drawn)
    carry = mixer.init_carry(B, 0, S)
    _, carry = mixer.apply({"params": p}, X[:, :1], View.of(VIEW.mask[:, :1]), carry, MEMORY)
    expected = SOURCE @ drawn["score_key"][0]
    np.testing.assert_allclose(carry.source.keys[:, :, 0], expected, atol=1e-5)
    other = {**p, "score_key": p["score_key"] * 7}
    one = View.of(VIEW.mask[:, 1:2])
    a, _ = mixer.apply({"params": p}, X[:, 1:2], one, carry)
    b, _ = mixer.apply({"params": other}, X[:, 1:2], one, carry)
    np.testing.assert_array_equal(a, b)
