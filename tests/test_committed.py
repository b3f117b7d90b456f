"""Committed results belong to the committed configs and come from committed code."""

from pathlib import Path

import pytest

from seqlab.report.collect import load
from seqlab.sweep.plan import ids

ROOT = Path(__file__).parents[1]
RESULTS = sorted((ROOT / "experiments").glob("*/results.csv"))


def test_there_are_results():
    assert {path.parent.name for path in RESULTS} >= {"pre_vs_post_ln", "position_encodings"}


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.parent.name)
def test_committed_results_are_not_stale(path):
    results = load(path)
    assert list(results["id"]) == ids(str(ROOT / "configs" / f"{path.parent.name}.py"))
    assert not results["dirty"].any()
    assert (results["state"] == "done").all()
    assert (results["commit"] != "").all()
