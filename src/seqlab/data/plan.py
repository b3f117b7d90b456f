"""Which examples make up which batch.

An example goes to the smallest bucket that holds its row. Every epoch permutes the examples, cuts
each bucket's into batches (the last one of a bucket is filled up with filler rows, nothing is
dropped) and shuffles groups of 8 batches of one bucket, so that several steps can share a dispatch
and few programs are compiled: one a bucket.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from seqlab.build import ConfigError
from seqlab.data.encode import Examples
from seqlab.data.layout import Layout
from seqlab.types import Batch

GROUP = 8  # batches of one bucket in a row

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


def lay_out(layout: Layout, examples: Examples, planned: Planned, batch: int, unit: str) -> Batch:
    """The batch that was planned."""
    bucket, rows = planned
    return layout.batch(examples, rows, bucket, rows_in(bucket, batch, unit))


def _cut(bucket: int, rows: np.ndarray, batch: int, unit: str) -> list[Planned]:
    size = rows_in(bucket, batch, unit)
    return [(bucket, rows[start : start + size]) for start in range(0, len(rows), size)]
