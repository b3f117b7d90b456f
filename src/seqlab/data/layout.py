"""How an example becomes a row of a batch.

    pair    source  s1 s2 s3 EOS          encoder-decoder
            inputs  BOS t1 t2
            targets t1  t2 EOS            weights 1 1 1

    prefix  inputs  BOS s1 s2 s3 SEP t1 t2     decoder-only
            targets s1  s2 s3 SEP t1 t2 EOS    weights 0 0 0 0 1 1 1

A prompt is what decoding starts from: BOS, or BOS s1 s2 s3 SEP. Rows are padded on the right to
the bucket; rows without an example (filler) have index -1, weight 0 and empty masks.
"""

import abc
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int

from seqlab.data.encode import Examples, Ragged
from seqlab.data.text.base import BOS, SEP
from seqlab.types import Batch


class Layout(abc.ABC):
    """Lays examples out. Lengths are in tokens: what a bucket must hold."""

    joint: ClassVar[bool]  # source and target stand in one row

    @abc.abstractmethod
    def lengths(self, examples: Examples) -> Int[np.ndarray, " R"]:
        """Length of every example's row."""

    @abc.abstractmethod
    def prompt_lengths(self, examples: Examples) -> Int[np.ndarray, " R"]:
        """Length of every example's prompt row."""

    @abc.abstractmethod
    def batch(
        self, examples: Examples, rows: Int[np.ndarray, " N"], width: int, size: int
    ) -> Batch:
        """`size` rows of `width` tokens; the rows beyond the given ones are filler."""

    @abc.abstractmethod
    def prompt(
        self, examples: Examples, rows: Int[np.ndarray, " N"], width: int, size: int
    ) -> Batch:
        """The same without targets: what decoding starts from."""


class Pair(Layout):
    """Source to the encoder, target to the decoder."""

    joint = False

    def lengths(self, examples: Examples) -> Int[np.ndarray, " R"]:
        return np.maximum(examples.source.lengths, examples.target.lengths)

    def prompt_lengths(self, examples: Examples) -> Int[np.ndarray, " R"]:
        return examples.source.lengths

    def batch(
        self, examples: Examples, rows: Int[np.ndarray, " N"], width: int, size: int
    ) -> Batch:
        source = np.zeros((size, width), np.int32)
        targets = np.zeros((size, width), np.int32)
        source_mask = _place(source, examples.source, rows, 0)
        mask = _place(targets, examples.target, rows, 0)
        inputs = np.zeros_like(targets)
        inputs[:, 1:] = targets[:, :-1]
        inputs[:, 0] = BOS
        return Batch(
            inputs=np.where(mask, inputs, 0),
            mask=mask,
            targets=targets,
            weights=mask.astype(np.float32),
            source=source,
            source_mask=source_mask,
            index=_index(examples, rows, size),
        )

    def prompt(
        self, examples: Examples, rows: Int[np.ndarray, " N"], width: int, size: int
    ) -> Batch:
        source = np.zeros((size, width), np.int32)
        source_mask = _place(source, examples.source, rows, 0)
        index = _index(examples, rows, size)
        mask = (index >= 0)[:, None]
        return _prompt(np.where(mask, np.int32(BOS), 0), mask, source, source_mask, index)


class Prefix(Layout):
    """Source and target in one row, with a separator between them."""

    joint = True

    def lengths(self, examples: Examples) -> Int[np.ndarray, " R"]:
        # BOS s SEP t without its last token; the source's own EOS is not used.
        return examples.source.lengths + examples.target.lengths

    def prompt_lengths(self, examples: Examples) -> Int[np.ndarray, " R"]:
        return examples.source.lengths + 1

    def batch(
        self, examples: Examples, rows: Int[np.ndarray, " N"], width: int, size: int
    ) -> Batch:
        whole = np.zeros((size, width + 1), np.int32)
        starts = _open(whole, examples, rows)
        answer = _place(whole, examples.target, rows, starts)
        weights = answer[:, 1:]
        # Inputs are all tokens but the last: at t where a target follows, or the prompt does.
        ends = np.zeros(size, np.int64)
        ends[: len(rows)] = starts + examples.target.lengths[rows] - 1
        mask = np.arange(width) < ends[:, None]
        return Batch(
            inputs=np.where(mask, whole[:, :-1], 0),
            mask=mask,
            targets=np.where(mask, whole[:, 1:], 0),
            weights=weights.astype(np.float32),
            **_no_source(size),
            index=_index(examples, rows, size),
        )

    def prompt(
        self, examples: Examples, rows: Int[np.ndarray, " N"], width: int, size: int
    ) -> Batch:
        inputs = np.zeros((size, width), np.int32)
        ends = np.zeros(size, np.int64)
        ends[: len(rows)] = _open(inputs, examples, rows)
        mask = np.arange(width) < ends[:, None]
        return _prompt(inputs, mask, **_no_source(size), index=_index(examples, rows, size))


LAYOUTS: dict[str, Layout] = {"pair": Pair(), "prefix": Prefix()}


def _place(
    out: Int[np.ndarray, "B W"], ragged: Ragged, rows: np.ndarray, start, drop: int = 0
) -> Bool[np.ndarray, "B W"]:
    """Write rows into `out` from column `start` on, without their last `drop` tokens; where."""
    ends = np.zeros((len(out), 1), np.int64)
    starts = np.zeros((len(out), 1), np.int64)
    starts[: len(rows), 0] = start
    ends[: len(rows), 0] = start + ragged.lengths[rows] - drop
    columns = np.arange(out.shape[1])
    region = (columns >= starts) & (columns < ends)
    out[region] = ragged.flat(rows, drop)  # both run row by row
    return region


def _open(out: Int[np.ndarray, "B W"], examples: Examples, rows: np.ndarray) -> np.ndarray:
    """Write BOS s1 .. sn SEP; the column after it, per row."""
    _place(out, examples.source, rows, 1, drop=1)
    starts = examples.source.lengths[rows] + 1
    out[: len(rows), 0] = BOS
    out[np.arange(len(rows)), starts - 1] = SEP
    return starts


def _prompt(inputs, mask, source, source_mask, index) -> Batch:
    return Batch(
        inputs=inputs,
        mask=mask,
        targets=np.zeros_like(inputs),
        weights=np.zeros(inputs.shape, np.float32),
        source=source,
        source_mask=source_mask,
        index=index,
    )


def _no_source(size: int) -> dict[str, np.ndarray]:
    return {"source": np.zeros((size, 0), np.int32), "source_mask": np.zeros((size, 0), bool)}


def _index(examples: Examples, rows: np.ndarray, size: int) -> Int[np.ndarray, " B"]:
    index = np.full(size, -1, np.int32)
    index[: len(rows)] = examples.index[rows]
    return index
