"""Shapes, masks and the small containers that every part of seqlab speaks.

Shape letters, used in annotations, einsums and comments:

    B batch          T target length / time     S source length (keys)
    D model width    H attention heads          K width of one head
    V vocabulary     G key/value heads          L layers

Masks are boolean and True means "may be seen" (a real token). Positions count the real tokens of
a row and segment from 0. Segments number the packed sequences of a row.
"""

from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

# A leaf of a container. Not `Array`: JAX also rebuilds containers around shapes, gradients of
# integers and placeholders. The shapes of leaves are in the docstrings.
Leaf = Any


@flax.struct.dataclass
class View:
    """What a mixer may know of a sequence besides its values.

    mask: [B, T] True at real tokens. positions: [B, T] count of real tokens of the same segment
    before this one. segments: [B, T] number of the packed sequence. dropout: traced rate, or None
    when nothing is dropped. table: bias parameters that all layers share (T5), or None.
    """

    mask: Leaf
    positions: Leaf
    segments: Leaf
    dropout: Leaf = None
    table: Leaf = None

    @classmethod
    def of(
        cls,
        mask: Bool[Array, "B T"],
        segments: Int[Array, "B T"] | None = None,
        dropout: Float[Array, ""] | None = None,
    ) -> "View":
        """The view of a whole sequence: positions are counted from the mask and the segments."""
        if segments is None:
            segments = jnp.zeros(mask.shape, jnp.int32)
        return cls(mask, count_positions(mask, segments), segments, dropout)


@flax.struct.dataclass
class Memory:
    """What a decoder may know of the source: encoder outputs x [B, S, D], their view, and a summary
    [B, U] of the whole source in one vector (None: there is none)."""

    x: Leaf
    view: View
    summary: Leaf = None


HostArray = Array | np.ndarray  # NumPy until a batch is put on the devices


@flax.struct.dataclass
class Batch:
    """One training, evaluation or prediction batch; the last dimension is time.

    inputs [B, T]: tokens the decoder reads. mask [B, T]: which of them are real. targets [B, T]
    and weights [B, T]: what it must predict and how much each counts (0 on padding, prompts and
    filler rows). source [B, S] and source_mask [B, S]: the encoder's tokens (S = 0: no encoder).
    index [B]: number of the example in its split, -1 for a filler row.
    """

    inputs: Leaf
    mask: Leaf
    targets: Leaf
    weights: Leaf
    source: Leaf
    source_mask: Leaf
    index: Leaf


def count_positions(
    mask: Bool[Array, "B T"],
    segments: Int[Array, "B T"],
    seen: Int[Array, " B"] | None = None,
    segment: Int[Array, " B"] | None = None,
) -> Int[Array, "B T"]:
    """Positions of real tokens within their segment, continuing after `seen` tokens of `segment`.

    position[t] = number of real tokens u < t with segments[u] == segments[t], plus `seen` where
    the row still is in `segment`. Segments are contiguous. Padding gets position 0, which every
    encoding has.
    """
    ones = mask.astype(jnp.int32)
    counts = jnp.cumsum(ones, axis=1) - ones  # real tokens before t in this row
    starts = segment_starts(mask, segments, segment)
    positions = counts - jax.lax.cummax(jnp.where(starts, counts, 0), axis=1)
    if seen is not None:  # rows carry `seen` on until their first new segment
        fresh = jnp.cumsum(starts.astype(jnp.int32), axis=1) > 0
        positions = positions + jnp.where(fresh, 0, seen[:, None])
    return jnp.where(mask, positions, 0).astype(jnp.int32)


def segment_starts(
    mask: Bool[Array, "B T"],
    segments: Int[Array, "B T"],
    segment: Int[Array, " B"] | None = None,
) -> Bool[Array, "B T"]:
    """True at real tokens whose segment differs from that of the real token before.

    segment: the segment each row was in before the first column; -1, or None for all rows: the
    row's first real token goes on with whatever came before.
    """
    time = jnp.arange(mask.shape[1])
    last = jax.lax.cummax(jnp.where(mask, time, -1), axis=1)
    before = jnp.pad(last, ((0, 0), (1, 0)), constant_values=-1)[:, :-1]
    entering = jnp.full(mask.shape[:1], -1) if segment is None else segment
    # Column 0 stands for what came before the first one, so that chunks may even be empty.
    known = jnp.concatenate([entering[:, None], segments], axis=1)
    previous = jnp.take_along_axis(known, before + 1, axis=1)
    return mask & (segments != previous) & (previous >= 0)


def at_last(
    values: Int[Array, "B T"], mask: Bool[Array, "B T"], default: Int[Array, " B"]
) -> Int[Array, " B"]:
    """The value at each row's last real token; `default` where the row has none."""
    last = jnp.max(jnp.where(mask, jnp.arange(mask.shape[1]), -1), axis=1, initial=-1)
    known = jnp.concatenate([default[:, None], values], axis=1)
    return jnp.take_along_axis(known, last[:, None] + 1, axis=1)[:, 0]
