"""Checkpoints: which are kept, which is chosen, and what they hold."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from seqlab.train.checkpoint import Checkpoints
from seqlab.train.state import TrainState


def state(step, value=None, ema=False):
    value = float(step) if value is None else value
    params = {"w": jnp.full((4, 2), value), "b": jnp.arange(2.0)}
    new = TrainState.create(params, optax.adam(0.1), jax.random.key(7), ema)
    return new.replace(step=jnp.int32(step))


def save(path, steps, scores=None, **options):
    """Save at these steps, with a score each; returns the closed checkpoints' directory."""
    checkpoints = Checkpoints(path, metric="valid/loss", **options)
    for index, step in enumerate(steps):
        metrics = {} if scores is None else {"valid/loss": scores[index], "valid/other": 1.0}
        checkpoints.save(state(step), {"stream": {"next": step}, "tokens": 1.5}, metrics)
    checkpoints.close()
    return path


def opened(path, direction="min"):
    return Checkpoints.read_only(path, "valid/loss", direction)


def test_the_latest_is_chosen_by_number(tmp_path):
    save(tmp_path / "c", [900, 9000, 10000], keep=0)
    checkpoints = opened(tmp_path / "c")
    assert checkpoints.steps() == [900, 9000, 10000]
    restored, data = checkpoints.restore(state(0))
    assert restored.step == 10000
    assert data == {"stream": {"next": 10000}, "tokens": 1.5}
    assert (restored.params["w"] == 10000).all()
    checkpoints.close()


def test_everything_comes_back_with_its_type(tmp_path):
    before = state(3, ema=True)
    checkpoints = Checkpoints(tmp_path / "c")
    checkpoints.save(before, {"stream": {}, "tokens": 0.0}, {})
    after, _ = checkpoints.restore(jax.tree.map(jnp.zeros_like, before))
    checkpoints.close()
    assert jax.tree.structure(before) == jax.tree.structure(after)
    for old, new in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        assert old.dtype == new.dtype
        np.testing.assert_array_equal(old, new)
    np.testing.assert_array_equal(
        jax.random.normal(after.step_key(), (3,)), jax.random.normal(before.step_key(), (3,))
    )


def test_a_missing_step_names_the_steps_there_are(tmp_path):
    save(tmp_path / "c", [2, 4], keep=0)
    checkpoints = opened(tmp_path / "c")
    for ask in (checkpoints.restore, checkpoints.weights):
        with pytest.raises(FileNotFoundError, match=r"no checkpoint of step 3 .*\[2, 4\]"):
            ask(state(0) if ask == checkpoints.restore else state(0).params, 3)
    checkpoints.close()


def test_a_missing_directory_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        opened(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_an_empty_directory_has_nothing_to_restore(tmp_path):
    checkpoints = Checkpoints(tmp_path / "c")
    assert checkpoints.steps() == []
    assert checkpoints.best_step() is None
    with pytest.raises(FileNotFoundError, match=r"there are: \[\]"):
        checkpoints.restore(state(0))
    checkpoints.close()


def test_the_same_step_twice_is_saved_once(tmp_path):
    """The periodic and the final save may fall on the same step."""
    save(tmp_path / "c", [5, 5], keep=0)
    checkpoints = opened(tmp_path / "c")
    assert checkpoints.steps() == [5]
    assert checkpoints.restore(state(0))[0].step == 5
    checkpoints.close()


@pytest.mark.parametrize(
    ("keep", "left"),
    [(1, [10, 40]), (2, [10, 30, 40]), (0, [10, 20, 30, 40]), (-1, [10, 20, 30, 40])],
)
def test_the_best_is_kept_beside_the_latest(tmp_path, keep, left):
    save(tmp_path / "c", [10, 20, 30, 40], [0.5, 0.9, 0.7, 0.8], keep=keep)
    checkpoints = opened(tmp_path / "c")
    assert checkpoints.steps() == left
    assert checkpoints.best_step() == 10
    weights, step = checkpoints.weights(state(0).params)
    assert step == 10
    assert (weights["w"] == 10).all()
    checkpoints.close()


def test_best_may_mean_highest_and_later_wins_a_tie(tmp_path):
    save(tmp_path / "c", [1, 2, 3], [0.9, 0.9, 0.1], keep=0, direction="max")
    checkpoints = opened(tmp_path / "c", "max")
    assert checkpoints.best_step() == 2
    checkpoints.close()


def test_without_scores_the_best_is_the_latest(tmp_path):
    save(tmp_path / "c", [1, 2], keep=0)
    checkpoints = opened(tmp_path / "c")
    assert checkpoints.best_step() == 2
    checkpoints.close()


@pytest.mark.parametrize("ema", [False, True])
def test_inference_reads_the_moving_average_where_there_is_one(tmp_path, ema):
    checkpoints = Checkpoints(tmp_path / "c")
    new = state(1, ema=ema)
    if ema:
        new = new.replace(ema=jax.tree.map(lambda p: p + 5, new.params))
    checkpoints.save(new, {"stream": {}, "tokens": 0.0}, {})
    weights, _ = checkpoints.weights(new.params)
    checkpoints.close()
    assert (weights["w"] == (6 if ema else 1)).all()


@pytest.mark.parametrize("path", ["runs/x", "./x", "~/x", "a b/x"])
def test_any_way_to_write_a_path(tmp_path, monkeypatch, path):
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    save(Path(path), [1])
    expected = home / "x" if path.startswith("~") else here / path
    assert (expected / "1").is_dir()
    assert not (here / "~").exists()


def test_training_goes_on_while_a_state_is_saved(tmp_path):
    """The saved buffers are donated to the next step at once."""
    step = jax.jit(
        lambda s: s.replace(step=s.step + 1, params=jax.tree.map(lambda p: p * 1.5, s.params)),
        donate_argnums=0,
    )
    # Copies: the parameters of a fresh state may not share buffers that are donated.
    now = jax.tree.map(jnp.copy, state(0, value=1.0))
    checkpoints = Checkpoints(tmp_path / "c", keep=0)
    recorded = {}
    for _ in range(6):
        now = step(now)
        if now.step % 2 == 0:
            recorded[int(now.step)] = np.array(now.params["w"])
            checkpoints.save(now, {"stream": {}, "tokens": 0.0}, {})
    checkpoints.wait()
    assert checkpoints.steps() == [2, 4, 6]
    for number, values in recorded.items():
        restored, _ = checkpoints.restore(state(0), number)
        np.testing.assert_array_equal(restored.params["w"], values)
    checkpoints.close()
