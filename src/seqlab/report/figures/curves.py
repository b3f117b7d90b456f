"""One curve over seeds: mean, spread, every run, failed runs; or, by step, every run as a line."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from seqlab.report.frame import Column, Frame

CROSS: dict[str, Any] = {
    "marker": "x",
    "linestyle": "none",
    "markersize": 7,
    "markeredgewidth": 1.6,
}
# What crosses mean, by the mark that drawing them left on the axes.
MEANINGS = {
    "failed": "failed run (at the top: diverged)",
    "broken": "failed run",
    "stopped": "diverged run (at the top: before any value)",
}


def draw(axis: Axes, own: Frame, look: Mapping[str, Any], text: str) -> None:
    """Mean, spread, runs and failed runs of one group.

    On a logarithmic axis the geometric mean and standard deviation: the plain ones of numbers that
    differ by factors would reach below zero.
    """
    seen = own[own["y"].map(math.isfinite)]
    log = axis.get_yscale() == "log"
    seen = seen[seen["y"] > 0] if log else seen
    there, back = (np.log, np.exp) if log else (np.asarray, np.asarray)
    by_x = seen.assign(y=there(seen["y"])).groupby("x")["y"]
    mean, spread = by_x.mean(), by_x.std()
    if len(mean):
        axis.plot(
            mean.index,
            back(mean),
            **look,
            markersize=4.5,
            linewidth=1.5,
            label=text,
            markeredgewidth=0,
        )
    several = spread.dropna()
    if len(several):
        middle = mean[several.index]
        reach = back(middle) - back(middle - several), back(middle + several) - back(middle)
        axis.errorbar(
            several.index,
            back(middle),
            reach,
            fmt="none",
            ecolor=look["color"],
            elinewidth=1.0,
            capsize=2.5,
        )
    fine = seen[~seen["failed"]]
    axis.plot(fine["x"], fine["y"], ".", color=look["color"], alpha=0.4, markersize=4)
    broken = seen[seen["failed"]]
    if len(broken):
        axis.plot(broken["x"], broken["y"], color=look["color"], **CROSS)
    lost = own[~own["y"].map(math.isfinite) & own["failed"]]
    if len(lost):
        _at_the_top(axis, lost["x"], look["color"])
    if len(broken) or len(lost):
        axis.set_gid("failed")


def traces(axis: Axes, own: Frame, look: Mapping[str, Any], text: str) -> None:
    """Every run as a thin line, the mean of the group as a thick one; see TrainingCurves."""
    seen = own[own["y"].map(math.isfinite)]
    log = axis.get_yscale() == "log"
    seen = seen[seen["y"] > 0] if log else seen
    color = look["color"]
    for _, run in seen.groupby("id", sort=False):
        axis.plot(run["x"], run["y"], color=color, alpha=0.35, linewidth=0.7)
    for _, run in own[own["diverged"] != ""].groupby("id", sort=False):
        alive = run[run.index.isin(seen.index)]
        if len(alive):
            axis.plot(alive["x"].iloc[-1], alive["y"].iloc[-1], color=color, zorder=4, **CROSS)
        else:
            _at_the_top(axis, run["x"].iloc[:1], color)
        axis.set_gid("stopped")
    there, back = (np.log, np.exp) if log else (np.asarray, np.asarray)
    by_x = seen.assign(y=there(seen["y"])).groupby("x")["y"]
    mean = by_x.mean()[by_x.count() == own["id"].nunique()]
    every = max(1, len(mean) // 8)
    axis.plot(
        mean.index, back(mean), **look, linewidth=1.6, markersize=4.5, markevery=every, label=text
    )


def explain(axis: Axes) -> None:
    """Explain the crosses in the legend where there are any."""
    meaning = MEANINGS.get(str(axis.get_gid()))
    if meaning:
        axis.plot([], [], "x", color="black", markersize=7, label=meaning)


def _at_the_top(axis: Axes, xs: Column, color: Any) -> None:
    """A cross for each run that has no value."""
    place: Any = axis.get_xaxis_transform()
    (line,) = axis.plot(xs, [0.97] * len(xs), color=color, transform=place, clip_on=False, **CROSS)
    line.set_gid("diverged")
