"""A metric against an axis of the experiment: final loss against depth."""

from dataclasses import dataclass

from seqlab.report.figures.base import Chart
from seqlab.report.frame import Frame
from seqlab.report.values import Names, check_key, values


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """x: a config key. y: a metric (see report/values.py)."""

    x: str
    y: str

    def points(self, frame: Frame, names: Names) -> Frame:
        """One point a run."""
        check_key(frame, self.x)
        early = ":" in self.y  # a value from before a run failed
        failed = False if early else frame["failed"]
        return frame.assign(x=frame[self.x], y=values(frame, self.y), failed=failed)

    def labels(self, names: Names) -> tuple[str, str]:
        """The key and the metric in words."""
        return names.key(self.x), names.key(self.y)
