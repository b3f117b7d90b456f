"""Where a result came from: commit, versions, devices, command."""

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


def describe() -> dict[str, Any]:
    """commit (None outside a git work tree), dirty, time (UTC), command, versions, devices."""
    import jax  # the plan and the report need no devices

    devices = jax.devices()
    commit, dirty = code_state(Path(__file__).parents[3])
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["python", *sys.argv]),
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "devices": [device.device_kind for device in devices],
        "versions": {name: _version(name) for name in PACKAGES},
    }


def code_state(root: Path) -> tuple[str | None, bool | None]:
    """The commit that the code under `root` is at, and whether it differs from it."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None, None
    changes = _git(root, "status", "--porcelain", "--", *CODE)
    return commit, changes != ""


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
