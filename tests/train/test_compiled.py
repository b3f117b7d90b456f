"""How often is a program compiled, and how large is it?"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.models.pattern import stack_runs
from seqlab.train.devices.mesh import Meshed
from seqlab.train.dispatch import Dispatches
from seqlab.train.evaluate import teacher_forced
from seqlab.train.hyper import Hyper
from seqlab.train.programs import _programs, programs
from seqlab.train.source import dataset_of
from seqlab.train.step import sums
from toys import COPY, batch, config, model_of

# Rows of 4, 6, 8 and 10 tokens, each in a bucket of its own; 42 of them, so that batches are cut.
TASK = {**COPY, "train_max": 4, "epoch_examples": 42, "valid_examples": 42}
LADDER = config(task=TASK, data__buckets=(4, 6, 8, 10), model__width=8, model__depth=1)


@pytest.fixture(scope="module")
def epoch():
    """An epoch of training and two evaluations: the programs, steps a bucket, losses, ..."""
    dataset = dataset_of(LADDER)
    shared = programs(LADDER, dataset.source_vocab, dataset.target_vocab)
    stream = dataset.train_stream()
    dispatches = Dispatches(stream, 2, shared.devices)
    hyper = Hyper.of(LADDER)
    state = shared.init(jax.random.key(0), hyper)
    done, seen = 0, {}
    while done < stream.per_epoch:
        batches, stacked = dispatches.next(min(2, stream.per_epoch - done))
        state, _ = shared.train(state, stacked, np.int32(len(batches)), hyper)
        done += len(batches)
        width = stacked.inputs.shape[-1]
        seen[width] = seen.get(width, 0) + len(batches)
    losses = [teacher_forced(shared, state.params, dataset, "valid") for _ in range(2)]
    stream.close()
    return shared, seen, losses, state, dataset


def test_a_ragged_epoch_compiles_once_a_bucket(epoch):
    shared, seen, _, _, _ = epoch
    assert set(seen) == {4, 6, 8, 10}
    assert min(seen.values()) >= 2  # a full and a cut batch each
    assert shared.train.count == 4
    assert shared.evaluate.count == 4
    assert shared.init.count == 1


def test_evaluation_is_weighted_by_tokens_whatever_the_batches(epoch):
    """42 rows in batches of 8, against all in one; the last batches are filled up."""
    shared, _, losses, state, dataset = epoch
    assert losses[0] == losses[1]
    nll = tokens = 0.0
    for _, rows in dataset.evaluation("valid", batch=64):
        total = jax.jit(functools.partial(sums, shared.model))(
            state.params, jax.tree.map(jnp.asarray, rows), 0.0, None, None
        )[1]
        nll, tokens = nll + float(total[1]), tokens + float(total[3])
    assert tokens == losses[0]["tokens"]
    np.testing.assert_allclose(losses[0]["loss"], nll / tokens, rtol=1e-6)


def test_three_steps_from_a_fresh_state_compile_once():
    """The second state has the types of the first: no weak ones."""
    options = config(model__width=8, model__depth=1, model__heads=1)
    shared = programs(options, 11, 11)
    hyper = Hyper.of(options)
    state = shared.init(jax.random.key(0), hyper)
    one = batch([9, 5], 10)
    stacked = Meshed().replicate(jax.tree.map(lambda a: a[None], one))
    for _ in range(3):
        state, _ = shared.train(state, stacked, np.int32(1), hyper)
    assert shared.train.count == 1


TRACED = {
    "seed": 5,
    "train__lr": 0.5,
    "train__warmup": 7,
    "train__steps": 99,
    "train__clip": 1.0,
    "train__weight_decay": 0.1,
    "train__label_smoothing": 0.1,
}


@pytest.mark.parametrize("key", TRACED)
def test_numbers_are_inputs_of_the_program(key):
    assert programs(config(**{key: TRACED[key]}), 11, 11) is programs(config(), 11, 11)


@pytest.mark.parametrize(
    ("key", "values"), [("model__dropout", (0.1, 0.3)), ("train__ema", (0.9, 0.99))]
)
def test_rates_are_inputs_once_they_are_on(key, values):
    first, second = (programs(config(**{key: value}), 11, 11) for value in values)
    assert first is second
    assert first is not programs(config(), 11, 11)


def test_what_changes_the_program_gets_its_own():
    others = [
        config(model__width=32),
        config(train__precision="bf16"),
        config(train__accumulate=2),
        config(train__schedule="cosine"),
        config(decode__max_length=9),
    ]
    assert len({id(programs(options, 11, 11)) for options in [config(), *others]}) == 6
    _programs.cache_clear()


def jaxpr_of_gradient(depth):
    options = config(model__depth=depth)
    model, params = model_of(options)
    rows = jax.tree.map(jnp.asarray, batch([5, 3], 6))

    def loss(params):
        return sums(model, params, rows, 0.0, None, None)[0]

    return str(jax.make_jaxpr(jax.grad(loss))(params)), params


def test_the_program_does_not_grow_with_depth():
    (small, _), (large, params) = jaxpr_of_gradient(2), jaxpr_of_gradient(24)
    assert len(large) < 2 * len(small)
    run = stack_runs(params["decoder"]["stack"])[0]
    assert {leaf.shape[0] for leaf in jax.tree.leaves(run)} == {24}
