"""The made-up experiments, run once."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def _runs(tmp_path_factory):
    import experiment

    root = tmp_path_factory.mktemp("experiment")
    experiment.trained(root)
    return root


@pytest.fixture(scope="session")
def _compared_runs(tmp_path_factory):
    import compared

    root = tmp_path_factory.mktemp("compared")
    compared.trained(root)
    return root


@pytest.fixture
def workdir(_runs, tmp_path):
    """A directory with the runs of the made-up experiment and no report yet."""
    shutil.copytree(_runs, tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def compared_runs(_compared_runs, tmp_path):
    """A directory with the runs of the made-up systems and no report yet."""
    shutil.copytree(_compared_runs, tmp_path / "work")
    return tmp_path / "work"
