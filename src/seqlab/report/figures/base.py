"""What all charts share: panels, hues, spread over seeds, failed runs, expectations, legend.

A kind of chart says where its points come from (`points`); the rest is drawn here, for a kind to
add to (`finish`) and to put in words below the figure (`words`). The line is the
mean over seeds, the bar one standard deviation (geometric on a log axis), each dot one run, each
cross a failed run; the crosses at the top edge are runs that diverged and have no value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from seqlab.build import ConfigError, suggest
from seqlab.report import systems
from seqlab.report.figures import curves, expect, style
from seqlab.report.frame import Frame
from seqlab.report.values import Names, values, where


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Options of every chart; keys are dotted config keys.

    caption: below the figure in the README. where: which runs. hue: one key or two
    (colour, line style). panels: the key that gets a panel a value. log, log_x: logarithmic axes.
    expect: see expect.py. marks: ({"x": 8, "label": ...},) vertical lines. limit: {"y": number or
    metric (its mean), "label": ...} a horizontal line. size: width and height of a panel, inches.
    """

    caption: str = ""
    where: Any = ()
    hue: Any = ()
    panels: str = ""
    columns: int = 4
    log: bool = False
    log_x: bool = False
    x_label: str = ""
    y_label: str = ""
    expect: tuple[Mapping[str, Any], ...] = ()
    marks: tuple[Mapping[str, Any], ...] = ()
    limit: Any = ()
    size: Any = ()

    def points(self, frame: Frame, names: Names) -> Frame:
        """One row a point: the run's keys, `x`, `y` (nan: diverged), `failed`."""
        raise NotImplementedError

    def labels(self, names: Names) -> tuple[str, str]:
        """Default texts of the two axes."""
        raise NotImplementedError

    def check(self, names: systems.Pairs) -> None:
        """Raise ConfigError for what is wrong before there are runs; names: `report.names`."""
        systems.check_condition(self.where, names, "report.figures: where")

    def words(self, frame: Frame, names: Names) -> list[str]:
        """What the figure shows, in sentences for the README; none unless a kind has some."""
        del frame, names
        return []

    def grid(self, panels: int) -> tuple[Figure, list[Axes]]:
        """An empty figure and the axes of its panels."""
        return style.grid(panels, self.columns, self.size)

    def finish(self, axis: Axes, data: Frame, looks: Mapping, names: Names) -> None:
        """What a kind of chart adds to the axes of a panel, whose points are `data`."""
        del axis, data, looks, names

    def draw(self, frame: Frame, names: Names) -> Figure:
        """The figure of the runs in `frame`. Raises ConfigError when there is nothing to draw."""
        chosen = where(frame, self.where)
        if chosen.empty:
            raise ConfigError(f"report.figures: no run has {dict(self.where)}")
        data = self.points(chosen, names)
        for key in (*self._hues(), *((self.panels,) if self.panels else ())):
            if key not in data:
                raise ConfigError(f"report.figures: no key {key!r}" + suggest(key, data.columns))
        groups = _groups(data, self._hues())
        looks = dict(zip(groups, style.styles(groups), strict=True))
        data, ticks = self._numbered(data, looks, names)
        parts = list(data.groupby(self.panels, sort=False)) if self.panels else [(None, data)]
        figure, axes = self.grid(len(parts))
        for axis, (value, part) in zip(axes, parts, strict=True):
            if self.panels:
                axis.set_title(names.pair(self.panels, value), fontsize=9, loc="left")
            self._scales(axis, data, ticks)
            self._curves(axis, part, looks, names)
            self._lines(axis, part)
            self.finish(axis, part, looks, names)
        for axis in axes:
            curves.explain(axis)
        x_label, y_label = self.labels(names)
        if len(parts) > 1:
            figure.supxlabel(self.x_label or x_label, fontsize=9)
        else:
            axes[0].set_xlabel(self.x_label or x_label, fontsize=9)
        figure.supylabel(self.y_label or y_label, fontsize=9)
        style.legend(figure, axes, len(parts))
        return figure

    def _hues(self) -> tuple[str, ...]:
        return (self.hue,) if isinstance(self.hue, str) else tuple(self.hue)

    def _numbered(
        self, data: Frame, looks: dict[tuple[Any, ...], dict[str, Any]], names: Names
    ) -> tuple[Frame, dict[float, str]]:
        """x as numbers, and the ticks where x is a few numbers or words.

        Words have no order: their points are not joined, and stand side by side.
        """
        found = list(dict.fromkeys(data["x"]))
        if not any(isinstance(value, str) for value in found):
            few = len(found) <= 8
            return data, {float(x): names.value(x) for x in sorted(found)} if few else {}
        places = {value: place for place, value in enumerate(found)}
        shifts = {}
        for rank, (group, look) in enumerate(looks.items()):
            look["linestyle"] = "none"
            shifts[group] = 0.5 * ((rank + 0.5) / len(looks) - 0.5)
        hues = data[list(self._hues())].itertuples(index=False, name=None)
        moved = [places[x] + shifts[group] for x, group in zip(data["x"], hues, strict=True)]
        return data.assign(x=moved), {float(place): names.value(x) for x, place in places.items()}

    def _scales(self, axis: Axes, data: Frame, ticks: Mapping[float, str]) -> None:
        axis.tick_params(which="both", labelsize=8)
        if self.log:
            axis.set_yscale("log")
            axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.yaxis.set_minor_formatter(style.PlainLog(minor_thresholds=(1.0, 0.4)))
        if self.log_x:
            axis.set_xscale("log", base=2)
        if ticks:
            axis.set_xticks(list(ticks), list(ticks.values()))
            axis.xaxis.set_minor_locator(NullLocator())
        elif not self.log_x and all(float(x).is_integer() for x in data["x"]):
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.margins(0.06, 0.06)

    def _curves(self, axis: Axes, part: Frame, looks: Mapping, names: Names) -> None:
        hues = self._hues()
        for group in _groups(part, hues):
            look = looks[group]
            own = part
            for key, value in zip(hues, group, strict=True):
                own = own[own[key] == value]
            text = ", ".join(names.pair(key, value) for key, value in zip(hues, group, strict=True))
            self._curve(axis, own, look, text)

    def _curve(self, axis: Axes, own: Frame, look: Mapping, text: str) -> None:
        curves.draw(axis, own, look, text)

    def _lines(self, axis: Axes, part: Frame) -> None:
        for number, rule in enumerate(self.expect):
            found = expect.curve(rule, where(part, rule.get("where", ())))
            if found:
                look = style.LINES[(number + 2) % len(style.LINES)]
                text = f"expected: {rule['label']}"
                axis.plot(*found, color=style.GREY, linestyle=look, linewidth=1.2, label=text)
        for mark in self.marks:
            axis.axvline(mark["x"], color=style.GREY, linewidth=0.9, label=mark["label"])
        if self.limit:
            height = self.limit["y"]
            axis.axhline(
                values(part, height).mean() if isinstance(height, str) else height,
                color=style.GREY,
                linewidth=0.9,
                linestyle=(0, (6, 3)),
                label=self.limit["label"],
            )


def _groups(data: Frame, hues: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(data[list(hues)].itertuples(index=False, name=None))) or [()]
