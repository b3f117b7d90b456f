"""Which examples make up which batch.

An example goes to the smallest bucket that holds its row. Every epoch permutes the examples, cuts
each bucket's into batches (the last one of a bucket is filled up with filler rows, nothing is
dropped) and shuffles groups of 8 batches of one bucket, so that several steps can share a dispatch
and few programs are compiled: one a bucket.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from seqlab.build import ConfigError
from seqlab.data.encode import Examples
from seqlab.data.layout import Layout
from seqlab.types import Batch, HostArray

GROUP = 8  # batches of one bucket in a row


@dataclasses.dataclass(frozen=True)
class Shard:
    """The rows of a batch that one process makes: block `index` of `count` equal ones, of a batch
    that was filled up with filler rows to a multiple of `multiple`, which `count` divides."""

    index: int = 0
    count: int = 1
    multiple: int = 1

    def rows(self, size: int) -> int:
        """Rows of this process, of a batch of `size` rows."""
        return (size + -size % self.multiple) // self.count

    def own(self, batch: Batch) -> Batch:
        """Its rows of a whole batch. Filler rows have no real token, weight 0 and index -1."""
        size = len(batch.index)
        mine = self.rows(size)
        start = self.index * mine

        def cut(array: HostArray, filler: int = 0) -> np.ndarray:
            part = np.asarray(array)[start : start + mine]
            missing = [(0, mine - len(part)), *[(0, 0)] * (part.ndim - 1)]
            return np.pad(part, missing, constant_values=filler)

        fields = {name: cut(array) for name, array in vars(batch).items()}
        return Batch(**{**fields, "index": cut(batch.index, -1)})


WHOLE = Shard()

Planned = tuple[int, np.ndarray]  # bucket, rows of the examples


def buckets_of(lengths: Int[np.ndarray, " R"], buckets: Sequence[int]) -> Int[np.ndarray, " R"]:
    """The bucket of each length. Raises ConfigError when the longest one has no bucket."""
    longest = int(lengths.max(initial=0))
    if longest > max(buckets):
        raise ConfigError(
            f"data.buckets: the longest row has {longest} tokens, the largest bucket holds "
            f"{max(buckets)}; add a bucket of at least {longest}, or lower data.max_length"
        )
    ordered = np.array(sorted(buckets))
    return ordered[np.searchsorted(ordered, lengths)]


def rows_in(bucket: int, batch: int, unit: str) -> int:
    """Rows of a batch: `batch` itself, or as many rows of the bucket as `batch` tokens give."""
    if unit not in ("examples", "tokens"):
        raise ConfigError(f"train.batch_unit: {unit!r}; choose from: examples, tokens")
    rows = batch if unit == "examples" else batch // bucket
    if rows < 1:
        raise ConfigError(
            f"train.batch: {batch} {unit} are not one row of bucket {bucket} (data.buckets)"
        )
    return rows


def epoch(
    buckets: Int[np.ndarray, " R"], batch: int, unit: str, seed: Sequence[int]
) -> list[Planned]:
    """The batches of one epoch in training order; the same for the same seed."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(buckets))
    groups = []
    for bucket in np.unique(buckets):
        rows = order[buckets[order] == bucket]
        batches = _cut(int(bucket), rows, batch, unit)
        groups += [batches[start : start + GROUP] for start in range(0, len(batches), GROUP)]
    return [planned for group in generator.permutation(len(groups)) for planned in groups[group]]


def once(buckets: Int[np.ndarray, " R"], batch: int, unit: str) -> list[Planned]:
    """Every example exactly once, in order within its bucket: for evaluation."""
    return [
        planned
        for bucket in np.unique(buckets)
        for planned in _cut(int(bucket), np.flatnonzero(buckets == bucket), batch, unit)
    ]


def lay_out(
    layout: Layout,
    examples: Examples,
    planned: Planned,
    batch: int,
    unit: str,
    shard: Shard = WHOLE,
) -> Batch:
    """The shard's rows of the batch that was planned."""
    bucket, rows = planned
    mine = shard.rows(rows_in(bucket, batch, unit))
    return layout.batch(examples, rows[shard.index * mine :][:mine], bucket, mine)


def _cut(bucket: int, rows: np.ndarray, batch: int, unit: str) -> list[Planned]:
    size = rows_in(bucket, batch, unit)
    return [(bucket, rows[start : start + size]) for start in range(0, len(rows), size)]
