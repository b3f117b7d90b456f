"""What a run generated for its test examples, one JSON object a line.

    {"index": 0, "source": "猫", "hypothesis": "a cat", "references": ["the cat"],
     "truncated": false, "score": 31.2}

index: number among the scored examples. truncated: cut at `decode.max_length`. score: of this
example alone, as the run's conventions say.
"""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqlab.train.atomic import write_atomically


@dataclasses.dataclass(frozen=True)
class Prediction:
    """One line."""

    index: int
    source: str
    hypothesis: str
    references: tuple[str, ...]
    truncated: bool
    score: float


def save(path: Path, predictions: Iterable[Prediction]) -> None:
    """Write the file, whole or not at all."""
    rows = (dataclasses.asdict(each) for each in predictions)
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def load(path: Path) -> list[dict[str, Any]]:
    """The rows of the file. Raises FileNotFoundError where the run has generated nothing."""
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there: the run has not reached its last test, or decode.method is "
            '"none"; python -m seqlab.evaluate scores a run anew'
        )
    # A line ends at a line feed, and only there: JSON leaves U+2028 and the like as they are.
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
