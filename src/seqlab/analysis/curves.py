"""Metrics by step, of one run or several."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from seqlab.analysis.compare import Summary
from seqlab.build import ConfigError, suggest
from seqlab.report.figures.style import PANEL, legend, plain, styles

SMOOTH = 200  # points drawn at most; more are averaged in groups, as the axis then says


def plot(runs: Mapping[str, Summary], metrics: Sequence[str]) -> Figure:
    """A panel for each metric, a line for each run that has it.

    Of a series of over 200 points means of neighbours are drawn. Raises ConfigError for a metric
    that no run has.
    """
    known = {name for run in runs.values() for name in run.metrics}
    for metric in metrics:
        if metric not in known:
            raise ConfigError(f"metrics: no run has {metric!r}" + suggest(metric, known))
    size = PANEL[0] * max(len(metrics), 2), PANEL[1] + 0.6
    figure = Figure(figsize=size, layout="constrained")
    axes = list(figure.subplots(1, len(metrics), squeeze=False).flat)
    looks = styles([(name,) for name in runs])
    for axis, metric in zip(axes, metrics, strict=True):
        group = 1
        for (name, run), look in zip(runs.items(), looks, strict=True):
            series = run.metrics.get(metric, {})
            steps, values = np.array([*series]), np.array([*series.values()])
            own = -(-len(steps) // SMOOTH)
            group = max(group, own)
            steps, values = _means(steps, own), _means(values, own)
            marker = look["marker"] if len(steps) < 30 else None
            axis.plot(steps, values, **{**look, "marker": marker}, markersize=4, label=name)
        axis.set_xlabel("step")
        axis.set_ylabel(metric + (f" (mean of {group} steps)" if group > 1 else ""))
        plain(axis)
    legend(figure, axes, panels=max(len(metrics), 2))
    return figure


def _means(values: np.ndarray, group: int) -> np.ndarray:
    """Means of `group` neighbours; what is left at the end is a smaller group."""
    starts = np.arange(0, len(values), group)
    sizes = np.diff(starts, append=len(values))
    return np.add.reduceat(values, starts) / sizes if len(values) else values
