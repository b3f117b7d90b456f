"""What is sent to a worker: one point, as a line of text."""

import json
from dataclasses import dataclass
from pathlib import Path

from seqlab.config import from_json, to_json
from seqlab.sweep.plan import Point


@dataclass(frozen=True)
class Order:
    """Attempt this point under `root`; title: what it is called in messages."""

    point: Point
    root: Path
    title: str

    def to_line(self) -> str:
        """JSON without a line break, equal after `from_line`."""
        point = self.point
        return json.dumps(
            {
                "id": point.id,
                "config": to_json(point.config),
                "varied": to_json(point.varied),
                "root": str(self.root),
                "title": self.title,
            }
        )

    @classmethod
    def from_line(cls, line: str) -> "Order":
        """The order that `to_line` wrote."""
        sent = json.loads(line)
        point = Point(sent["id"], from_json(sent["config"]), from_json(sent["varied"]))
        return cls(point, Path(sent["root"]), sent["title"])
