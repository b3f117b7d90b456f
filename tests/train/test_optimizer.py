"""Optimizer chains in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from seqlab.build import ConfigError
from seqlab.train.hyper import Hyper
from seqlab.train.optimizer import matrices, optimizer
from seqlab.train.schedule import schedule
from toys import config

OPTIONS = {"name": "adamw", "b1": 0.9, "b2": 0.98, "eps": 1e-9, "momentum": 0.9}
PARAMS = {
    "table": jnp.full((3, 2), 2.0),
    "final_norm": {"scale": jnp.full(2, 2.0)},
    "stack": {
        "run_0": {
            "kernel": jnp.full((4, 2, 3), 2.0),  # 4 layers
            "bias": jnp.full((4, 3), 2.0),
            "norm": {"scale": jnp.full((4, 3), 2.0)},
        }
    },
}
GRADIENTS = jax.tree.map(lambda p: jnp.full(p.shape, 0.25), PARAMS)


def steps(count, gradients=GRADIENTS, params=PARAMS, name="adamw", **train):
    """The parameters after so many updates."""
    hyper = Hyper.of(config(**{f"train__{key}": value for key, value in train.items()}))
    chain = optimizer({**OPTIONS, "name": name}, schedule("constant"), hyper)
    state = chain.init(params)
    for _ in range(count):
        updates, state = chain.update(gradients, state, params)
        params = optax.apply_updates(params, updates)
    return params, state


def test_weight_decay_is_for_matrices_also_in_stacked_layers():
    assert matrices(PARAMS) == {
        "table": True,
        "final_norm": {"scale": False},
        "stack": {"run_0": {"kernel": True, "bias": False, "norm": {"scale": False}}},
    }


def test_the_first_step_of_adamw():
    """Bias correction makes it lr * sign(g), plus lr * decay * p for matrices."""
    params, _ = steps(1, lr=0.1, weight_decay=0.5)
    np.testing.assert_allclose(params["table"], 2 - 0.1 - 0.1 * 0.5 * 2, rtol=1e-6)
    np.testing.assert_allclose(params["stack"]["run_0"]["kernel"], 1.8, rtol=1e-6)
    np.testing.assert_allclose(params["stack"]["run_0"]["bias"], 1.9, rtol=1e-6)
    np.testing.assert_allclose(params["final_norm"]["scale"], 1.9, rtol=1e-6)


def test_adam_does_not_decay():
    params, _ = steps(1, name="adam", lr=0.1, weight_decay=0.5)
    np.testing.assert_allclose(params["table"], 1.9, rtol=1e-6)


def test_two_steps_of_momentum():
    params, _ = steps(2, name="sgd", lr=0.1)
    np.testing.assert_allclose(params["table"], 2 - 0.1 * 0.25 * (1 + 1.9), rtol=1e-6)


def test_warmup_acts_from_the_first_step():
    params, _ = steps(1, name="sgd", lr=1.0, warmup=4)
    np.testing.assert_allclose(params["table"], 2 - 0.25 * 0.25, rtol=1e-6)


@pytest.mark.parametrize(("clip", "factor"), [(0.0, 1.0), (100.0, 1.0), (0.5, None)])
def test_clipping_is_by_the_global_norm_and_off_at_zero(clip, factor):
    norm = float(optax.tree.norm(GRADIENTS))
    factor = clip / norm if factor is None else factor
    params, _ = steps(1, name="sgd", lr=1.0, clip=clip)
    np.testing.assert_allclose(params["table"], 2 - 0.25 * factor, rtol=1e-6)


def test_small_updates_add_up_in_float32():
    """In bfloat16 1.0 - 6e-4 is 1.0 again."""
    params, gradients = {"w": jnp.ones((1, 1))}, {"w": jnp.ones((1, 1))}
    params, state = steps(100, gradients, params, name="adam", lr=6e-4)
    np.testing.assert_allclose(params["w"], 0.94, rtol=1e-4)
    assert all(leaf.dtype != jnp.bfloat16 for leaf in jax.tree.leaves(state))


def test_a_misspelt_optimizer_is_named():
    with pytest.raises(ConfigError, match="'adamv' is unknown; did you mean `adam"):
        steps(1, name="adamv")
