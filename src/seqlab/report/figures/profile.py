"""A series against its number: gradient norm by layer, accuracy by length."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from seqlab.build import ConfigError, suggest
from seqlab.report.collect import SERIES
from seqlab.report.figures.base import Chart
from seqlab.report.frame import Frame
from seqlab.report.values import Names, series, values


@dataclass(frozen=True, kw_only=True)
class Profile(Chart):
    """series: the name before "@". at: "last", "first" or a step, or a tuple of these.

    Each `at` is a set of points whose key "at" ("step 500", "at the start", "at the end") can be
    the hue or the panels. relative: divide every curve by its value at the lowest number.
    """

    series: str
    at: Any = "last"
    relative: bool = False

    def points(self, frame: Frame, names: Names) -> Frame:
        """One point a run, number of the series and `at`."""
        times = self.at if isinstance(self.at, tuple | list) else (self.at,)
        found = [self._points(frame, time) for time in times]
        return pd.concat(found, ignore_index=True)

    def labels(self, names: Names) -> tuple[str, str]:
        """The number has no name of its own: give `x_label`."""
        return "number", names.key(self.series)

    def _points(self, frame: Frame, time: str | int) -> Frame:
        when = "" if time == "last" else str(time)
        columns = series(frame.columns, self.series, when)
        if not columns:
            known = {match[1] for name in frame.columns if (match := SERIES.fullmatch(name))}
            raise ConfigError(
                f"report.figures: no run has the series {self.series!r} at {time!r}"
                + suggest(self.series, known)
            )
        title = {"": "at the end", "first": "at the start"}.get(when, f"step {when}")
        parts = []
        for number, column in columns.items():
            name = column if ":" in column or when == "" else f"{column}:{when}"
            parts.append(frame.assign(x=number, y=values(frame, name), at=title))
        points: Frame = pd.concat(parts, ignore_index=True)
        points["failed"] &= when == ""  # earlier values are from before a run failed
        # A model of 2 layers has no layer 12; a diverged run has no final value to show.
        lacking = points["y"].isna() & ((points["diverged"] == "") | (when != ""))
        points = points[~lacking]
        if self.relative:
            first = points.sort_values("x").groupby("id")["y"].transform("first")
            points = points.assign(y=points["y"] / first)
        return points
