"""Skipping is failing."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_an_unlisted_skip_fails_the_session(tmp_path, workers):
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\ndef test_a(): pass\n\n@pytest.mark.skip\ndef test_b(): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "allowed_skips", *workers]

    def run(*which):
        return subprocess.run(
            [*command, *which],
            cwd=tmp_path,
            env={"PYTHONPATH": str(HERE), "PATH": ""},
            capture_output=True,
            text=True,
        )

    assert run("-k", "test_a").returncode == 0
    failed = run()
    assert failed.returncode == 1
    assert "test_it.py::test_b" in failed.stdout
