"""The notebook runs from its first cell to its last, on a run that training left behind."""

import json

import jax
import nbformat
import pytest

from made import made
from seqlab import load_run
from seqlab.export import export
from toys import ROOT, pair, python

NOTEBOOK = ROOT / "experiments" / "colab.ipynb"
EXAMPLE = ROOT / "experiments" / "road" / "example_run"
SCRIPT = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def execute(tmp_path, **environment):
    """The executed code cells, by what stands in their source."""
    path = tmp_path / "executed.ipynb"
    done = python("-c", SCRIPT, str(NOTEBOOK), str(path), cwd=tmp_path, **environment)
    assert done.returncode == 0, done.stderr[-3000:]
    cells = nbformat.read(path, 4).cells
    return {cell.source: cell.outputs for cell in cells if cell.cell_type == "code"}


def shown(cells, source):
    """Everything that the cell with this text in its source showed, by MIME type."""
    [outputs] = [outputs for text, outputs in cells.items() if source in text]
    return {kind: value for output in outputs for kind, value in output.get("data", {}).items()}


def check(cells):
    assert "installed" in shown(cells, "environment[")["text/html"]
    assert "valid/loss" in shown(cells, 'loc["result"]')["text/html"]
    assert "image/png" in shown(cells, '"train/loss", "valid/loss"')
    assert "image/png" in shown(cells, "plot_attention")
    assert "step 10)" in shown(cells, "continue_training")["text/plain"]
    assert "init_from" in shown(cells, "run.compare(further)")["text/html"]
    assert "image/png" in shown(cells, "run.plot_curves(further")


@pytest.mark.slow
def test_it_runs_on_an_exported_run(tmp_path):
    with jax.numpy_dtype_promotion("standard"):
        path = made(pair(), tmp_path / "run")
        export(load_run(path), tmp_path / "exported")
    check(execute(tmp_path, SEQLAB_RUN=str(tmp_path / "exported")))


def test_it_runs_on_the_committed_run(tmp_path):
    assert sum(file.stat().st_size for file in EXAMPLE.rglob("*") if file.is_file()) <= 3_000_000
    check(execute(tmp_path))


def test_it_is_committed_without_outputs():
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    nbformat.validate(notebook)
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
