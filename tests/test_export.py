"""A run without what only training needs."""

import json
import warnings

import jax
import numpy as np
import pytest

from made import made
from seqlab import load_run
from seqlab.build import ConfigError
from seqlab.export import export, main, size
from seqlab.train.initial import initial_params
from toys import pair, python, train

TEXTS = ["a b", "c", "b d a"]
pytestmark = pytest.mark.filterwarnings("ignore:outputs")


@pytest.fixture(scope="module", autouse=True)
def usual_promotion():
    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return made(pair(), tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(scope="module")
def exported(directory):
    export(load_run(directory), directory.parent / "small")
    return directory.parent / "small"


def test_it_loads_and_predicts_the_same(directory, exported):
    before, after = load_run(directory), load_run(exported)
    assert after.predict(TEXTS) == before.predict(TEXTS)
    assert (after.config, after.status, after.metrics) == (
        before.config,
        before.status,
        before.metrics,
    )
    assert (after.step, after.environment) == (before.step, before.environment)
    for old, new in zip(jax.tree.leaves(before.params), jax.tree.leaves(after.params), strict=True):
        np.testing.assert_array_equal(old, new)


def test_it_is_smaller_and_has_no_state_of_training(directory, exported):
    assert size(exported) < 0.6 * size(directory)
    assert [path.name for path in (exported / "checkpoints").iterdir()] == ["4"]
    assert not (exported / "checkpoints" / "4" / "training").exists()
    marks = [path.read_text() for path in exported.rglob("commit_success.txt")]
    assert marks and not any(str(exported.parent) in text for text in marks)
    lines = (exported / "predictions" / "test.jsonl").read_text().split("\n")[:-1]
    assert len(lines) == 50
    whole = (directory / "predictions" / "test.jsonl").read_text().split("\n")
    assert lines == whole[:50]
    assert json.loads(lines[0])["index"] == 0


def test_a_run_may_start_from_it_but_not_resume_there(exported):
    run = load_run(exported)
    for old, new in zip(
        jax.tree.leaves(run.params),
        jax.tree.leaves(initial_params(str(exported), run.params)),
        strict=True,
    ):
        np.testing.assert_array_equal(old, new)
    with pytest.raises(FileNotFoundError, match="holds weights alone"):
        train(run.config, exported)


def test_half_precision_is_kept_only_where_predictions_stay(directory, tmp_path, monkeypatch):
    run = load_run(directory)
    half = tmp_path / "half"
    main([str(directory), str(half), "--half"])
    assert load_run(half).predict(run.sources("valid")) == run.predict(run.sources("valid"))
    leaf = jax.tree.leaves(load_run(half).params)[0]
    assert leaf.dtype == np.float32
    np.testing.assert_array_equal(leaf, leaf.astype(jax.numpy.bfloat16).astype(np.float32))

    monkeypatch.setattr("seqlab.export.load_run", lambda *rest, **options: Wrong())
    with pytest.raises(ConfigError, match=r"--half changes 12 of 12 predictions"):
        export(run, tmp_path / "other", half=True)
    assert [path.name for path in tmp_path.iterdir()] == ["half"]


class Wrong:
    def predict(self, texts):
        return ["wrong"] * len(texts)


def test_the_command_prints_the_size_and_overwrites_nothing(directory, tmp_path):
    done = python("-m", "seqlab.export", str(directory), str(tmp_path / "small"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == [str(size(tmp_path / "small")), "bytes"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConfigError, match="small exists already"):
            main([str(directory), str(tmp_path / "small")])
