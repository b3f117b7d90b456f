"""Where a result came from: commit and changes, versions, devices, command."""

import datetime
import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = ("jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "grain", "numpy")
# What can change a result. Reports and notes written by an experiment do not make it dirty.
CODE = ("src", "configs", "launch.py", "pyproject.toml", "constraints.txt")

ROOT = Path(__file__).parents[3]


def describe() -> dict[str, Any]:
    """What `origin` says, and python, platform, cpus, devices and versions of this process."""
    import jax  # the plan and the report need no devices

    devices = jax.devices()
    return origin() | {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "devices": [device.device_kind for device in devices],
        "versions": {name: _version(name) for name in PACKAGES},
    }


def origin() -> dict[str, Any]:
    """commit (None outside a git work tree), dirty, time (UTC), command, host; needs no JAX."""
    commit, dirty = code_state(ROOT)
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "command": shlex.join(["python", *sys.argv]),
        "commit": commit,
        "dirty": dirty,
    }


def code_state(root: Path) -> tuple[str | None, bool | None]:
    """The commit that the code under `root` is at, and whether it differs from it."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None, None
    changes = _git(root, "status", "--porcelain", "--", *CODE)
    return commit, changes != ""


def changes(root: Path = ROOT) -> str:
    """What makes the code under `root` dirty: a patch against its commit, and above it the names
    of new files, which the patch does not hold; "" where the code is that of the commit."""
    patch = _git(root, "diff", "--no-color", "--no-ext-diff", "HEAD", "--", *CODE)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "--", *CODE)
    lines = [f"# not in the commit: {name}" for name in (new or "").splitlines()]
    return "".join(f"{part}\n" for part in (*lines, patch) if part)


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
        return done.stdout.decode(errors="replace").rstrip("\n")
    except (OSError, subprocess.CalledProcessError):
        return None


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
