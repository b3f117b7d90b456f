"""Metrics side by side, a row a system: parameters, step time, BLEU of each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, ScalarFormatter

from seqlab.build import ConfigError
from seqlab.report import systems
from seqlab.report.figures import curves, style
from seqlab.report.figures.base import Chart
from seqlab.report.frame import Column, Frame
from seqlab.report.tables import cells
from seqlab.report.values import Names, values, where

ROW = 0.27  # inches
THOUSANDS = EngFormatter(sep="", places=2)


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """metrics: one panel each, from 0. rows: the key whose values are the rows, top down.

    The bar and the number beside it are the mean over seeds, each dot is one run, each cross a
    failed run; "diverged" stands where no run has a value.
    """

    metrics: tuple[str, ...]
    rows: str = "system"

    def check(self, names: systems.Pairs) -> None:
        """Also that no option is given which bars do not have."""
        super().check(names)
        for option in ("hue", "panels", "log", "log_x", "expect", "marks", "limit"):
            if getattr(self, option):
                raise ConfigError(f"report.figures: Bars draw no `{option}`; remove it")

    def draw(self, frame: Frame, names: Names) -> Figure:
        """The figure of the runs in `frame`. Raises ConfigError when there is nothing to draw."""
        chosen = where(frame, self.where)
        if chosen.empty:
            raise ConfigError(f"report.figures: no run has {dict(self.where)}")
        groups = [(key[self.rows], runs) for key, runs in cells(chosen, [self.rows])]
        size = self.size or (style.PANEL[0], ROW * len(groups) + 0.5)
        figure, axes = style.grid(len(self.metrics), min(self.columns, len(self.metrics)), size)
        for axis, metric in zip(axes, self.metrics, strict=True):
            axis.set_title(names.key(metric), fontsize=9, loc="left")
            found = values(chosen, metric)
            self._scale(axis, found, len(groups))
            for row, (_, runs) in enumerate(groups):
                _bar(axis, row, found[runs.index], runs)
        axes[0].set_yticks(range(len(groups)), [names.value(value) for value, _ in groups])
        for axis in axes:
            curves.explain(axis)
        style.legend(figure, axes, len(axes) + 1, fewest=1)
        return figure

    def _scale(self, axis: Axes, found: Column, rows: int) -> None:
        axis.tick_params(which="both", labelsize=8)
        axis.grid(axis="y", visible=False)
        axis.xaxis.set_major_locator(MaxNLocator(4))
        large = abs(found).max() >= 10_000
        axis.xaxis.set_major_formatter(EngFormatter(sep="") if large else ScalarFormatter())
        axis.set_ylim(rows - 0.4, -0.6)
        finite = [0.0, *found[found.map(math.isfinite)]]
        room = 1.35 if len(finite) > len(found) else 1.55  # for the numbers beside the bars
        if any(finite):
            axis.set_xlim(room * min(finite), room * max(finite))


def _bar(axis: Axes, row: int, found: Column, runs: Frame) -> None:
    finite = found[found.map(math.isfinite)]
    if finite.empty:
        text = "diverged" if (runs["diverged"] != "").any() else "–"
        axis.text(0, row, f" {text}", fontsize=8, va="center")
        return
    axis.barh(row, finite.mean(), height=0.62, color=style.COLOURS[5], alpha=0.55)
    broken = runs.loc[finite.index, "failed"].astype(bool)
    looks: Mapping[bool, Any] = {False: {"marker": ".", "linestyle": "none"}, True: curves.CROSS}
    for failed, look in looks.items():
        own = finite[broken == failed]
        axis.plot(own, [row] * len(own), color=style.COLOURS[0], **look)
    if broken.any():
        axis.set_gid("broken")
    lacking = f" (n = {len(finite)})" if len(finite) < len(runs) else ""
    text = f"  {_short(finite.mean())}{lacking}"
    axis.text(finite.max(), row, text, fontsize=8, va="center")


def _short(value: float) -> str:
    return THOUSANDS(value) if abs(value) >= 10_000 else f"{value:#.3g}".removesuffix(".")
