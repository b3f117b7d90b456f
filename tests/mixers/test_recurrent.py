"""Conventions of the recurrences: initialisation, reset gate, directions, states."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.mixers.gru import Gru
from seqlab.mixers.lstm import Lstm
from seqlab.mixers.recurrent import RecurrentCarry
from seqlab.mixers.rnn import Rnn
from seqlab.types import View

FULL = View.of(jnp.ones((1, 3), bool))


@pytest.mark.parametrize("cell", [Rnn, Lstm, Gru])
def test_each_gates_recurrent_matrix_starts_orthogonal(cell):
    mixer = cell(width=6)
    params = jax.jit(mixer.init)(jax.random.key(0), jnp.zeros((1, 3, 6)), FULL)["params"]
    blocks = np.split(np.asarray(params["recurrent"]), mixer.gates, axis=1)
    for block in blocks:
        np.testing.assert_allclose(block.T @ block, np.eye(6), atol=1e-5)
    assert all(np.abs(a - b).max() > 0.1 for a, b in itertools.pairwise(blocks))


@pytest.mark.parametrize(("option", "expected"), [({}, 1.0), ({"forget_bias": 3.0}, 3.0)])
def test_only_the_forget_gate_starts_with_a_bias(option, expected):
    mixer = Lstm(width=2, **option)
    params = jax.jit(mixer.init)(jax.random.key(0), jnp.zeros((1, 3, 2)), FULL)["params"]
    assert params["bias"].tolist() == [0, 0, expected, expected, 0, 0, 0, 0]


@pytest.mark.parametrize(("after", "expected"), [(True, 0.612970), (False, 0.626049)])
def test_where_the_gru_resets(after, expected):
    """Gates r, z, n of one unit; a candidate's biases .05 (input) and .3 (recurrent)."""
    params = {
        "kernel": jnp.array([[0.3, 0.4, 0.7]]),
        "recurrent": jnp.array([[0.2, -0.1, 0.6]]),
        # Before the product the two biases of the candidate are one.
        "bias": jnp.array([0.1, 0.2, 0.05 if after else 0.35]),
    }
    if after:
        params["inner_bias"] = jnp.array([0.3])
    mixer = Gru(width=1, reset_after=after)
    carry = RecurrentCarry({"h": jnp.full((1, 1), 0.5)}, jnp.zeros(1, jnp.int32))
    view = View.of(jnp.ones((1, 1), bool))
    y, _ = mixer.apply({"params": params}, jnp.ones((1, 1, 1)), view, carry)
    assert float(y[0, 0, 0]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("cell", [Rnn, Lstm, Gru])
def test_reverse_is_the_recurrence_on_the_reversed_sequence(cell):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, 4)).astype(np.float32))
    lengths = (5, 3)
    view = View.of(jnp.arange(5)[None] < jnp.array(lengths)[:, None])
    forward, backward = cell(width=4), cell(width=4, causal=False, reverse=True)
    params = jax.jit(forward.init)(jax.random.key(0), x, view)
    y, end = jax.jit(backward.apply)(params, x, view)
    turned = jnp.stack(
        [jnp.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(x, lengths, strict=True)]
    )
    z, last = jax.jit(forward.apply)(params, turned, view)
    for row, n in enumerate(lengths):
        np.testing.assert_allclose(y[row, :n], z[row, :n][::-1], atol=1e-6)
    np.testing.assert_allclose(end.state["h"], last.state["h"], atol=1e-6)


@pytest.mark.parametrize("cell", [Rnn, Lstm, Gru])
def test_both_directions_have_no_carry_to_go_on_from(cell):
    mixer = cell(width=4, bidirectional=True, causal=False)
    x = jnp.zeros((1, 3, 4))
    params = jax.jit(mixer.init)(jax.random.key(0), x, FULL)
    with pytest.raises(ValueError, match="bidirectional"):
        mixer.apply(params, x, FULL, mixer.init_carry(1, 3))
    with pytest.raises(ConfigError, match="causal"):
        cell(width=4, bidirectional=True).init(jax.random.key(0), x, FULL)
    with pytest.raises(ConfigError, match="even width"):
        cell(width=5, bidirectional=True, causal=False)


def test_states_stay_float32_under_bfloat16():
    mixer = Lstm(width=4)
    x = jnp.ones((1, 3, 4), jnp.bfloat16)
    params = jax.jit(mixer.init)(jax.random.key(0), x, FULL)
    y, carry = jax.jit(mixer.apply)(params, x, FULL)
    assert y.dtype == jnp.bfloat16
    assert {state.dtype for state in carry.state.values()} == {jnp.dtype(jnp.float32)}


@pytest.mark.parametrize("cell", [Rnn, Lstm, Gru])
def test_a_scan_equals_a_loop_over_single_steps(cell):
    mixer = cell(width=4)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, 4)), jnp.float32)
    view = View.of(jnp.ones((2, 5), bool))
    params = jax.jit(mixer.init)(jax.random.key(0), x, view)
    whole, last = jax.jit(mixer.apply)(params, x, view)
    step = jax.jit(mixer.apply)
    one, carry, outputs = View.of(jnp.ones((2, 1), bool)), mixer.init_carry(2, 0), []
    for t in range(5):
        y, carry = step(params, x[:, t : t + 1], one, carry)
        outputs.append(y)
    np.testing.assert_allclose(jnp.concatenate(outputs, axis=1), whole, atol=1e-6)
    for name in last.state:
        np.testing.assert_allclose(carry.state[name], last.state[name], atol=1e-6)
