"""Checkpoints that are not what was saved: never read as if they were, never in the way."""

import gc
import logging
import shutil
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from seqlab.build import ConfigError
from seqlab.train.checkpoint import Checkpoints, SaveError
from seqlab.train.saved import MARK, SEAL, DamagedError
from seqlab.train.state import TrainState


def state(step):
    """One leaf is large enough for a file of its own and can hardly be compressed."""
    values = np.random.default_rng(step).normal(size=(64, 64)).astype(np.float32)
    params = {"w": jnp.asarray(values), "b": jnp.arange(2.0)}
    new = TrainState.create(params, optax.sgd(0.1, 0.9), jax.random.key(7), ema=False)
    return new.replace(step=jnp.int32(step))


def write(path, steps, scores=(), keep=0):
    checkpoints = Checkpoints(path, keep, "valid/loss")
    for index, step in enumerate(steps):
        found = {"valid/loss": scores[index]} if scores else {}
        checkpoints.save(state(step), {"stream": {"next": step}}, found)
    checkpoints.close()
    return path


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return write(tmp_path_factory.mktemp("saved") / "c", [10, 20], [0.1, 0.2])


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "c")


def cut(path, share):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def names(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def same(found, expected):
    leaves = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    return all(np.array_equal(old, new) for old, new in leaves)


def resumed(path):
    """What a run that goes on would start from: its state, and what is left."""
    checkpoints = Checkpoints(path, 0, "valid/loss")
    found, data = checkpoints.restore(state(0))
    left = checkpoints.steps()
    checkpoints.close()
    assert same(found, state(int(found.step)))
    assert data == {"stream": {"next": int(found.step)}}
    return int(found.step), left


@pytest.mark.filterwarnings("ignore:damaged checkpoints")  # of the score
@pytest.mark.parametrize("share", [0, 0.5])
def test_every_file_that_was_cut_off_makes_the_step_before_count(original, tmp_path, caplog, share):
    files = names(original / "20")
    assert len(files) > 12
    for number, name in enumerate(files):
        path = shutil.copytree(original, tmp_path / str(number))
        cut(path / "20" / name, share)
        with caplog.at_level(logging.WARNING, "seqlab"):
            caplog.clear()
            if name.endswith(MARK):  # says nothing of the state
                assert resumed(path) == (20, [10, 20]), name
                continue
            assert resumed(path) == (10, [10]), name
        [message] = [each.message for each in caplog.records if each.name == "seqlab"]
        assert f"step 20: {name}" in message
        assert "going on from step 10" in message
        assert names(path / "damaged-20") == files


@pytest.mark.parametrize("middle", [bytes(64), b"seqlab" * 10], ids=["zeros", "others"])
def test_bytes_that_changed_inside_a_file_are_noticed(original, copy, middle):
    """Orbax alone may give other weights back."""
    largest = max((original / "20").rglob("*"), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[5000 : 5000 + len(middle)] = middle
    (copy / largest.relative_to(original)).write_bytes(content)
    checkpoints = Checkpoints.read_only(copy, "valid/loss", "min")
    with pytest.raises(DamagedError, match=r"step 20: weights/.* is not what was saved"):
        checkpoints.weights(state(0).params, 20)
    assert resumed(copy) == (10, [10])


def test_a_missing_file_an_empty_step_and_a_half_written_one(original, copy, caplog):
    (copy / "20" / "training" / "_METADATA").unlink()
    (copy / "30").mkdir()
    (copy / "40.orbax-checkpoint-tmp" / "weights").mkdir(parents=True)
    assert resumed(copy) == (10, [10])
    assert "step 20: training/_METADATA is missing" in caplog.text
    assert "step 30: " in caplog.text
    write(copy, [20])
    assert {path.name for path in copy.iterdir()} == {"10", "20", "damaged-20", "damaged-30"}


@pytest.fixture
def unsealed(copy):
    """A copy without checksums. Orbax leaves a coroutine behind when it cannot load."""
    for step in ("10", "20"):
        (copy / step / SEAL).unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield copy
        gc.collect()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_checkpoint_without_checksums_is_damaged_where_it_cannot_be_loaded(unsealed):
    """As those that were saved before there were any."""
    assert resumed(unsealed) == (20, [10, 20])
    cut(unsealed / "20" / "training" / "manifest.ocdbt", 0.5)
    assert resumed(unsealed) == (10, [10])
    time.sleep(0.2)  # threads of Orbax that come too late complain of its closed event loop


@pytest.mark.filterwarnings("ignore:damaged checkpoints")  # of the score
def test_a_step_can_be_damaged_saved_again_and_damaged_again(copy):
    for name in ("damaged-20", "damaged-20-2"):
        cut(copy / "20" / SEAL, 0.5)
        assert resumed(copy) == (10, [10])
        assert (copy / name).is_dir()
        write(copy, [20], [0.05])
        assert resumed(copy) == (20, [10, 20])


@pytest.mark.filterwarnings("ignore:damaged checkpoints")  # of the score
def test_the_score_of_a_step_that_was_damaged_is_forgotten(copy):
    cut(copy / "10" / "_CHECKPOINT_METADATA", 0)
    cut(copy / "20" / "_CHECKPOINT_METADATA", 0)
    write(copy, [5, 30], [0.3, 0.2])
    cut(copy / "30" / "training" / "_METADATA", 0)
    checkpoints = Checkpoints(copy, 1, "valid/loss")
    assert checkpoints.best_step() == 30
    assert checkpoints.restore(state(0))[0].step == 5
    checkpoints.save(state(20), {"stream": {}}, {})
    checkpoints.save(state(30), {"stream": {}}, {})
    assert checkpoints.best_step() == 5
    checkpoints.save(state(40), {"stream": {}}, {})
    checkpoints.close()
    assert {path.name for path in copy.iterdir() if path.name.isdigit()} == {"5", "40"}


def test_without_any_that_can_be_read_nothing_is_touched(original, copy):
    for step in ("10", "20"):
        cut(copy / step / "weights" / "_METADATA", 0)
    before = names(copy)
    checkpoints = Checkpoints(copy, 1, "valid/loss")
    with pytest.raises(
        DamagedError, match=r"(?s)step 20: .*step 10: .*delete the directory to start"
    ):
        checkpoints.restore(state(0))
    with pytest.raises(
        DamagedError, match=r"(?s)step 10: .*step 20: .*delete the directory to start"
    ):
        checkpoints.weights(state(0).params)
    checkpoints.close()
    assert names(copy) == before == names(original)


def test_a_step_that_was_asked_for_is_never_replaced_by_another(copy):
    cut(copy / "20" / "weights" / "_METADATA", 0.5)
    checkpoints = Checkpoints.read_only(copy, "valid/loss", "min")
    with pytest.raises(DamagedError, match=r"step 20: weights/_METADATA, \d+ bytes now"):
        checkpoints.restore(state(0), 20)
    with pytest.raises(DamagedError, match=r"step 20: weights/_METADATA, \d+ bytes now"):
        checkpoints.weights(state(0).params, 20)
    assert checkpoints.steps() == [10, 20]


def test_inference_reads_the_next_best_and_moves_nothing(tmp_path):
    path = write(tmp_path / "c", [10, 20, 30, 40], [0.3, 0.1, 0.2, 0.9])
    cut(path / "20" / "weights" / "_METADATA", 0)
    before = names(path)
    checkpoints = Checkpoints.read_only(path, "valid/loss", "min")
    assert checkpoints.best_step() == 20
    with pytest.warns(UserWarning, match=r"step 20: weights/_METADATA.*; reading step 30"):
        weights, step = checkpoints.weights(state(0).params)
    assert step == 30
    assert same(weights, state(30).params)
    assert names(path) == before


def test_what_only_training_needs_does_not_matter_to_inference(copy):
    cut(copy / "10" / "training" / "_METADATA", 0)
    assert Checkpoints.read_only(copy, "valid/loss", "min").weights(state(0).params)[1] == 10


def test_a_lost_score_is_told_and_its_step_stays(tmp_path):
    path = write(tmp_path / "c", [10, 20, 30], [0.1, 0.2, 0.3])
    cut(path / "10" / "_CHECKPOINT_METADATA", 0.5)
    with pytest.warns(UserWarning, match=r"step 10: _CHECKPOINT_METADATA.*does not count as the"):
        checkpoints = Checkpoints(path, 1, "valid/loss")
    assert checkpoints.best_step() == 20
    checkpoints.save(state(40), {"stream": {}}, {"valid/loss": 0.4})
    checkpoints.close()
    assert sorted(p.name for p in path.iterdir()) == ["10", "20", "40"]


@pytest.mark.parametrize("keep", [1, 2])
def test_latest_and_best_stay_after_a_step_was_set_aside(tmp_path, keep):
    path = write(tmp_path / "c", [10, 20, 30, 40], [0.1, 0.3, 0.2, 0.05])
    cut(path / "40" / "weights" / "_METADATA", 0)
    checkpoints = Checkpoints(path, keep, "valid/loss")
    assert checkpoints.restore(state(0))[0].step == 30
    assert checkpoints.best_step() == 10
    for step, score in ((40, 0.4), (50, 0.5), (60, float("nan"))):
        checkpoints.save(state(step), {"stream": {}}, {"valid/loss": score})
    checkpoints.close()
    checkpoints = Checkpoints.read_only(path, "valid/loss", "min")
    assert checkpoints.steps() == ([10, 60] if keep == 1 else [10, 50, 60])
    assert checkpoints.best_step() == 10


def test_scores_of_older_checkpoints_count(copy):
    """They are in a file of Orbax's; opening fails where it is damaged, and says what to do."""
    (copy / "20" / "metrics").mkdir()
    for step, score in ((10, 0.5), (20, 0.4)):
        metadata = copy / str(step) / "_CHECKPOINT_METADATA"
        metadata.write_text(metadata.read_text().replace('"valid/loss"', '"other"'))
        (copy / str(step) / SEAL).unlink()
        (copy / str(step) / "metrics").mkdir(exist_ok=True)
        (copy / str(step) / "metrics" / "metrics").write_text(f'{{"valid/loss": {score}}}')
    assert Checkpoints.read_only(copy, "valid/loss", "min").best_step() == 20
    (copy / "20" / "metrics" / "metrics").write_text("")
    with pytest.raises(ConfigError, match=r"cannot be read: delete .*20/metrics"):
        Checkpoints.read_only(copy, "valid/loss", "min")


def test_a_directory_that_cannot_be_written_is_told_with_the_step(tmp_path):
    checkpoints = Checkpoints(tmp_path / "c")
    checkpoints.save(state(10), {"stream": {}}, {})
    checkpoints.wait()
    assert checkpoints.committed() == 10
    shutil.rmtree(tmp_path / "c")
    (tmp_path / "c").write_text("a file now")
    with pytest.raises(SaveError, match=r"step 20 could not be saved to .*/c: "):
        checkpoints.save(state(20), {"stream": {}}, {})
        checkpoints.wait()
    checkpoints.close()
