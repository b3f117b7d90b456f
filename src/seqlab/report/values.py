"""Look up rows and metrics of the table of runs.

A metric is a column ("valid/loss", "test/exact@12"), one of its rows on the way
("test/exact@12:500", ":first"), the end of a series ("train/gradient_norm/decoder@last:first";
@first, @last: the lowest and highest number that the run has), or a ratio "A / B" of two such.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.report.collect import SERIES
from seqlab.report.frame import Column, Frame, cell
from seqlab.sweep.plan import label

OUTCOMES = ("train/", "valid/", "test/", "test_")  # what a diverged run has no final value of


def values(frame: Frame, metric: str) -> Column:
    """The metric of every run; nan where it has none, or has diverged before its final value.

    Raises ConfigError for a metric that no run has, with the nearest ones.
    """
    over, ratio, under = metric.partition(" / ")
    if ratio:
        return values(frame, over) / values(frame, under)
    found = frame.apply(lambda run: _value(run, metric), axis=1).astype(float)
    if found.isna().all() and not _known(frame, metric):
        names = [name for name in frame.columns if "/" in name and ":" not in name]
        raise ConfigError(f"report: no run has the metric {metric!r}" + suggest(metric, names))
    if ":" not in metric and metric.startswith(OUTCOMES):
        found[frame["diverged"] != ""] = float("nan")
    return found


def series(columns: Iterable[str], name: str, at: str = "") -> dict[float, str]:
    """{number: column} of a series, numbers ascending; at: "" (final), "first" or a step."""
    found = {}
    for column in columns:
        base, _, when = column.partition(":")
        match = SERIES.fullmatch(base)
        if match and match[1] == name and when == at:
            found[float(match[2])] = column
    return dict(sorted(found.items()))


def where(frame: Frame, condition: Any) -> Frame:
    """The runs whose keys have the given values; a tuple of values means any of them.

    condition: a mapping or pairs of dotted key and value. Raises ConfigError for an unknown key.
    """
    for key, wanted in dict(condition).items():
        check_key(frame, key)
        several = wanted if isinstance(wanted, tuple | list) else (wanted,)
        frame = frame[frame[key].isin([cell(value) for value in several])]
    return frame


def check_key(frame: Frame, key: str) -> None:
    """Raise ConfigError when the table has no such key."""
    if key not in frame:
        known = [name for name in frame.columns if "/" not in name]
        raise ConfigError(f"report: the table of runs has no key {key!r}" + suggest(key, known))


class Names:
    """What keys, values and metrics are called in tables and figures: `report.labels`, or short."""

    def __init__(self, labels: Iterable[tuple[Any, str]]):
        self._labels: Mapping[Any, str] = dict(labels)

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> "Names":
        """Those of a report: systems by their own name, and its labels."""
        return cls([*((name, name) for name, _ in report["names"]), *report["labels"]])

    def label(self, metric: str, otherwise: str) -> str:
        """What `report.labels` calls a metric, or else `otherwise`."""
        return self._labels.get(metric, otherwise)

    def key(self, key: str) -> str:
        """A config key or metric in words."""
        if key in self._labels:
            return self._labels[key]
        if " / " in key:
            return " / ".join(map(self.key, key.split(" / ")))
        base, _, when = key.partition(":")
        if when:
            return f"{self.key(base)} ({'first' if when == 'first' else f'step {when}'})"
        short = key if "/" in key else key.removesuffix(".kind").rpartition(".")[2]
        return short.replace("_", " ")

    def value(self, value: Any) -> str:
        """A value in words: the class of a part, a number without a trailing .0."""
        if value in self._labels:
            return self._labels[value]
        if isinstance(value, float) and value == int(value):
            value = int(value)
        return value if isinstance(value, str) and "." not in value else label(value)

    def pair(self, key: str, value: Any) -> str:
        """A value that needs its key to be understood: "warmup 100", but "Pre-LN"."""
        text = self.value(value)
        return text if isinstance(value, str) else f"{self.key(key)} {text}"

    def condition(self, condition: Mapping[str, Any]) -> str:
        """A condition on runs: "Pre-LN, warm-up 0 or warm-up 100"."""
        parts = []
        for key, wanted in condition.items():
            several = wanted if isinstance(wanted, tuple | list) else (wanted,)
            parts.append(" or ".join(self.pair(key, value) for value in several))
        return ", ".join(parts)


def _value(run: Column, metric: str) -> float:
    name, _, when = metric.partition(":")
    base, _, end = name.rpartition("@")
    if end in ("first", "last"):
        there = run.dropna().index
        found = series(there, base, when)
        return run[list(found.values())[0 if end == "first" else -1]] if found else float("nan")
    if when == "first" and metric not in run:  # written only once: the first row is the last
        return run.get(name, float("nan"))
    return run.get(metric, float("nan"))


def _known(frame: Frame, metric: str) -> bool:
    name = metric.partition(":")[0]
    base, _, end = name.rpartition("@")
    return name in frame or (end in ("first", "last") and bool(series(frame.columns, base)))
