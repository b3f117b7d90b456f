"""The stack: scanned = one by one = recomputed, and what its pattern may say."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.models.pattern import parse, runs
from seqlab.train.size import abstract_params, count, make_model
from toys import batch, config, model_of

ROWS = jax.tree.map(jnp.asarray, batch([9, 5, 1], 9))
HYBRID = {
    "model__mixers": {"a": "mixers.attention.MultiHead", "r": "mixers.gru.Gru"},
    "model__pattern": "r*2 a*3",
    "model__depth": 1,
}


@pytest.fixture(scope="module")
def hybrid():
    return model_of(config(**HYBRID))


def outputs(model, params):
    """Logits of the scanned stack and their gradient."""

    def loss(params):
        logits, _ = model.apply({"params": params}, ROWS.inputs, ROWS.mask)
        return jnp.sum(jnp.where(ROWS.mask[..., None], jnp.sin(logits), 0)), logits

    return jax.jit(jax.value_and_grad(loss, has_aux=True))(params)


def test_scanned_layers_equal_layers_one_by_one(hybrid):
    model, params = hybrid
    (_, scanned), _ = outputs(model, params)
    one_by_one, _ = jax.jit(
        lambda p, carry: model.apply({"params": p}, ROWS.inputs, ROWS.mask, carry=carry)
    )(params, model.init_carry(3, 9))
    np.testing.assert_allclose(scanned[0], one_by_one[0], atol=1e-5)
    np.testing.assert_allclose(scanned[1, :5], one_by_one[1, :5], atol=1e-5)


def test_a_run_of_equal_layers_is_stacked(hybrid):
    stack = hybrid[1]["decoder"]["stack"]
    assert {leaf.shape[0] for leaf in jax.tree.leaves(stack["run_0"])} == {2}
    assert {leaf.shape[0] for leaf in jax.tree.leaves(stack["run_1"])} == {3}
    assert "recurrent" in stack["run_0"]["r"]
    assert "query" in stack["run_1"]["a"]


def test_recomputing_changes_no_number(hybrid):
    model, params = hybrid
    (_, logits), gradient = outputs(model, params)
    remat, _ = model_of(config(train__remat=True, **HYBRID))
    (_, same), again = outputs(remat, params)
    np.testing.assert_allclose(logits, same, atol=1e-6)
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(again), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_a_layer_may_hold_a_mixer_twice_with_weights_of_its_own():
    params = abstract_params(make_model(config(model__pattern="a+a"), 11, 11))
    run = params["decoder"]["stack"]["run_0"]
    assert {"a", "a_2", "a_norm", "a_2_norm", "feedforward", "feedforward_norm"} == set(run)


@pytest.mark.parametrize(
    ("pattern", "layers"),
    [
        ("a", [("a",)]),
        ("a*3", [("a",)] * 3),
        ("r*2 a", [("r",), ("r",), ("a",)]),
        ("a+x*2", [("a", "x")] * 2),
    ],
)
def test_the_pattern_language(pattern, layers):
    assert parse(pattern, ["a", "r", "x"], "model.pattern") == tuple(layers)


def test_runs_count_equal_neighbours():
    assert runs(parse("a a*2 r a", ["a", "r"], "")) == ((("a",), 3), (("r",), 1), (("a",), 1))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "has no layer"),
        ("a*0", r"cannot read 'a\*0'"),
        ("a**2", "cannot read"),
        ("a+*2", "cannot read"),
        ("atn", "names the mixer 'atn'.*did you mean `attn`"),
    ],
)
def test_a_wrong_pattern_is_named(pattern, message):
    with pytest.raises(ConfigError, match=f"model.pattern: .*{message}"):
        parse(pattern, ["attn", "a"] if pattern != "atn" else ["attn"], "model.pattern")


def test_the_number_of_parameters_has_a_formula():
    """An LM of L layers of width D over V symbols, with tied embeddings and LayerNorms."""
    D, L, V = 16, 2, 11
    attention = 4 * (D * D + D)
    feedforward = D * 4 * D + 4 * D + 4 * D * D + D
    norms = 2 * 2 * D
    expected = V * D + L * (attention + feedforward + norms) + 2 * D
    assert count(abstract_params(make_model(config(), V, V))) == expected
    untied = config(model__tie_embeddings=False)
    assert count(abstract_params(make_model(untied, V, V))) == expected + V * D
    shared = config(model__position="positions.t5.T5")
    assert count(abstract_params(make_model(shared, V, V))) == expected + 32 * 2
    own = config(model__position={"kind": "positions.shaw.Shaw", "clip": 4})
    assert count(abstract_params(make_model(own, V, V))) == expected + L * 9 * (D // 2)
    few = config(model__kv_heads=1)
    assert count(abstract_params(make_model(few, V, V))) == expected - L * (D * D + D)
