"""Several steps a dispatch: consecutive batches of one bucket, stacked."""

from typing import Any

import jax
import numpy as np

from seqlab.data.stream import Stream
from seqlab.train.devices.base import Devices
from seqlab.types import Batch


class Dispatches:
    """Takes batches from a stream in stacks that one program can run.

    A dispatch ends where the bucket changes or at `limit` batches; the batch that was read too
    far opens the next one. `state` is that of a stream which gives that batch first, so that the
    order of batches does not depend on how they are dispatched. size: rows of a stack; the unused
    ones are zeros, never run.
    """

    def __init__(self, stream: Stream, size: int, devices: Devices) -> None:
        self._stream = stream
        self._devices = devices
        self._size = size
        self._ahead: tuple[int, Batch] | None = None
        self._state = stream.state()

    def state(self) -> dict[str, Any]:
        """Where the data stands after the batches given out so far."""
        return self._state if self._ahead is not None else self._stream.state()

    def next(self, limit: int) -> tuple[list[Batch], Batch]:
        """At most `limit` batches of one bucket, as numpy and stacked on the devices."""
        bucket, batch = self._ahead or next(self._stream)
        self._ahead, batches = None, [batch]
        while len(batches) < min(limit, self._size):
            self._state = self._stream.state()
            self._ahead = next(self._stream)
            if self._ahead[0] != bucket or _shape(self._ahead[1]) != _shape(batch):
                break
            batches.append(self._ahead[1])
            self._ahead = None
        return batches, self._stack(batches)

    def _stack(self, batches: list[Batch]) -> Batch:
        def stack(*arrays: np.ndarray) -> np.ndarray:
            rows = np.zeros((self._size, *arrays[0].shape), arrays[0].dtype)
            rows[: len(arrays)] = arrays
            return rows

        return self._devices.put_own(jax.tree.map(stack, *batches), rows=1)


def _shape(batch: Batch) -> tuple:
    return batch.inputs.shape, batch.source.shape
