"""From run directories to one table: a row a run, the same columns as results.csv.

Beside the final value of a metric `m`, `m:first` is its first row and `m:500` its row at step 500
(for series, test metrics and what a figure draws `by_step`). The table holds every number of the
report, so that the report can be rebuilt without the runs.
"""

import contextlib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from seqlab.build import ConfigError
from seqlab.report.frame import Frame, cell
from seqlab.report.systems import SYSTEM, system
from seqlab.sweep.plan import Point, lookup
from seqlab.train import writer
from seqlab.train.atomic import write_atomically
from seqlab.train.directory import RunDirectory

TEXT = ("id", "state", "diverged", "commit", "device", "python", "versions", "conventions", SYSTEM)
SERIES = re.compile(r"(.*)@([\d.]+)")


def collect(points: Iterable[Point], root: Path, report: Mapping[str, Any]) -> Frame:
    """One row for each point that has been started under `root`."""
    rows = [
        row(point, RunDirectory(root / point.id), report)
        for point in points
        if (root / point.id / "status.json").exists()
    ]
    return pd.DataFrame(rows)


def row(point: Point, run: RunDirectory, report: Mapping[str, Any]) -> dict[str, Any]:
    """The row of one run.

    A run has diverged when training stopped on a non-finite loss or ended with one; it has failed
    when it diverged or broke the rule `report.failed`.
    """
    status, environment = run.status, run.environment
    history = writer.history(writer.read(run.metrics)) if run.metrics.exists() else {}
    found = metrics(history, by_step(report))
    diverged = _diverged(status, found)
    versions = environment.get("versions", {})
    return {
        "id": point.id,
        "state": status["state"],
        "failed": bool(diverged) or _broke_rule(found, report["failed"]),
        "diverged": diverged,
        "stopped_early": status.get("stopped_early", False),
        "step": status["step"],
        "steps": point.config["train"]["steps"],
        "commit": environment.get("commit") or "",
        "dirty": environment.get("dirty", False),
        "device": _counted(environment.get("devices", [])),
        "cpus": environment.get("cpus", 0),
        "python": environment.get("python", ""),
        "versions": " ".join(f"{name}={version}" for name, version in versions.items()),
        "conventions": json.dumps(run.conventions, sort_keys=True, ensure_ascii=False),
        **settings(point, report),
        **found,
    }


def settings(point: Point, report: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that tell a run from another: its system if systems have names, and its keys."""
    named = {SYSTEM: system(point, report["names"])} if report["names"] else {}
    return named | {key: cell(lookup(point.config, key)) for key in keys(point, report)}


def keys(point: Point, report: Mapping[str, Any]) -> list[str]:
    """The config keys of the table: the axes, what else the sweep varies, model, task, seed."""
    axes = [*report["axes"], *point.varied, "model.kind", "task.kind"]
    return [key for key in dict.fromkeys(axes) if key not in ("seed", SYSTEM)] + ["seed"]


def by_step(report: Mapping[str, Any]) -> set[str]:
    """The metrics that figures draw by step; of others the table need not hold every row."""
    return {rule["by_step"] for rule in report["figures"] if "by_step" in rule}


def metrics(
    history: Mapping[str, Mapping[int, float]], every: Collection[str] = ()
) -> dict[str, float]:
    """Final value of every metric, and of test metrics, series and `every` those on the way."""
    found = {name: list(steps.values())[-1] for name, steps in history.items()}
    for name, steps in history.items():
        # Also where there is one row only: another run of the table may have several.
        if name.startswith("test/") or SERIES.fullmatch(name):
            found[f"{name}:first"] = next(iter(steps.values()))
        if name in every or (len(steps) > 1 and name.startswith("test/")):
            found |= {f"{name}:{step}": value for step, value in steps.items()}
    return found


def save(frame: Frame, path: Path) -> None:
    """Write results.csv: bookkeeping and keys first, then metrics, series in order of number."""
    head = [name for name in frame.columns if "/" not in name]
    tail = sorted(frame.columns.difference(head), key=_natural)
    write_atomically(path, frame[[*head, *tail]].to_csv(index=False, lineterminator="\n"))


def load(path: Path) -> Frame:
    """Read results.csv back: metrics are floats, nan where a run has none.

    Raises ConfigError for another table.
    """
    frame: Frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    if "id" not in frame:
        raise ConfigError(f"{path} is no results.csv of an experiment: it has no column `id`")
    columns = {}
    for name in frame.columns:
        read = str if name in TEXT else _metric if "/" in name else _setting
        columns[name] = list(map(read, frame[name]))
    return pd.DataFrame(columns)


def _diverged(status: Mapping[str, Any], found: Mapping[str, float]) -> str:
    """Where a run diverged, in words; "" when it did not."""
    if "diverged" in status:
        where = status["diverged"]
        return f"step {where['step']}, {where.get('layer') or 'unknown layer'}"
    losses = [found.get(f"{split}/loss", 0.0) for split in ("train", "valid", "test")]
    return "" if all(math.isfinite(loss) for loss in losses) else "final loss not finite"


def _broke_rule(found: Mapping[str, float], rule: Mapping[str, Any]) -> bool:
    """Whether a metric is above (or below) the limit, a number or a metric, that means failure."""
    if not rule or rule["metric"] not in found:
        return False
    value, limit = found[rule["metric"]], rule.get("above", rule.get("below"))
    if isinstance(limit, str):
        limit = found.get(limit, math.nan)
    return not math.isfinite(value) or (value > limit if "above" in rule else value < limit)


def _metric(text: str) -> float:
    return float(text or "nan")


def _setting(text: str) -> bool | int | float | str:
    """The value of a config key that `str` made into this text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text == "True" if text in ("True", "False") else text


def _counted(devices: list[str]) -> str:
    return ", ".join(f"{devices.count(kind)} x {kind}" for kind in dict.fromkeys(devices))


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Sorts @2 before @12."""
    parts = re.split(r"(\d+)", name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
