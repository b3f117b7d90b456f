"""Runs side by side: where their configs differ, and how they scored."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from seqlab.config import flatten

COSTS = ("train/tokens", "train/step_time")  # of "train", whose other last values are one batch's
ABSENT = "-"


@dataclasses.dataclass(frozen=True)
class Summary:
    """What is compared of a run: config, step of the loaded checkpoint, metrics by name and
    step."""

    config: Mapping[str, Any]
    step: int
    metrics: Mapping[str, Mapping[int, float]]


def compare(runs: Mapping[str, Summary]) -> pd.DataFrame:
    """One column a run. Rows ("config", key): the keys that differ; ("run", "step"): of the loaded
    checkpoint; ("result", metric): the last value written, series by length left out.

    A key or a metric that a run lacks is "-".
    """
    configs = {name: flatten(run.config) for name, run in runs.items()}
    keys = sorted({key for config in configs.values() for key in config})
    rows: dict[tuple[str, str], list[Any]] = {}
    for key in keys:
        values = [config.get(key, ABSENT) for config in configs.values()]
        if any(value != values[0] for value in values):
            rows["config", key] = values
    rows["run", "step"] = [run.step for run in runs.values()]
    scores = [_last(run.metrics) for run in runs.values()]
    for name in dict.fromkeys(name for own in scores for name in own):
        rows["result", name] = [own.get(name, ABSENT) for own in scores]
    index = pd.MultiIndex.from_tuples(rows, names=["", "name"])
    return pd.DataFrame(list(rows.values()), index=index, columns=list(runs), dtype=object)


def short_names(paths: Sequence[Path]) -> list[str]:
    """The shortest ends of paths that tell them apart; equal paths are numbered."""
    deepest = max(len(path.parts) for path in paths)
    for length in range(1, deepest + 1):
        names = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{path.name} ({number})" for number, path in enumerate(paths, 1)]


def _last(metrics: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    """Last values by metric, in the order in which they were first written."""
    return {
        name: series[max(series)]
        for name, series in metrics.items()
        if "@" not in name and (name in COSTS or name.partition("/")[0] not in ("train", "data"))
    }
