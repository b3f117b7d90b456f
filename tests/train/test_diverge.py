"""A loss that is no number ends its run, names step and layer, and not the sweep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.sweep.plan import points
from seqlab.sweep.run import run
from seqlab.train.diagnose import first_nonfinite
from seqlab.train.directory import RunDirectory
from seqlab.train.loop import run as train
from seqlab.train.writer import history, read
from toys import batch, config, model_of, pair


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Two runs, of which the first diverges; their directories."""
    root = tmp_path_factory.mktemp("sweep")
    todo = points(config(train__keep=0), [{"train.lr": 1e30}, {"train.lr": 1e-3}])
    outcome = run(todo, root, train)
    return outcome, [RunDirectory.open(root / point.id) for point in todo]


def test_divergence_is_a_result_and_the_sweep_goes_on(sweep):
    outcome, (wild, tame) = sweep
    assert outcome.exit_status == 0
    assert len(outcome.trained) == 2
    assert wild.status["state"] == tame.status["state"] == "done"
    assert "diverged" not in tame.status
    assert tame.status["step"] == 6


def test_the_status_names_step_and_layer(sweep):
    _, (wild, _) = sweep
    diverged = wild.status["diverged"]
    assert 1 < diverged["step"] <= 6
    assert wild.status["step"] == diverged["step"] - 1
    assert diverged["layer"].startswith(("decoder layer", "logits", "gradient of", "parameters of"))


def test_the_metrics_end_in_nan(sweep):
    _, (wild, tame) = sweep
    step = wild.status["diverged"]["step"]
    losses = history(read(wild.metrics))["train/loss"]
    assert max(losses) == step
    assert np.isnan(losses[step])
    assert all(np.isfinite(value) for at, value in losses.items() if at < step)
    assert np.isfinite(list(history(read(tame.metrics))["train/loss"].values())).all()


def test_no_checkpoint_holds_what_is_not_finite(sweep):
    _, (wild, _) = sweep
    saved = [path for path in wild.checkpoints.iterdir() if path.name.isdigit()]
    assert all(int(path.name) < wild.status["diverged"]["step"] for path in saved)


ROWS = jax.tree.map(jnp.asarray, batch([9, 5, 0], 9))
SOURCE = jax.tree.map(jnp.asarray, batch([4, 6, 0], 6, seed=1))
PAIRS = ROWS.replace(source=SOURCE.inputs, source_mask=SOURCE.mask)


def broken(params, part, layer, **changes):
    """The parameters with whole leaves of one layer replaced: {"up.kernel": value}."""
    run = params[part]["stack"]["run_0"]
    for name, value in changes.items():
        *path, leaf = name.split("__")
        group = run
        for key in path:
            group = group[key]
        group[leaf] = group[leaf].at[layer - 1].set(value)
    return params


@pytest.fixture
def built():
    """An encoder-decoder whose parameters may be written to."""
    model, params = model_of(pair())
    return model, jax.tree.map(lambda a: a, params)


def test_a_finite_model_has_nothing_to_name(built):
    model, params = built
    assert "outside the layers" in first_nonfinite(model, params, PAIRS)


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_it_names_parameters(built, part):
    model, params = built
    params = broken(params, part, 1, feedforward__up__bias=jnp.nan)
    assert first_nonfinite(model, params, PAIRS) == f"parameters of {part}"


@pytest.mark.parametrize(("part", "layer"), [("encoder", 2), ("decoder", 1)])
def test_it_names_the_first_output(built, part, layer):
    model, params = built
    params = broken(params, part, layer, feedforward__down__kernel=3e38)
    assert first_nonfinite(model, params, PAIRS) == f"{part} layer {layer} output"


def test_it_names_logits(built):
    model, params = built
    params["decoder"]["stack"]["final_norm"]["scale"] *= 1e30
    params["decoder"]["embedding"]["table"] *= 1e15
    assert first_nonfinite(model, params, PAIRS) == "logits"


def test_it_names_the_gradient_nearest_to_the_loss(built):
    """Every output is finite; the gradient of `up`, 1e20 * 1e20, is not."""
    model, params = built
    params = broken(
        params,
        "decoder",
        2,
        feedforward_norm__scale=1e20,
        feedforward_norm__bias=0.0,
        feedforward__up__kernel=1e-37,
        feedforward__up__bias=1e-19,
        feedforward__down__kernel=jax.random.normal(jax.random.key(0), (64, 16)) * 1e19,
    )
    assert first_nonfinite(model, params, PAIRS) == "gradient of decoder layer 2"
