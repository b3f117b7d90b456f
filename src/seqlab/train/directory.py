"""A run directory: everything about one run, readable anywhere and without seqlab's code.

    config.json        the whole config: reloads equal
    environment.json   commits + dirty flag, versions, devices, host, command of every start
    changes.diff       how the code differed from its commit; changes-2.diff, ... at later starts
    status.json        {"state": pending | running | done | failed, "step", "traceback", "job", ...}
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
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError
from seqlab.config import defaults, flatten, from_json, to_json
from seqlab.train.atomic import write_atomically
from seqlab.train.environment import changes, describe, origin
from seqlab.train.fingerprint import differences

log = logging.getLogger("seqlab")

FORMAT_VERSION = 1
STATES = ("pending", "running", "done", "failed")
START = ("time", "host", "commit", "command")


class RunDirectory:
    """One run's files. `open` reads an existing one, `create` makes it or continues it.

    writes: False in the processes of a run that leave writing to another one: nothing is written.
    """

    def __init__(self, path: str | Path, writes: bool = True):
        self.path = Path(path).expanduser().absolute()
        self.writes = writes

    @classmethod
    def create(
        cls, path: str | Path, config: Mapping[str, Any], writes: bool = True
    ) -> "RunDirectory":
        """Make the directory, or continue the run of this very config that is in it.

        A config that differs only in keys that do not change results (train.steps raised, other
        workers) replaces the stored one. Raises ConfigError for a directory that holds anything
        else, naming the first key that differs.
        """
        run = cls(path, writes)
        if not writes:  # the process that does may be about to make it, and says what is wrong
            return run
        if run.config_path.exists():
            run._refuse_another(config)
        elif any(run.path.glob("[!.]*")):
            raise ConfigError(f"{run.path} is not empty and no run; choose another directory")
        run.path.mkdir(parents=True, exist_ok=True)
        write_atomically(run.config_path, to_json(config))
        if not run.status_path.exists():
            run.update(format=FORMAT_VERSION, state="pending", step=0)
        return run

    @classmethod
    def open(cls, path: str | Path, writes: bool = True) -> "RunDirectory":
        """An existing run. Raises FileNotFoundError, or ConfigError for an unknown format."""
        run = cls(path, writes)
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
        self._write(self.path / "conventions.json", _dump(dict(value)))

    def update(self, **fields: Any) -> None:
        """Set fields of status.json; a field given as None is removed."""
        state = fields.get("state", "pending")
        if state not in STATES:
            raise ValueError(f"state: {state!r} is none of {', '.join(STATES)}")
        status = self.status | fields
        kept = {key: value for key, value in status.items() if value is not None}
        self._write(self.status_path, _dump(kept))

    def record_environment(self) -> None:
        """Add this start to environment.json; one dirty start marks the whole run as dirty.

        Warns where a queued run starts with other code than it was submitted with.
        """
        if not self.writes:
            return
        before, now = self.environment, describe()
        start = {key: now[key] for key in START} | self._record_changes()
        now["dirty"] = bool(now["dirty"] or before.get("dirty", False))
        now["starts"] = [*before.get("starts", []), start]
        if submitted := before.get("submitted"):
            now["submitted"] = submitted
            for key in ("commit", "changes"):
                if start.get(key) != submitted.get(key):
                    log.warning(
                        f"{self.path}: submitted with {key} {submitted.get(key)}, started with "
                        f"{start.get(key)}: the code is another one now"
                    )
        self._write(self.path / "environment.json", _dump(now))

    def record_submission(self, job: str) -> None:
        """Write down what a job is queued with, before it starts; job: the cluster's id of it."""
        if not self.writes:
            return
        now = origin()
        submitted = {key: now[key] for key in (*START, "dirty")} | {"job": job}
        record = self.environment | {"submitted": submitted | self._record_changes()}
        self._write(self.path / "environment.json", _dump(record))
        self.update(job=job)

    @contextlib.contextmanager
    def lock(self) -> Iterator[bool]:
        """Hold the run for this process; yields False where another process holds it.

        The kernel frees the lock when its holder dies, however it dies.
        """
        if not self.writes:
            yield True
            return
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

    def _record_changes(self) -> dict[str, str]:
        """Keep what makes the code dirty; returns {"changes": file name}, or {} for clean code."""
        text, number = changes(), 1
        path = self.path / "changes.diff"
        while text and path.exists() and path.read_text("utf-8") != text:
            number += 1
            path = self.path / f"changes-{number}.diff"
        if text:
            self._write(path, text)
        return {"changes": path.name} if text else {}

    def _write(self, path: Path, text: str) -> None:
        if self.writes:
            write_atomically(path, text)

    def _read(self, path: Path) -> dict[str, Any]:
        return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
