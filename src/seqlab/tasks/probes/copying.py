"""Copy and reverse: does a model carry a sequence over, and beyond the lengths it was trained on?

    copy      source "c a b b"   target "c a b b"
    reverse   source "c a b b"   target "b b a c"

Symbols are drawn uniformly. Training lengths are uniform in [train_min, train_max] (every epoch
holds each of them equally often), test lengths go on to twice train_max.
"""

import dataclasses
import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from seqlab.build import ConfigError, suggest
from seqlab.data.records import Record
from seqlab.tasks.base import Generated, check_counts

# Purposes of the random streams, so that no split repeats another's examples by construction.
TRAIN, VALID, TEST = range(3)


@dataclasses.dataclass(frozen=True)
class Copy(Generated):
    """Repeat the source.

    symbols: size of the alphabet. test_lengths: () for quarters of train_max up to twice of it.
    unique: no symbol twice in a sequence (needs as many symbols as the longest one has).
    solved: share of exact answers from which a length counts as solved. epoch_examples,
    valid_examples: examples of a training epoch and of the validation split; test_examples: of
    each test length. Validation and test examples are the same for all seeds.
    """

    symbols: int = 13
    train_min: int = 1
    train_max: int = 20
    test_lengths: tuple[int, ...] = ()
    unique: bool = False
    solved: float = 0.9
    epoch_examples: int = 4096
    valid_examples: int = 512
    test_examples: int = 64

    abstract: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 1 <= self.train_min <= self.train_max:
            raise ConfigError(
                f"task.train_min: needs 1 <= train_min <= train_max, got {self.train_min} and "
                f"{self.train_max}"
            )
        if self.tested[0] < 1:
            raise ConfigError(f"task.test_lengths: {self.tested[0]} is no length, the least is 1")
        longest = max(self.train_max, *self.tested)
        if self.unique and longest > self.symbols:
            raise ConfigError(
                f"task.symbols: {self.symbols} symbols cannot fill a sequence of {longest} without "
                "repeating one; use more symbols or unique=False"
            )

    @property
    def tested(self) -> tuple[int, ...]:
        """The test lengths, rising."""
        step = max(1, self.train_max // 4)
        return tuple(sorted(self.test_lengths)) or tuple(range(step, 2 * self.train_max + 1, step))

    def answer(self, symbols: Sequence[str]) -> Sequence[str]:
        """What the model has to write."""
        return symbols

    def alphabet(self) -> Sequence[str]:
        return self.names()

    def names(self) -> Sequence[str]:
        """The symbols of the source, in the order of their numbers."""
        letters = string.ascii_lowercase
        if self.symbols <= len(letters):
            return tuple(letters[: self.symbols])
        return tuple(f"{letters[n % 26]}{n // 26}" for n in range(self.symbols))

    def generate(self, seed: int, epoch: int) -> Sequence[Record]:
        return self._records((seed, epoch, TRAIN), self._spread(self.epoch_examples))

    def load(self, data: Mapping[str, Any], split: str) -> Sequence[Record]:
        """The fixed validation and test examples; for "train", those of seed 0, epoch 0."""
        del data
        if split == "train":
            return self.generate(0, 0)
        if split == "valid":
            return self._records((0, 0, VALID), self._spread(self.valid_examples))
        if split == "test":
            return self._records((0, 0, TEST), np.repeat(self.tested, self.test_examples))
        raise ConfigError(f"split {split!r}" + suggest(split, ("train", "valid", "test")))

    def score(self, hypotheses: Sequence[str], records: Sequence[Record]) -> dict[str, float]:
        """accuracy: share of target positions with the right symbol; exact: share of answers that
        are right from the first symbol to the last; both over all records and, as "accuracy@n"
        and "exact@n", at each length n. extrapolation_length: the largest n such that exact@m >=
        `solved` at every length m <= n of the records (0 where the shortest fails).
        """
        check_counts(hypotheses, records)
        groups: dict[int, list[_Tally]] = {}
        for hypothesis, record in zip(hypotheses, records, strict=True):
            written, wanted = hypothesis.split(), record.target.split()
            right = sum(a == b for a, b in zip(written, wanted, strict=False))
            tally = right, len(wanted), written == wanted
            groups.setdefault(len(wanted), []).append(tally)
        metrics = _rates([tally for group in groups.values() for tally in group])
        reach, solving = 0, True
        for length in sorted(groups):
            rates = _rates(groups[length])
            metrics |= {f"{name}@{length}": value for name, value in rates.items()}
            solving = solving and rates["exact"] >= self.solved
            reach = length if solving else reach
        return {**metrics, "extrapolation_length": float(reach)}

    def conventions(self, records: Sequence[Record]) -> dict[str, str]:
        del records
        return {
            "accuracy": "share of target positions with the right symbol, free-running",
            "exact": "share of answers without any error, free-running",
            "extrapolation_length": f"largest tested length up to which exact >= {self.solved}",
        }

    def _spread(self, count: int) -> np.ndarray:
        """`count` lengths that take every value in [train_min, train_max] equally often."""
        return self.train_min + np.arange(count) % (self.train_max - self.train_min + 1)

    def _records(self, key: tuple[int, int, int], lengths: np.ndarray) -> list[Record]:
        generator = np.random.default_rng(key)
        shape = len(lengths), self.symbols if self.unique else int(lengths.max())
        if self.unique:
            drawn = generator.permuted(np.broadcast_to(np.arange(shape[1]), shape), axis=1)
        else:
            drawn = generator.integers(self.symbols, size=shape)
        names = np.array(self.names(), object)[drawn].tolist()
        return [self._record(row[:length]) for row, length in zip(names, lengths, strict=True)]

    def _record(self, symbols: list[str]) -> Record:
        target = " ".join(self.answer(symbols))
        return Record(" ".join(symbols), target, (target,))


@dataclasses.dataclass(frozen=True)
class Reverse(Copy):
    """Write the source from its end to its start."""

    def answer(self, symbols: Sequence[str]) -> Sequence[str]:
        return symbols[::-1]


_Tally = tuple[int, int, bool]  # right symbols, symbols, all right


def _rates(tallies: Sequence[_Tally]) -> dict[str, float]:
    right, symbols, exact = (sum(column) for column in zip(*tallies, strict=True))
    return {"accuracy": right / symbols, "exact": exact / len(tallies)}
