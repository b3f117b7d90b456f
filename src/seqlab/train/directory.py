"""A run directory: everything about one run, readable anywhere and without seqlab's code.

    config.json        the whole config: reloads equal
    environment.json   commits + dirty flag, versions, devices, command of every start
    status.json        {"state": pending | running | done | failed, "step", "traceback", ...}
    conventions.json   what the scores mean: BLEU signature, definition of PER
    metrics.jsonl      one JSON object a line (train/writer.py)
    predictions/       test.jsonl: what was generated at the last test (train/predictions.py)
    tokenizer/         what is needed to read and write text again
    checkpoints/       Orbax

Files are written whole or not at all, so that a kill leaves the old one.
"""

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError
from seqlab.config import defaults, flatten, from_json, to_json
from seqlab.train.environment import describe
from seqlab.train.fingerprint import differences

FORMAT_VERSION = 1
STATES = ("pending", "running", "done", "failed")


class RunDirectory:
    """One run's files. `open` reads an existing one, `create` makes it or continues it."""

    def __init__(self, path: str | Path):
        self.path = Path(path).expanduser().absolute()

    @classmethod
    def create(cls, path: str | Path, config: Mapping[str, Any]) -> "RunDirectory":
        """Make the directory, or continue the run of this very config that is in it.

        A config that differs only in keys that do not change results (train.steps raised, other
        workers) replaces the stored one. Raises ConfigError for a directory that holds anything
        else, naming the first key that differs.
        """
        run = cls(path)
        if run.config_path.exists():
            run._refuse_another(config)
        elif run.path.exists() and any(run.path.glob("[!.]*")):
            raise ConfigError(f"{run.path} is not empty and no run; choose another directory")
        run.path.mkdir(parents=True, exist_ok=True)
        write_atomically(run.config_path, to_json(config))
        if not run.status_path.exists():
            run.update(format=FORMAT_VERSION, state="pending", step=0)
        return run

    @classmethod
    def open(cls, path: str | Path) -> "RunDirectory":
        """An existing run. Raises FileNotFoundError, or ConfigError for an unknown format."""
        run = cls(path)
        if not run.config_path.is_file():
            raise FileNotFoundError(f"{run.path} is no run directory: it has no config.json")
        version = run.status.get("format", FORMAT_VERSION)
        if version > FORMAT_VERSION:
            raise ConfigError(
                f"{run.path}: format {version} is newer than this seqlab reads ({FORMAT_VERSION}); "
                "update seqlab"
            )
        return run

    @property
    def config_path(self) -> Path:
        return self.path / "config.json"

    @property
    def status_path(self) -> Path:
        return self.path / "status.json"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def predictions(self) -> Path:
        return self.path / "predictions" / "test.jsonl"

    @property
    def tokenizer(self) -> Path:
        return self.path / "tokenizer"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def config(self) -> dict[str, Any]:
        """The stored config, equal to the one that was given."""
        return from_json(self.config_path.read_text("utf-8"))

    @property
    def status(self) -> dict[str, Any]:
        """{"state", "step", ...}; {"state": "pending", "step": 0} before the first write."""
        return self._read(self.status_path) or {"state": "pending", "step": 0}

    @property
    def environment(self) -> dict[str, Any]:
        return self._read(self.path / "environment.json")

    @property
    def conventions(self) -> dict[str, str]:
        """What the scores mean, as the task states it; {} before training wrote it."""
        return self._read(self.path / "conventions.json")

    @conventions.setter
    def conventions(self, value: Mapping[str, str]) -> None:
        write_atomically(self.path / "conventions.json", _dump(dict(value)))

    def update(self, **fields: Any) -> None:
        """Set fields of status.json; a field given as None is removed."""
        state = fields.get("state", "pending")
        if state not in STATES:
            raise ValueError(f"state: {state!r} is none of {', '.join(STATES)}")
        status = self.status | fields
        kept = {key: value for key, value in status.items() if value is not None}
        write_atomically(self.status_path, _dump(kept))

    def record_environment(self) -> None:
        """Add this start to environment.json; one dirty start marks the whole run as dirty."""
        before = self.environment
        now = describe()
        now["dirty"] = bool(now["dirty"] or before.get("dirty", False))
        starts = [
            *before.get("starts", []),
            {key: now[key] for key in ("time", "commit", "command")},
        ]
        write_atomically(self.path / "environment.json", _dump(now | {"starts": starts}))

    @contextlib.contextmanager
    def lock(self) -> Iterator[bool]:
        """Hold the run for this process; yields False where another process holds it.

        The kernel frees the lock when its holder dies, however it dies.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def _refuse_another(self, config: Mapping[str, Any]) -> None:
        # Of the differences from the defaults: a run from before a key existed had its default.
        old, new = differences(self.config), differences(config)
        for key in sorted(old.keys() | new.keys()):
            if old.get(key, ...) != new.get(key, ...):
                usual = flatten(defaults().to_dict()).get(key)
                raise ConfigError(
                    f"{self.path} holds another run: config.{key} is {old.get(key, usual)!r} there "
                    f"and {new.get(key, usual)!r} here; choose another directory or delete it"
                )

    def _read(self, path: Path) -> dict[str, Any]:
        return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers, and a kill, see the old text or the new one, whole."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
