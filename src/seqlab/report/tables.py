"""The main table: a row a cell of the experiment, seeds summarised, as Markdown."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seqlab.report.frame import Column, Frame
from seqlab.report.statistics import Summary, summary
from seqlab.report.values import Names, check_key, values

# What every score stands beside, where training logged it; `report.labels` may call it otherwise.
COSTS = {
    "model/parameters": "parameters",
    "model/parameters_without_embeddings": "without embeddings",
    "model/flops": "MFLOPs",
    "train/tokens": "tokens",
    "train/step_time": "ms a step",
    "train/compile_time": "s compiling",
}


def cells(frame: Frame, axes: Iterable[str]) -> list[tuple[dict[str, Any], Frame]]:
    """Runs that differ in nothing but the seed, by their values of the axes, in table order."""
    axes = [axis for axis in axes if axis != "seed"]
    for axis in axes:
        check_key(frame, axis)
    if not axes:
        return [({}, frame)]
    groups = frame.groupby(axes, sort=False, dropna=False)
    return [(dict(zip(axes, key, strict=True)), runs) for key, runs in groups]


def table(frame: Frame, report: Mapping[str, Any], names: Names) -> str:
    """Axes | runs | failed | columns as mean ± sd | costs. frame: the finished runs."""
    axes = [axis for axis in report["axes"] if axis != "seed"]
    costs = {m: names.label(m, title) for m, title in COSTS.items() if m in frame}
    metrics = list(dict.fromkeys([report["metric"], *report["columns"]]))
    head = [*map(names.key, axes), "n", "failed", *map(names.key, metrics), *costs.values()]
    lines = [head]
    for key, runs in cells(frame, axes):
        failed = f"{int(runs['failed'].sum())} of {len(runs)}"
        scores = [score(values(runs, metric), runs) for metric in metrics]
        price = [cost(metric, runs[metric]) for metric in costs]
        axis_texts = [names.value(value) for value in key.values()]
        lines.append([*axis_texts, str(len(runs)), failed, *scores, *price])
    return markdown(lines, left=len(axes))


def score(found: Column, runs: Frame) -> str:
    """mean ± sd of the finite values; says how many runs diverged instead."""
    finite = [float(value) for value in found if math.isfinite(value)]
    lost = int(((runs["diverged"] != "") & found.isna()).sum())
    if not finite:
        return "diverged" if lost else "–"
    text = plus_minus(summary(finite))
    missing = len(runs) - len(finite)
    return f"{text} (n = {len(finite)})" if missing else text


def plus_minus(found: Summary) -> str:
    """Mean and spread with the same number of decimals."""
    decimals = _decimals(found.mean)
    text = f"{found.mean:.{decimals}f}"
    return f"{text} ± {found.sd:.{decimals}f}" if found.n > 1 else text


def cost(metric: str, found: Column) -> str:
    """The mean of a cost: whole numbers for counts, milliseconds for the step time, MFLOPs."""
    mean = found.mean()
    if not math.isfinite(mean):
        return "–"
    if metric == "train/step_time":
        return f"{1000 * mean:.1f}"
    if metric == "model/flops":
        return f"{mean / 1e6:.1f}"
    return f"{mean:.1f}" if metric == "train/compile_time" else f"{round(mean):,}"


def markdown(lines: Sequence[Sequence[str]], left: int) -> str:
    """Rows of cells, the head first, as a Markdown table; the first `left` columns align left."""
    rule = [":--" if column < left else "--:" for column in range(len(lines[0]))]
    rows = [lines[0], rule, *lines[1:]]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in r) + " |" for r in rows)


def _decimals(value: float) -> int:
    """Three significant digits, no more than four decimals."""
    if value == 0 or not math.isfinite(value):
        return 2
    return min(4, max(0, 2 - math.floor(math.log10(abs(value)))))
