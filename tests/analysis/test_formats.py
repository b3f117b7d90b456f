"""Runs of every format there has been must load for ever, and predict what they did."""

import json

import pytest

from seqlab import load_run
from toys import ROOT

# Old runs are of older versions.
pytestmark = pytest.mark.filterwarnings("ignore:the run was trained with")

RUNS = sorted((ROOT / "tests" / "fixtures").glob("run_v*"))


def test_there_is_one_of_each_format():
    from seqlab.train.directory import FORMAT_VERSION

    assert {path.name for path in RUNS} == {f"run_v{n}" for n in range(1, FORMAT_VERSION + 1)}


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_it_loads_and_predicts(path):
    expected = json.loads((path / "expected.json").read_text())
    run = load_run(path)
    assert run.step == expected["step"]
    assert run.predict(expected["texts"]) == expected["predictions"]
    assert run.metrics["valid/loss"]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_it_is_small(path):
    assert sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) < 200_000
