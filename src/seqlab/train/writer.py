"""Metrics as JSON lines, one object a row, and on request as TensorBoard events.

    {"step": 100, "split": "valid", "loss": 1.5, "accuracy": 0.6}

The full name of a metric is "<split>/<name>"; a name that ends in "@<number>" belongs to a series
(by length, by layer). Where a resumed run writes a step again, the later row counts; rows beyond
the step it resumes at are cut off. JSON has no nan and inf: they are written as strings.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqlab.train.atomic import write_atomically

SPLITS = ("train", "valid", "test", "model", "baseline", "data")


class MetricsWriter:
    """Appends rows to a metrics file; every row is on disk (in the kernel) when `write` returns.

    resume: the step that training continues at; rows of later steps are removed. 0 starts afresh
    and keeps nothing. tensorboard: also write events into `tensorboard/` beside the file.
    """

    def __init__(self, path: Path, resume: int = 0, tensorboard: bool = False):
        self._truncate(path, resume)
        self._file = path.open("a", encoding="utf-8", newline="\n")
        self._events = None
        if tensorboard:
            from tensorboardX import SummaryWriter  # slow to import, and seldom wanted

            self._events = SummaryWriter(
                logdir=str(path.parent / "tensorboard"), purge_step=resume + 1 if resume else None
            )

    def write(self, step: int, split: str, values: Mapping[str, Any]) -> None:
        """Write one row; values are numbers (0-d arrays too). Raises ValueError for others.

        split: one of SPLITS, or "test_<name>" for a variant of the tested model.
        """
        if split not in SPLITS and not split.startswith("test_"):
            raise ValueError(f"split: {split!r} is none of {', '.join(SPLITS)}")
        row = {name: _number(name, value) for name, value in values.items()}
        text = {name: _encode(value) for name, value in row.items()}
        self._file.write(json.dumps({"step": int(step), "split": split} | text) + "\n")
        self._file.flush()
        if self._events:
            for name, value in row.items():
                self._events.add_scalar(f"{split}/{name}", value, int(step))
            self._events.flush()

    def close(self) -> None:
        """Close the files; the writer cannot be used any more."""
        os.fsync(self._file.fileno())
        self._file.close()
        if self._events:
            self._events.close()

    def __enter__(self) -> "MetricsWriter":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _truncate(self, path: Path, resume: int) -> None:
        rows = read(path) if path.exists() and resume else []
        kept = [row for row in rows if row["step"] <= resume]
        text = "".join(json.dumps({k: _encode(v) for k, v in row.items()}) + "\n" for row in kept)
        write_atomically(path, text)


class NoWriter(MetricsWriter):
    """The writer of a process that leaves writing to another one."""

    def __init__(self, path: Path, resume: int = 0, tensorboard: bool = False):
        del path, resume, tensorboard

    def write(self, step: int, split: str, values: Mapping[str, Any]) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def read(path: Path) -> list[dict[str, Any]]:
    """All rows of a metrics file in the order written; a torn last line (a kill) is left out."""
    lines = path.read_text("utf-8").split("\n")
    lines.pop()  # what follows the last line break: nothing, or a torn line
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append({name: _decode(name, value) for name, value in json.loads(line).items()})
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: not a metrics row: {line!r}") from error
    return rows


def history(rows: list[dict[str, Any]]) -> dict[str, dict[int, float]]:
    """{full metric name: {step: value}}, steps ascending, later rows of a step winning."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        for name, value in row.items():
            if name not in ("step", "split"):
                found.setdefault(f"{row['split']}/{name}", {})[row["step"]] = float(value)
    return {name: dict(sorted(steps.items())) for name, steps in found.items()}


def _number(name: str, value: Any) -> float | int:
    if name in ("step", "split"):
        raise ValueError(f"{name!r} is no name for a metric: every row has a {name}")
    if type(value) in (bool, int, float):
        return value
    try:
        return value.item()  # numpy and jax scalars
    except (AttributeError, ValueError, TypeError):
        raise ValueError(f"metric {name}: expected one number, got {value!r}") from None


def _encode(value: Any) -> Any:
    return repr(value) if type(value) is float and not math.isfinite(value) else value


def _decode(name: str, value: Any) -> Any:
    return float(value) if isinstance(value, str) and name != "split" else value
