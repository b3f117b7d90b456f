"""What is on disk of a run's checkpoints: which steps, with which score, and whether whole.

    checkpoints/20/             written by Orbax; a temporary directory until it is complete
    checkpoints/20/seal.json    checksums of its files, written before the step gets its name
    checkpoints/damaged-30/     a step that could not be read, kept for the user

Orbax itself notices a file that is cut off, but not changed bytes inside of one: they come back
as other weights.
"""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError
from seqlab.train.atomic import write_atomically

SEAL = "seal.json"
MARK = "commit_success.txt"  # Orbax looks whether these are there; their text is of no use
METADATA = "_CHECKPOINT_METADATA"  # Orbax's, with a record of ours: scores, place in the data
SCORES = "metrics/metrics"  # where checkpoints from before there were checksums have the scores


class DamagedError(ConfigError):
    """A checkpoint is not what was saved: the message names the step and the reason."""


class Saved:
    """The steps below `directory`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def steps(self) -> list[int]:
        """Steps whose saving is complete, ascending; nothing is said of what came after."""
        if not self.directory.is_dir():
            return []
        return sorted(int(path.name) for path in self.directory.iterdir() if path.name.isdecimal())

    def score(self, step: int, metric: str) -> float | None:
        """The metric that was saved with a step; None where there is none.

        Raises DamagedError where the record of it is not what was saved.
        """
        self.check(step, METADATA)
        root = self.directory / str(step)
        if (root / METADATA).exists():
            values = _record(root / METADATA).get("metrics", {})
            if metric in values:
                return values[metric]
        if not (root / SCORES).exists():
            return None
        try:
            return json.loads((root / SCORES).read_text("utf-8")).get(metric)
        except ValueError as error:  # Orbax would open none of the steps
            raise ConfigError(
                f"{root / SCORES} cannot be read: delete {(root / SCORES).parent}, and the step is "
                "one without a score"
            ) from error

    def first(
        self, steps: Iterable[int], read: Callable[[int], Any]
    ) -> tuple[int, Any, dict[int, str]]:
        """The first of the steps that can be read, what `read` gives, and what the others lack.

        Raises DamagedError where none can be read.
        """
        problems: dict[int, str] = {}
        for step in steps:
            try:
                return step, read(step), problems
            except DamagedError as error:
                problems[step] = str(error)
        raise DamagedError(
            f"{self.tell(problems)}; no checkpoint is left that can be read: delete the directory "
            "to start anew"
        )

    def tell(self, problems: Mapping[int, str]) -> str:
        """What is wrong with which steps."""
        return f"damaged checkpoints in {self.directory}: {'; '.join(problems.values())}"

    def seal(self, step: int, record: Mapping[str, Any]) -> None:
        """Write the checksums of a step, whether it has its name already or not.

        record: what Orbax was given to write into its metadata, a file that it goes on changing.
        """
        for root in self._attempts(step):
            files = (path for path in sorted(root.rglob("*")) if path.is_file())
            sums = {
                path.relative_to(root).as_posix(): _sum(path)
                for path in files
                if path.name not in (MARK, METADATA, SEAL)
            }
            seal = {"record": record, "sha256": sums}
            write_atomically(root / SEAL, json.dumps(seal, indent=1) + "\n")

    def check(self, step: int, part: str = "") -> bool:
        """Are the files of a step, or of a part of it, those that were saved?

        False where that cannot be told: it was saved without checksums. Raises DamagedError.
        """
        root = self.directory / str(step)
        if not (root / SEAL).exists():
            return False
        try:
            seal = json.loads((root / SEAL).read_text("utf-8"))
        except ValueError as error:
            raise DamagedError(f"step {step}: {SEAL} cannot be read: {error}") from error
        for name, expected in seal["sha256"].items():
            if name.startswith(f"{part}/" if part else ""):
                _compare(step, root / name, name, _sum, expected)
        if part in ("", METADATA):
            _compare(step, root / METADATA, METADATA, _record, seal["record"])
        return True

    def set_aside(self, step: int) -> Path:
        """Rename a step to where nothing looks for it; returns the new path."""
        target, number = self.directory / f"damaged-{step}", 1
        while target.exists():
            number += 1
            target = self.directory / f"damaged-{step}-{number}"
        return (self.directory / str(step)).rename(target)

    def drop_unfinished(self, step: int) -> None:
        """Delete what was written of a step before its saving failed: the disk may be full."""
        for root in self._attempts(step):
            if root.name != str(step):
                shutil.rmtree(root, ignore_errors=True)

    def _attempts(self, step: int) -> list[Path]:
        found = []
        with contextlib.suppress(OSError):
            found = list(self.directory.iterdir())
        return [path for path in found if path.is_dir() and path.name.split(".")[0] == str(step)]


def _compare(step: int, path: Path, name: str, read: Callable[[Path], Any], expected: Any) -> None:
    if not path.is_file():
        raise DamagedError(f"step {step}: {name} is missing")
    if read(path) != expected:
        size = path.stat().st_size
        raise DamagedError(f"step {step}: {name}, {size} bytes now, is not what was saved")


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(path: Path) -> dict[str, Any]:
    """What Orbax was given to write into its metadata; {} where that cannot be read."""
    try:
        return json.loads(path.read_text("utf-8"))["custom_metadata"] or {}
    except (ValueError, KeyError, TypeError):
        return {}
