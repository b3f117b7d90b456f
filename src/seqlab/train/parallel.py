"""Putting the pure step on devices: a mesh, and where each array lives."""

import functools
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from seqlab.types import Batch


@functools.cache
def mesh() -> Mesh:
    """All local devices along one axis, `data`."""
    return Mesh(np.array(jax.local_devices()), ("data",))


def replicated() -> NamedSharding:
    """The same array on every device: parameters and optimizer state."""
    return NamedSharding(mesh(), PartitionSpec())


def put_replicated(tree: Any) -> Any:
    """The tree on every device."""
    return jax.device_put(tree, replicated())


def put_batch(batch: Batch, rows: int) -> Batch:
    """A batch spread over the devices along axis `rows`, filled up to their number.

    Filler rows have no real token and weight 0, so that they change neither loss nor gradient.
    """
    count = mesh().size

    def fill(array: np.ndarray, value: int) -> np.ndarray:
        missing = -array.shape[rows] % count
        widths = [(0, missing if axis == rows else 0) for axis in range(array.ndim)]
        return np.pad(array, widths, constant_values=value) if missing else array

    filled = jax.tree.map(lambda a: fill(np.asarray(a), 0), batch)
    filled = filled.replace(index=fill(np.asarray(batch.index), -1))
    spec = PartitionSpec(*[None] * rows, "data")
    return jax.device_put(filled, NamedSharding(mesh(), spec))
