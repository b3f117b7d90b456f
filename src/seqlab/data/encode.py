"""Text to ids: a whole split, held as two flat arrays.

What is cut is counted. `max_length` counts tokens, EOS included:

    target of max_length - 1 tokens: [t1 .. t(max-1) EOS], all with weight 1
    target of max_length tokens or more: [t1 .. tmax], cut, without EOS: the model never learns to
        stop where the text goes on
    source: always ends in EOS; a cut one keeps its first max_length - 1 tokens
"""

import dataclasses
from array import array
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Int

from seqlab.build import ConfigError, suggest
from seqlab.data.records import Record
from seqlab.data.text.base import EOS, UNK
from seqlab.data.vocabulary import SIDES, Vocabularies


@dataclasses.dataclass(frozen=True)
class Ragged:
    """Rows of different lengths. Row i is tokens[offsets[i]:offsets[i + 1]]."""

    tokens: Int[np.ndarray, " N"]
    offsets: Int[np.ndarray, " R"]

    @property
    def lengths(self) -> Int[np.ndarray, " R"]:
        """Number of tokens of each row."""
        return np.diff(self.offsets)

    def row(self, index: int) -> np.ndarray:
        """The tokens of one row."""
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]

    def flat(self, rows: Int[np.ndarray, " B"], drop: int = 0) -> Int[np.ndarray, " N"]:
        """The tokens of some rows one after the other, without the last `drop` of each."""
        lengths = self.offsets[rows + 1] - self.offsets[rows] - drop
        ends = np.cumsum(lengths)
        # Where each row starts in the store, less where it starts in the result.
        shift = np.repeat(self.offsets[rows] - (ends - lengths), lengths)
        return self.tokens[np.arange(len(shift)) + shift]

    def select(self, rows: Int[np.ndarray, " B"]) -> "Ragged":
        """Some of the rows, in the given order."""
        return Ragged(self.flat(rows), np.cumsum([0, *self.lengths[rows]]))


@dataclasses.dataclass(frozen=True)
class Examples:
    """An encoded split. index: number of each example in the split; counts: what was met."""

    source: Ragged
    target: Ragged
    index: Int[np.ndarray, " R"]
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.index)

    def select(self, rows: Int[np.ndarray, " N"]) -> "Examples":
        """Some of the examples, numbered from 0 in the given order."""
        index = np.arange(len(rows), dtype=np.int32)
        return Examples(self.source.select(rows), self.target.select(rows), index, self.counts)


def encode(
    records: Iterable[Record],
    vocabularies: Vocabularies,
    max_length: Mapping[str, int],
    keep: Mapping[str, Sequence[int]],
    first: int = 0,
    training: bool = False,
) -> Examples:
    """Encode a split. keep: side -> (least, most) tokens without EOS of the examples to keep.

    first: number of the first record. training: leave out pairs of which one side is blank, which
    would teach to invent text. counts: examples (kept), filtered, blank, truncated_source,
    truncated_target, unknown (tokens).
    """
    for side in keep:
        if side not in SIDES:
            raise ConfigError(f"data.filter.{side}: no such side" + suggest(side, SIDES))
    builders = {"source": _Builder(max_length["source"], True)}
    builders["target"] = _Builder(max_length["target"], False)
    index = array("i")
    filtered = blank = 0
    for number, record in enumerate(records, first):
        ids = {
            "source": vocabularies.source.encode(record.source),
            "target": vocabularies.target.encode(record.target),
        }
        if any(not least <= len(ids[side]) <= most for side, (least, most) in keep.items()):
            filtered += 1
        elif training and bool(ids["source"]) != bool(ids["target"]):
            blank += 1
        else:
            for side, builder in builders.items():
                builder.add(ids[side])
            index.append(number)
    source, target = (builders[side].ragged() for side in SIDES)
    counts = {
        "examples": len(index),
        "filtered": filtered,
        "blank": blank,
        "truncated_source": builders["source"].cut,
        "truncated_target": builders["target"].cut,
        "unknown": int((source.tokens == UNK).sum() + (target.tokens == UNK).sum()),
    }
    target = dataclasses.replace(target, tokens=vocabularies.place(target.tokens))
    return Examples(source, target, np.array(index, np.int32), counts)


class _Builder:
    """Collects rows, cutting them to `limit` tokens; always_end: a cut row ends in EOS, too."""

    def __init__(self, limit: int, always_end: bool):
        self.limit = limit
        self.always_end = always_end
        self.tokens = array("i")
        self.offsets = array("q", [0])
        self.cut = 0

    def add(self, ids: list[int]) -> None:
        whole = len(ids) < self.limit
        self.cut += not whole
        if whole or self.always_end:
            self.tokens.extend(ids[: self.limit - 1])
            self.tokens.append(EOS)
        else:
            self.tokens.extend(ids[: self.limit])
        self.offsets.append(len(self.tokens))

    def ragged(self) -> Ragged:
        return Ragged(np.array(self.tokens, np.int32), np.array(self.offsets, np.int64))
