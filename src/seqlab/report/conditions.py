"""Under which conditions the numbers were obtained, and what they mean, in words."""

import json
from collections.abc import Mapping
from typing import Any

from seqlab.report.frame import Column, Frame
from seqlab.report.values import Names


def legend(frame: Frame, report: Mapping[str, Any], names: Names) -> str:
    """How to read the table: spread, what counts as failed, conventions of the scores."""
    seeds = frame["seed"].nunique()
    lines = [f"Mean ± standard deviation over runs that differ in the seed only (seeds: {seeds})."]
    rule = report["failed"]
    failed = "A run has failed when its loss became non-finite"
    if rule:
        side = "above" if "above" in rule else "below"
        limit = rule[side]
        if isinstance(limit, str):
            limit = f"{names.key(limit)} ({_range(frame[limit])})"
        failed += f" or its final {names.key(rule['metric'])} is {side} {limit}"
    lines.append(f"{failed}; runs that diverged have no final score and are left out of the mean.")
    conventions: dict[str, set[str]] = {}
    for text in frame["conventions"].unique():
        for name, value in json.loads(text or "{}").items():
            conventions.setdefault(name, set()).add(value)
    lines += [f"{name}: {' / '.join(sorted(texts))}." for name, texts in conventions.items()]
    return "\n".join(f"- {line}" for line in lines)


def describe(frame: Frame) -> str:
    """Runs, seeds, steps, data, hardware, versions, commit."""
    dirty = int(frame["dirty"].sum())
    commits = ", ".join(f"`{commit[:12]}`" for commit in frame["commit"].unique() if commit)
    changed = f" ({dirty} of {len(frame)} runs with uncommitted changes)" if dirty else ""
    lines = {
        "runs": f"{len(frame)}, seeds {_several(frame['seed'])}",
        "training steps": _range(frame["step"]),
        "hardware": f"{_several(frame['device'])}, {_several(frame['cpus'])} CPU cores",
        "software": f"Python {_several(frame['python'])}, {_several(frame['versions'])}",
        "commit": (commits or "not in a git work tree") + changed,
    }
    for name in frame.columns:
        if name.startswith("baseline/") or name == "test/examples":
            lines[name.replace("_", " ").replace("/", " ")] = _range(frame[name].dropna())
    lines |= _data(frame)
    return "\n".join(f"- {name}: {text}" for name, text in lines.items())


def _data(frame: Frame) -> dict[str, str]:
    """The counts of each split (examples, truncated, filtered, ...) that are not 0."""
    counts: dict[str, list[str]] = {}
    for name in frame.columns:
        if name.startswith("data/") and frame[name].any():
            split, _, what = name.removeprefix("data/").partition("_")
            text = f"{_range(frame[name].dropna())} {what.replace('_', ' ')}".strip()
            counts.setdefault(f"data, {split}", []).append(text)
    return {split: ", ".join(texts) for split, texts in counts.items()}


def _several(column: Column) -> str:
    return ", ".join(str(value) for value in sorted(column.unique()))


def _range(column: Column) -> str:
    low, high = column.min(), column.max()
    return f"{low:,.6g}" if low == high else f"{low:,.6g} to {high:,.6g}"
