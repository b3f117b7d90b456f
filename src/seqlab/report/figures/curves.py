"""One curve over seeds: mean, spread, every run, failed runs."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from seqlab.report.frame import Frame


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
    cross = {"marker": "x", "linestyle": "none", "markersize": 7, "markeredgewidth": 1.6}
    if len(broken):
        axis.plot(broken["x"], broken["y"], color=look["color"], **cross)
    lost = own[~own["y"].map(math.isfinite) & own["failed"]]
    if len(lost):
        line = axis.plot(
            lost["x"],
            [0.97] * len(lost),
            color=look["color"],
            transform=axis.get_xaxis_transform(),
            clip_on=False,
            **cross,
        )[0]
        line.set_gid("diverged")
    if len(broken) or len(lost):
        axis.set_gid("failed")


def explain(axis: Axes) -> None:
    """Explain the crosses in the legend where there are any."""
    if axis.get_gid() == "failed":
        axis.plot(
            [], [], "x", color="black", markersize=7, label="failed run (at the top: diverged)"
        )
