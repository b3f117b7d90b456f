"""What putting a run on devices means: where the state lives, how batches are spread, how the pure
functions are compiled."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import numpy as np
from jax.experimental import multihost_utils

from seqlab.data.plan import Shard
from seqlab.train.compiled import Compiled
from seqlab.train.devices.rows import Rows
from seqlab.train.state import TrainState
from seqlab.types import Batch


class Devices(abc.ABC):
    """All devices of all processes of a run.

    count: their number; a batch is filled up to a multiple of it with rows of weight 0. processes,
    process: how many processes share them, and which is this one. rows: what the step sees of a
    batch.

    A state has two forms: the one that is saved, global arrays as `jax.jit` takes them, and the one
    that the training program takes. `load` and `unload` turn one into the other; every process must
    call them.
    """

    count: int
    processes: int
    process: int
    rows: ClassVar[Rows] = Rows()

    def shard(self, parts: int = 1) -> Shard:
        """The rows of each batch that this process makes; parts: micro-batches of a batch."""
        return Shard(self.process, self.processes, self.count * parts)

    def put(self, batch: Batch) -> Batch:
        """A whole batch, which every process has, filled up and spread over the devices."""
        return self.put_own(self.shard().own(batch))

    @abc.abstractmethod
    def put_own(self, batch: Batch, rows: int = 0) -> Batch:
        """This process's rows, along axis `rows`, on its devices."""

    @abc.abstractmethod
    def load(self, state: Any) -> Any:
        """Global arrays (a state, or some of its leaves) as the programs take them."""

    @abc.abstractmethod
    def unload(self, state: Any) -> Any:
        """What the programs gave, as global arrays."""

    def place(self, values: Any, like: Any) -> Any:
        """Values that every process has, as global arrays that lie as those of `like` do."""
        return jax.tree.map(lambda value, leaf: spread(value, leaf.sharding), values, like)

    def gather(self, batch: Batch) -> Batch:
        """This process's rows -> the rows of all of them."""
        if self.processes == 1:
            return batch
        return multihost_utils.process_allgather(batch, tiled=True)

    def host(self, tree: Any) -> Any:
        """Global arrays as NumPy, whole, in every process."""
        return jax.tree.map(_whole, tree)

    @abc.abstractmethod
    def init(self, function: Callable[..., TrainState]) -> Compiled:
        """(key, hyper) -> the state, as global arrays."""

    @abc.abstractmethod
    def train(self, function: Callable[..., Any]) -> Compiled:
        """(state, batches [N, B, ...], count, hyper) -> (state, metrics); donates the state."""

    @abc.abstractmethod
    def read(self, function: Callable[..., Any], rows: int = 0) -> Compiled:
        """(params, batch) -> what the function says of every row, whole, in every process.

        rows: the axis of its results that runs over the rows of the batch.
        """


def spread(value: Any, sharding: jax.sharding.Sharding) -> jax.Array:
    """A value that every process has, as one global array."""
    if sharding.is_fully_addressable:
        return jax.device_put(value, sharding)
    # device_put would first compare the values of all processes.
    values = np.asarray(value)
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def _whole(array: jax.Array) -> np.ndarray:
    if array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)
    return np.asarray(multihost_utils.process_allgather(array, tiled=True))
