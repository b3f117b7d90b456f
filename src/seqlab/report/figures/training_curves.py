"""A metric against the training step: validation loss on the way."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from seqlab.build import ConfigError
from seqlab.report.figures import curves
from seqlab.report.figures.base import Chart
from seqlab.report.frame import Frame
from seqlab.report.values import Names


@dataclass(frozen=True, kw_only=True)
class TrainingCurves(Chart):
    """by_step: a metric. The table of runs holds all its rows because a figure asks for them.

    A thin line is one run, the thick one the mean over seeds where every run of the group has a
    value; a run that diverged ends in a cross, which is at the top where it had no value yet.
    """

    by_step: str

    def points(self, frame: Frame, names: Names) -> Frame:
        """One point a run and step that has a row."""
        columns = {
            int(match[1]): column
            for column in frame.columns
            if (match := re.fullmatch(re.escape(self.by_step) + r":(\d+)", column))
        }
        if not columns:
            raise ConfigError(
                f"report.figures: no run has {self.by_step!r} by step; build the report where the "
                "runs are"
            )
        parts = [frame.assign(x=x, y=frame[columns[x]]) for x in sorted(columns)]
        found: Frame = pd.concat(parts, ignore_index=True)
        found = found[found["y"].notna()]
        early = frame[(frame["diverged"] != "") & ~frame["id"].isin(found["id"])]
        return pd.concat([found, early.assign(x=early["step"], y=math.nan)], ignore_index=True)

    def labels(self, names: Names) -> tuple[str, str]:
        """Step, and the metric in words."""
        return "training step", names.key(self.by_step)

    def _curve(self, axis: Axes, own: Frame, look: Mapping, text: str) -> None:
        curves.traces(axis, own, look, text)
