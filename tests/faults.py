"""Places that cannot be written, made by whatever means this machine permits."""

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path


def mount(*arguments: str) -> bool:
    """Try to mount; only root may, and not in every container."""
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def unmount(path: Path) -> None:
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@contextlib.contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """A directory that cannot be written: mounted read-only over itself by root; by others, who do
    not pass over permissions, made so; where neither works, with a file in its place."""
    if os.geteuid() != 0:
        path.chmod(0o555)
        yield
        path.chmod(0o755)
    elif mount("--bind", str(path), str(path)):
        assert mount("-o", "remount,bind,ro", str(path))
        yield
        unmount(path)
    else:
        kept = path.rename(path.with_name("kept"))
        path.touch()
        yield
        path.unlink()
        kept.rename(path)


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[None]:
    """A whole tree without permission to write, on a read-only mount where that is permitted."""
    files = [path, *path.rglob("*")]
    for each in files:
        each.chmod(each.stat().st_mode & ~0o222)
    mounted = mount("--bind", str(path), str(path))
    if mounted:
        assert mount("-o", "remount,bind,ro", str(path))
    yield
    if mounted:
        unmount(path)
    for each in files:
        each.chmod(each.stat().st_mode | 0o200)


@contextlib.contextmanager
def small_disk(path: Path, size: str) -> Iterator[bool]:
    """`path` on a disk of its own of this size; yields False where that is not permitted."""
    path.mkdir()
    mounted = mount("-t", "tmpfs", "-o", f"size={size}", "seqlab-test", str(path))
    yield mounted
    if mounted:
        unmount(path)


def fill(path: Path) -> None:
    """Write a file until the disk is full."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def limit_files(process: subprocess.Popen, size: int) -> None:
    """From now on the process cannot write beyond this many bytes of any file."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
