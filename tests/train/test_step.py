"""One update: token weights over micro-batches and devices, moving average, precision."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from seqlab.train.hyper import Hyper
from seqlab.train.state import TrainState
from seqlab.train.step import Recipe, train_step
from toys import Markov, batch, config, model_of

SGD = {"name": "sgd", "b1": 0.9, "b2": 0.98, "eps": 1e-9, "momentum": 0.0}
ADAM = {**SGD, "name": "adamw"}
RAGGED = batch([1, 9, 2, 7, 3, 3, 8, 0], 9)


def step(model, params, data, options, accumulate=1, optimizer=SGD, ema=False):
    """The state after one update from `params`, and the metrics."""
    recipe = Recipe(optimizer, "constant", accumulate, ema)
    hyper = Hyper.of(options)
    chain = recipe.optimizer_for(hyper)
    state = TrainState.create(params, chain, jax.random.key(3), ema)
    return jax.jit(functools.partial(train_step, model, recipe))(state, data, hyper)


def two_rows(losses=(2.0, 1.0), counts=(1, 9)):
    """One row of 1 token with loss 2.0 and one of 9 with 1.0, and the table that gives them."""
    data = batch(list(counts), 9, vocabulary=4)
    row = np.array([[0], [1]], np.int32)
    data = data.replace(inputs=np.tile(row, 9), targets=np.tile(row, 9))
    p = np.exp(-np.array(losses))
    table = np.full((4, 4), 0.25)
    for index in range(2):
        table[index] = (1 - p[index]) / 3
        table[index, index] = p[index]
    return data, table_of(np.log(table))


def table_of(logits):
    return {"decoder": {"table": jnp.asarray(logits, jnp.float32)}}


@pytest.mark.parametrize("accumulate", [1, 2])
def test_every_token_counts_the_same(accumulate):
    data, params = two_rows()
    _, metrics = step(Markov(4), params, data, config(), accumulate)
    np.testing.assert_allclose(metrics["loss"], 1.1, rtol=1e-6)
    assert metrics["tokens"] == 10


@pytest.fixture(scope="module")
def model():
    options = config(model__depth=1, model__dropout=0.2, train__label_smoothing=0.1)
    return *model_of(options), options


@pytest.fixture(scope="module")
def sharded(model):
    """The update on 1, 2 and 4 devices, with dropout."""
    return {count: on_devices(count, *model) for count in (1, 2, 4)}


def on_devices(count, model, params, options):
    mesh = Mesh(np.array(jax.devices()[:count]), ("data",))
    data = jax.device_put(RAGGED, NamedSharding(mesh, PartitionSpec("data")))
    params = jax.device_put(params, NamedSharding(mesh, PartitionSpec()))
    return step(model, params, data, options)


def assert_same(first, second, tolerance=1e-6):
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance)


@pytest.mark.parametrize("count", [2, 4])
def test_devices_do_not_matter_to_the_loss_the_update_or_the_dropout(sharded, count):
    (one, losses), (many, others) = sharded[1], sharded[count]
    np.testing.assert_allclose(losses["loss"], others["loss"], atol=1e-6)
    assert_same(one.params, many.params)


@pytest.fixture(scope="module")
def micro(model):
    """The update over 1, 2, 4 and 8 micro-batches, without dropout (whose masks would differ)."""
    net, params, options = model
    plain = options | {"model": {**options["model"], "dropout": 0.0}}
    return {n: step(net, params, RAGGED, plain, n) for n in (1, 2, 4, 8)}


@pytest.mark.parametrize("accumulate", [2, 4, 8])
def test_micro_batches_do_not_matter(micro, accumulate):
    (one, losses), (many, others) = micro[1], micro[accumulate]
    for name in ("loss", "objective", "accuracy", "gradient_norm"):
        np.testing.assert_allclose(losses[name], others[name], atol=1e-6)
    assert_same(one.params, many.params)
    assert many.step == 1  # an update, whatever it was put together from


def test_padding_changes_nothing(model, micro):
    net, params, options = model
    plain = options | {"model": {**options["model"], "dropout": 0.0}}
    longer = batch([1, 9, 2, 7, 3, 3, 8, 0, 0], 12, seed=5)
    names = ("inputs", "targets")
    kept = {name: getattr(longer, name).copy() for name in names}
    for name in names:
        kept[name][:8, :9] = getattr(RAGGED, name)
    state, metrics = step(net, params, longer.replace(**kept), plain)
    np.testing.assert_allclose(metrics["loss"], micro[1][1]["loss"], atol=1e-6)
    assert_same(state.params, micro[1][0].params)


def test_rows_need_not_be_a_multiple_of_the_micro_batches():
    data, params = two_rows()
    odd = jax.tree.map(lambda a: np.concatenate([a, a[:1]]), data)
    (one, losses), (two, others) = (
        step(Markov(4), params, odd, config(), accumulate) for accumulate in (1, 2)
    )
    np.testing.assert_allclose(losses["loss"], others["loss"], rtol=1e-6)
    assert_same(one.params, two.params)


def test_smoothing_is_in_the_objective_not_in_the_loss(micro):
    metrics = micro[1][1]
    assert metrics["objective"] > metrics["loss"]


def test_the_moving_average_has_a_short_memory_at_first():
    data, params = two_rows()
    options = config(train__ema=0.99, train__lr=1.0)
    state, _ = step(Markov(4), params, data, options, ema=True)
    old, new, average = (tree["decoder"]["table"] for tree in (params, state.params, state.ema))
    assert np.abs(new - old).max() > 0.01
    np.testing.assert_allclose(average, 0.1 * old + 0.9 * new, rtol=1e-6)  # (0 + 1) / (0 + 10)


def test_bfloat16_computes_but_does_not_keep(model):
    _, params, _ = model
    options = config(model__depth=1, train__precision="bf16")
    net, _ = model_of(options)
    state, metrics = step(net, params, RAGGED, options, optimizer=ADAM)
    floats = [a for a in jax.tree.leaves(state) if jnp.issubdtype(a.dtype, jnp.floating)]
    assert floats
    assert {leaf.dtype for leaf in floats} == {jnp.dtype("float32")}
    assert metrics["loss"].dtype == jnp.float32
    text = str(
        jax.make_jaxpr(functools.partial(net.apply, {"params": params}))(RAGGED.inputs, RAGGED.mask)
    )
    assert "bf16[8,9,16]" in text


def test_a_step_that_is_not_finite_changes_nothing():
    data, params = two_rows()
    params = table_of(params["decoder"]["table"].at[1, 1].set(jnp.inf))
    state, metrics = step(Markov(4), params, data, config(), optimizer=ADAM)
    assert not metrics["finite"]
    assert state.step == 0
    assert_same(state.params, params, 0)
    assert not any(leaf.any() for leaf in jax.tree.leaves(state.opt_state))
