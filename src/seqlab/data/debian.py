"""Fetch a Debian package, to read a corpus out of it; nothing is installed.

`apt-get download` does the download (mirrors and proxies as the machine is set up) and checks the
archive's signature and hashes. The archive is kept beside the TFDS data sets.
"""

import dataclasses
import io
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from absl import logging

from seqlab.data.fetch import FetchError, verify

MAGIC = b"!<arch>\n"
HEADER = 60  # bytes before each member of an ar archive: name 16, times and rights 32, size 10, end


@dataclasses.dataclass(frozen=True)
class Package:
    """A Debian package that holds a corpus.

    version, sha256: where they are pinned; "" for a package that moves with security updates.
    """

    name: str
    version: str = ""
    sha256: str = ""

    @property
    def requirement(self) -> str:
        """The package as apt-get wants it."""
        return f"{self.name}={self.version}" if self.version else self.name

    @property
    def pattern(self) -> str:
        """Names of its archives: NAME_VERSION_ARCHITECTURE.deb, a colon of the version as %3a."""
        return f"{self.name}_{self.version.replace(':', '%3a') or '*'}_*.deb"


def fetch(package: Package, directory: str | Path) -> Path:
    """Path of the package's archive in `directory`, downloaded if it is not there.

    Raises FetchError, with the command to run by hand, when apt-get is missing or fails.
    """
    directory = Path(directory).expanduser()
    directory.mkdir(parents=True, exist_ok=True)
    archive = _newest(package, directory) or _download(package, directory)
    if package.sha256:
        verify(archive, package.sha256)
    return archive


def files(archive: Path, suffix: str) -> Iterator[tuple[str, bytes]]:
    """(path from the root, content) of the archive's files whose path ends in `suffix`.

    Raises FetchError for an archive that is broken or compressed by what this Python cannot read.
    """
    name, data = _data(archive)
    if name.endswith(".zst") and sys.version_info < (3, 14):
        raise FetchError(
            f"{archive} is compressed with zstd, which Python reads from 3.14 on; repack it:\n"
            f"  dpkg-deb -R {archive} unpacked && dpkg-deb -Zxz -b unpacked {archive}"
        )
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                if member.isfile() and member.name.endswith(suffix):
                    content = tar.extractfile(member)
                    assert content is not None  # a regular file
                    yield member.name.removeprefix("./"), content.read()
    except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise FetchError(f"{archive} is broken ({error}): delete it and try again") from None


def _data(archive: Path) -> tuple[str, bytes]:
    """Name and content of the archive's member data.tar.*."""
    raw = archive.read_bytes()
    start = len(MAGIC)
    while raw.startswith(MAGIC) and start + HEADER <= len(raw):
        header = raw[start : start + HEADER]
        name = header[:16].decode("ascii", "replace").rstrip(" /")
        size = header[48:58].strip()
        if not size.isdigit():
            break
        start += HEADER
        if name.startswith("data.tar"):
            return name, raw[start : start + int(size)]
        start += int(size) + int(size) % 2  # members start at even places
    raise FetchError(f"{archive} is no Debian package: delete it and try again")


def _newest(package: Package, directory: Path) -> Path | None:
    found = directory.glob(package.pattern)
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _download(package: Package, directory: Path) -> Path:
    if shutil.which("apt-get") is None:
        raise FetchError(_advice(package, directory, "no apt-get here, this is no Debian machine"))
    logging.info("fetching %s with apt-get", package.requirement)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        command = ["apt-get", "download", "--quiet", package.requirement]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        got = _newest(package, Path(scratch))
        if done.returncode or got is None:
            last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-3:])
            raise FetchError(_advice(package, directory, f"apt-get failed:\n{last}\n"))
        archive = directory / got.name
        got.replace(archive)  # atomic: another process sees the whole archive or none
    return archive


def _advice(package: Package, directory: Path, problem: str) -> str:
    return (
        f"cannot fetch the Debian package {package.requirement}: {problem}\n"
        "Where apt knows no such package its lists are missing or old: as root, apt-get update.\n"
        f"Or put {package.pattern} into {directory}, for example from a Debian machine:\n"
        f"  apt-get download {package.requirement}    (old versions: https://snapshot.debian.org)\n"
        "or choose another corpus with data.source (any TFDS name, a file of your own)."
    )
