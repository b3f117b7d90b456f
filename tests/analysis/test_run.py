"""A finished run, opened elsewhere from its directory alone."""

import importlib.metadata
import json
import pickle
import shutil
import sys
import warnings

import numpy as np
import pytest

from seqlab import load_run
from seqlab.analysis.generation import Hypothesis
from seqlab.build import ConfigError
from toys import config, pair, python, train

TEXTS = ["a b", "c", "b d a"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """An encoder-decoder, trained a little, with two checkpoints of which the first is the best."""
    path = tmp_path_factory.mktemp("runs") / "run"
    options = pair(train__keep=0, train__steps=6, train__lr=3e-3)
    return train(options, path).path


@pytest.fixture(scope="module")
def opened(directory):
    return load_run(directory)


def quietly(run, texts):
    """Predictions of a model that has not learnt to end in time, of which it warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.predict(texts)


def test_it_holds_what_the_directory_says(directory, opened):
    assert opened.config == pair(train__keep=0, train__steps=6, train__lr=3e-3)
    assert opened.path == directory
    assert set(opened.metrics["valid/loss"]) == {3, 6}
    assert opened.status["step"] == 6
    assert "exact" in opened.conventions
    assert repr(opened) == f"Run({str(directory)!r}, step {opened.step})"


def test_the_best_checkpoint_is_read_unless_another_is_asked_for(directory, opened):
    losses = opened.metrics["valid/loss"]
    assert opened.step == min(losses, key=losses.get)
    first = load_run(directory, step=3)
    assert first.step == 3
    tables = [run.params["decoder"]["embedding"]["table"] for run in (first, opened)]
    assert np.abs(tables[0] - tables[1]).max() > 0 or opened.step == 3
    with pytest.raises(FileNotFoundError, match=r"no checkpoint of step 4 .*\[3, 6\]"):
        load_run(directory, step=4)


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
import seqlab
run = seqlab.load_run(sys.argv[1])
print(run.step, run.predict(["a b", "c", "b d a"]))
"""


def test_a_fresh_process_in_another_directory_predicts_the_same(directory, opened, tmp_path):
    moved = tmp_path / "moved here"
    shutil.copytree(directory, moved)
    before = contents(moved)
    for path in [*moved.rglob("*"), moved]:
        path.chmod(path.stat().st_mode & ~0o222)
    found = python("-c", SCRIPT, str(moved), cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == f"{opened.step} {quietly(opened, TEXTS)}"
    assert contents(moved) == before
    for path in [moved, *moved.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


def contents(root):
    """Every file with its time of change: reading a run writes nothing."""
    return {path: path.stat().st_mtime_ns for path in root.rglob("*")}


def test_lines_in_are_lines_out(opened):
    alone = [quietly(opened, [text])[0] for text in TEXTS]
    texts = ["a b", "", "c", "   ", "b d a", ""]
    assert quietly(opened, texts) == [alone[0], "", alone[1], "", alone[2], ""]
    assert opened.predict([]) == []
    assert opened.predict([""]) == [""]


def test_a_long_text_is_cut_with_a_warning_that_names_it(opened):
    texts = ["", "a", "a b c d a b c d a b"]
    with pytest.warns(UserWarning) as caught:
        found = opened.predict(texts)
    assert len(found) == 3
    messages = [str(each.message) for each in caught]
    assert any("line 3 has 11 tokens, only the first 7 are read" in text for text in messages)


def test_outputs_without_an_end_are_named(opened, monkeypatch):
    texts, cut = ["a", "", "b", "c"], {0: False, 1: True, 2: True, 3: True}
    stub = {n: [Hypothesis("wxyz"[n], 0.0, (), cut[n])] for n in cut}
    monkeypatch.setattr("seqlab.analysis.run.generate", lambda *arguments: stub)
    with pytest.warns(
        UserWarning, match=r"outputs \[3, 4\] have no end within decode.max_length = 6"
    ):
        assert opened.predict(texts) == ["w", "", "y", "z"]


def test_a_single_text_is_a_mistake(opened):
    with pytest.raises(TypeError, match="list of texts"):
        opened.predict("a b")


def test_nothing_is_unpickled(directory, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("unpickled")

    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    quietly(load_run(directory), TEXTS)


def test_no_run_is_found_where_there_is_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="no run directory"):
        load_run(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


STRANGER = """
import dataclasses
from pathlib import Path
from seqlab.positions.base import Position

(Path(__file__).parent / "imported").touch()

@dataclasses.dataclass(frozen=True)
class Mine(Position):
    def acts_on_input(self):
        return True
"""


@pytest.fixture
def stranger(directory, tmp_path, monkeypatch):
    """A run that names a part of a module which is not seqlab's."""
    (tmp_path / "stranger_lab.py").write_text(STRANGER)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "run"
    shutil.copytree(directory, path)
    stored = json.loads((path / "config.json").read_text())
    stored["model"]["position"] = "stranger_lab.Mine"
    (path / "config.json").write_text(json.dumps(stored))
    yield path
    sys.modules.pop("stranger_lab", None)


def test_code_of_strangers_is_not_imported_unless_trusted(stranger):
    imported = stranger.parent / "imported"
    for trusted in ((), ("stranger",), ("lab",)):
        with pytest.raises(
            ConfigError, match=r"code outside seqlab \(stranger_lab\); pass trusted"
        ):
            load_run(stranger, trusted=trusted)
    assert not imported.exists()
    run = load_run(stranger, trusted=("stranger_lab",))
    assert imported.exists()
    quietly(run, TEXTS)


@pytest.mark.parametrize("key", ["task", "model"])
def test_neither_is_a_task_or_a_model(directory, tmp_path, key):
    path = tmp_path / "run"
    shutil.copytree(directory, path)
    stored = json.loads((path / "config.json").read_text())
    stored[key]["kind"] = "antigravity.Model"
    (path / "config.json").write_text(json.dumps(stored))
    with pytest.raises(ConfigError, match="antigravity"):
        load_run(path)
    assert "antigravity" not in sys.modules


def test_a_newer_format_is_refused(directory, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(directory, path)
    status = json.loads((path / "status.json").read_text())
    (path / "status.json").write_text(json.dumps(status | {"format": 99}))
    with pytest.raises(ConfigError, match="format 99 is newer"):
        load_run(path)


def test_another_run_may_start_from_its_weights(directory, opened, tmp_path):
    options = pair(init_from=str(directory), train__steps=1, train__lr=0.0)
    started = load_run(train(options, tmp_path / "next").path)
    old, new = (run.params["decoder"]["embedding"]["table"] for run in (opened, started))
    np.testing.assert_array_equal(old, new)
    with pytest.raises(ConfigError, match=r"init_from: .*nowhere"):
        train(config(init_from=str(tmp_path / "nowhere")), tmp_path / "other")


@pytest.mark.filterwarnings("ignore:outputs")
def test_predict_takes_decoding_options(opened):
    greedy = opened.predict(TEXTS)
    assert opened.predict(TEXTS, method="beam", beam=1) == greedy
    assert len(opened.predict(TEXTS, method="beam", beam=3, length_penalty="gnmt:0.6")) == 3
    with pytest.raises(ConfigError, match=r"decode\.beams.*did you mean"):
        opened.predict(TEXTS, beams=3)


def test_other_versions_of_jax_and_flax_are_told(directory, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(directory, path)
    here = importlib.metadata.version("flax")
    versions = {"jax": importlib.metadata.version("jax") + ".1", "flax": "0.2.0"}
    (path / "environment.json").write_text(json.dumps({"versions": versions}))
    with pytest.warns(UserWarning) as caught:
        load_run(path)
    [message] = [str(each.message) for each in caught]
    assert message.startswith(f"the run was trained with flax 0.2.0, {here} is installed")
