"""Records: the text of an example, as tasks hand it to the pipeline and score against it."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Record:
    """source -> target, both raw text; references: all targets that count as right."""

    source: str
    target: str
    references: tuple[str, ...]


class Mapped(Sequence):
    """The rows of a table as records, made when they are asked for (nothing is held in memory)."""

    def __init__(self, rows: Sequence[Any], record: Callable[[Any], Record]):
        self._rows = rows
        self._record = record

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._record(row) for row in self._rows[index]]
        return self._record(self._rows[index])

    def __iter__(self) -> Iterator[Record]:
        return map(self._record, self._rows)


def choose(count: int, limit: int) -> np.ndarray:
    """Numbers of the first `limit` of `count` examples after a fixed shuffle, in rising order.

    limit: 0 for all. The choice does not depend on the seed of a run, so that all runs of a sweep
    are evaluated on the same examples.
    """
    if not 0 < limit < count:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).permutation(count)[:limit])
