"""Score by length, and where pairs of curves part (the rule: report/parting.py)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqlab.build import ConfigError, suggest
from seqlab.report import systems
from seqlab.report.figures import style
from seqlab.report.figures.profile import Profile
from seqlab.report.frame import Frame
from seqlab.report.parting import Runs, parting
from seqlab.report.values import Names, where

SIZE = (6.0, 4.0)  # inches
LANE = 0.3  # inches, of each pair, above the panel


@dataclass(frozen=True, kw_only=True)
class Parting(Profile):
    """parts: pairs of values of the hue, which is one key. margin: see report/parting.py.

    unit: of the numbers ("words"). Above the panel every pair has a lane: a tick where it parts,
    and a line over the numbers where it is apart, in the colour of the upper curve.
    """

    parts: tuple[tuple[Any, Any], ...]
    margin: float = 0.0
    unit: str = ""

    def check(self, names: systems.Pairs) -> None:
        """Also that the pairs are systems, where the hue is."""
        super().check(names)
        if self.panels or len(self._hues()) != 1 or self.at != "last":
            raise ConfigError(
                "report.figures: curves part by one hue, at the end and in one panel; got "
                f"hue {self.hue!r}, panels {self.panels!r}, at {self.at!r}"
            )
        if self._hues() == (systems.SYSTEM,):
            asked = [value for pair in self.parts for value in pair]
            systems.check_systems(asked, names, "report.figures: parts")

    def labels(self, names: Names) -> tuple[str, str]:
        """The unit of the numbers, and the series in words."""
        number, metric = super().labels(names)
        return self.unit or number, metric

    def words(self, frame: Frame, names: Names) -> list[str]:
        """The rule, and for each pair where it parts and which curve is above."""
        data = self.points(where(frame, self.where), names)
        more = f" by more than {self.margin:g}" if self.margin else ""
        lines = [
            f"Two curves part at the smallest {self._unit() or 'number'} from which on, there and "
            f"at every larger one measured, every run of one lies above every run of the other"
            f"{more}."
        ]
        return lines + [self._sentence(data, pair, names) for pair in self.parts]

    def grid(self, panels: int) -> tuple[Figure, list[Axes]]:
        """The panel, and above it a strip with a lane for each pair."""
        del panels
        width, height = self.size or SIZE
        lanes = LANE * len(self.parts)
        figure = Figure(figsize=(width, height + lanes + 0.6), layout="constrained")
        ratios = [max(lanes, 0.01), height]
        strip, axis = figure.subplots(2, 1, sharex=True, height_ratios=ratios)
        strip.set_axis_off()
        strip.set_ylim(len(self.parts), 0)
        style.plain(axis)
        return figure, [axis]

    def finish(self, axis: Axes, data: Frame, looks: Mapping, names: Names) -> None:
        """Draw the lanes, and in the panel a dotted line between the curves of each pair."""
        strip, low, high = axis.figure.axes[0], data["x"].min(), data["x"].max()
        for lane, pair in enumerate(self.parts):
            curves = [self._runs(data, value) for value in pair]
            found = parting(*curves, margin=self.margin)
            upper, lower = map(names.value, pair if not (found and found.above) else pair[::-1])
            if found is None:
                text = f"{upper} and {lower} do not part"
            else:
                text = f"{upper} above {lower} from {names.value(found.at)} on"
                colour = looks[(pair[found.above],)]["color"]
                strip.plot([found.at, high], [lane + 0.8] * 2, color=colour, linewidth=1.5)
                strip.plot(found.at, lane + 0.8, "|", color=colour, markersize=6, mew=2)
                heights = [_mean(runs[found.at]) for runs in curves]
                axis.plot([found.at] * 2, heights, color=colour, linestyle=":", linewidth=1.5)
            strip.text(low, lane + 0.3, text, fontsize=7, va="center")

    def _sentence(self, data: Frame, pair: Sequence[Any], names: Names) -> str:
        first, second = (self._runs(data, value) for value in pair)
        found = parting(first, second, self.margin)
        title = " and ".join(names.value(value) for value in pair)
        unit = f" {self.unit}" if self.unit else ""
        if found is None:
            return f"{title} do not part.{self._lost(data, pair)}"
        shortest = ", the shortest" if found.at == min(first.keys() & second.keys()) else ""
        upper = names.value(pair[found.above])
        at = names.value(found.at)
        return f"{title} part at {at}{unit}{shortest} ({upper} above).{self._lost(data, pair)}"

    def _lost(self, data: Frame, pair: Sequence[Any]) -> str:
        own = data[data[self._hues()[0]].isin(pair) & ~data["y"].map(math.isfinite)]
        count = own["id"].nunique()
        return f" Diverged runs, which have no score, are left out: {count}." if count else ""

    def _runs(self, data: Frame, value: Any) -> Runs:
        (hue,) = self._hues()
        own = data[data[hue] == value]
        if own.empty:
            raise ConfigError(
                f"report.figures: parts: no run has {hue} {value!r}"
                + suggest(value, map(str, data[hue].unique()))
            )
        return {x: list(runs) for x, runs in own.groupby("x")["y"]}

    def _unit(self) -> str:
        return f"number of {self.unit}" if self.unit else ""


def _mean(found: Sequence[float]) -> float:
    finite = [y for y in found if math.isfinite(y)]
    return sum(finite) / len(finite)
