"""Debian packages: downloaded by apt-get, never installed, and errors that say what to do."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from seqlab.data import debian
from seqlab.data.debian import Package, fetch, files
from seqlab.data.fetch import FetchError

FREE = Package("corpus")
TEXTS = {"usr/share/corpus/a.txt": "ä one", "usr/share/corpus/b.html": "<p>", "usr/c.txt": "two"}


@pytest.fixture
def apt(monkeypatch):
    """apt(code, {name: content}): what the next calls of apt-get do; the list of the calls."""
    calls = []

    def make(code=0, archives=None):
        def run(command, cwd, **options):
            calls.append(command)
            for name, content in (archives or {}).items():
                (Path(cwd) / name).write_bytes(content)
            return subprocess.CompletedProcess(command, code, "", "W: root\nE: Unable to locate\n")

        monkeypatch.setattr(debian.subprocess, "run", run)
        monkeypatch.setattr(debian.shutil, "which", lambda name: f"/usr/bin/{name}")
        return calls

    return make


def test_a_package_without_a_version_is_fetched_once(apt, tmp_path):
    calls = apt(archives={"corpus_4%3a7.4-1_all.deb": b"content"})
    first = fetch(FREE, tmp_path / "down loads")
    assert first.read_bytes() == b"content"
    assert fetch(FREE, tmp_path / "down loads") == first
    assert calls == [["apt-get", "download", "--quiet", "corpus"]]
    assert [path.name for path in first.parent.iterdir()] == ["corpus_4%3a7.4-1_all.deb"]


def test_a_pinned_version_is_asked_for_and_checked(apt, tmp_path):
    digest = hashlib.sha256(b"content").hexdigest()
    pinned = Package("corpus", "4:7.4-1", digest)
    (tmp_path / "corpus_9_all.deb").write_bytes(b"another version")
    calls = apt(archives={"corpus_4%3a7.4-1_all.deb": b"content"})
    assert fetch(pinned, tmp_path).name == "corpus_4%3a7.4-1_all.deb"
    assert calls[0][-1] == "corpus=4:7.4-1"
    (tmp_path / "corpus_4%3a7.4-1_all.deb").write_bytes(b"changed")
    with pytest.raises(FetchError, match=r"has sha256 .* delete it and try again"):
        fetch(pinned, tmp_path)


def test_failure_tells_package_reason_command_and_what_else(apt, tmp_path):
    apt(code=100)
    with pytest.raises(FetchError) as failure:
        fetch(FREE, tmp_path)
    for part in (
        "Debian package corpus",
        "E: Unable to locate",
        "as root, apt-get update",
        f"put corpus_*_*.deb into {tmp_path}",
        "apt-get download corpus",
        "data.source",
    ):
        assert part in str(failure.value)
    assert not list(tmp_path.iterdir())


def test_another_machine_is_told_where_to_put_the_archive(monkeypatch, tmp_path):
    monkeypatch.setattr(debian.shutil, "which", lambda name: None)
    with pytest.raises(FetchError, match=r"no apt-get here, this is no Debian machine\n"):
        fetch(FREE, tmp_path)
    (tmp_path / "corpus_1_all.deb").write_bytes(b"content")
    assert fetch(FREE, tmp_path).read_bytes() == b"content"


@pytest.mark.parametrize("compression", ["xz", "gz", "bz2"])
def test_files_are_read_out_of_the_archive(make_deb, tmp_path, compression):
    archive = make_deb(tmp_path / "corpus_1_all.deb", TEXTS, compression)
    found = {name: content.decode() for name, content in files(archive, ".txt")}
    assert found == {name: text for name, text in TEXTS.items() if name.endswith(".txt")}


@pytest.mark.parametrize("kept", [0, 4, 50, 200, 300])
def test_a_broken_archive_is_named(make_deb, tmp_path, kept):
    archive = make_deb(tmp_path / "corpus_1_all.deb", TEXTS)
    archive.write_bytes(archive.read_bytes()[:kept])
    with pytest.raises(FetchError, match=r"(?s)corpus_1_all\.deb is .*: delete it and try again"):
        list(files(archive, ".txt"))


def test_a_compression_that_python_lacks_is_said(make_deb, monkeypatch, tmp_path):
    archive = make_deb(tmp_path / "corpus_1_all.deb", TEXTS)
    archive.write_bytes(archive.read_bytes().replace(b"data.tar.xz ", b"data.tar.zst"))
    monkeypatch.setattr(debian.sys, "version_info", (3, 13))
    with pytest.raises(FetchError, match=r"zstd, which Python reads from 3\.14 .*\n  dpkg-deb -R"):
        list(files(archive, ".txt"))


@pytest.mark.slow
def test_the_packages_of_these_tests_are_real_ones(make_deb, tmp_path):
    """As dpkg reads them; needs dpkg-deb."""
    archive = make_deb(tmp_path / "corpus_1_all.deb", TEXTS)
    command = ["dpkg-deb", "--fsys-tarfile", archive]
    assert b"usr/share/corpus/a.txt" in subprocess.check_output(command)
