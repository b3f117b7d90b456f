"""`jax.pmap`: the classical form, a copy of the state on every device, gradients summed by hand."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import numpy as np

from seqlab.train.compiled import Compiled, Program
from seqlab.train.devices.base import Devices
from seqlab.train.devices.mesh import Meshed
from seqlab.train.devices.rows import Rows
from seqlab.train.state import TrainState
from seqlab.types import Batch

AXIS = "data"


@dataclasses.dataclass(frozen=True)
class Mapped(Devices):
    """All devices along the mapped axis `data`; arrays of the programs have it in front."""

    rows: ClassVar[Rows] = Rows(AXIS)

    @property
    def count(self) -> int:
        return jax.device_count()

    @property
    def processes(self) -> int:
        return jax.process_count()

    @property
    def process(self) -> int:
        return jax.process_index()

    def put_own(self, batch: Batch, rows: int = 0) -> Batch:
        here = jax.local_device_count()

        def split(array: Any) -> np.ndarray:
            shape = array.shape
            parts = here, shape[rows] // here  # no -1: a batch without a source has no elements
            return np.asarray(array).reshape(*shape[:rows], *parts, *shape[rows + 1 :])

        return jax.tree.map(split, batch)

    def load(self, state: Any) -> Any:
        here = jax.tree.map(lambda leaf: leaf.addressable_data(0), state)
        spread = jax.pmap(lambda _, tree: tree, in_axes=(0, None))
        return spread(np.arange(jax.local_device_count()), here)

    def unload(self, state: Any) -> Any:
        return Meshed().replicate(jax.tree.map(lambda leaf: leaf.addressable_data(0)[0], state))

    def init(self, function: Callable[..., TrainState]) -> Compiled:
        return Meshed().init(function)

    def train(self, function: Callable[..., Any]) -> Compiled:
        mapped = jax.pmap(
            function,
            axis_name=AXIS,
            in_axes=(0, 1, None, None),  # stacked batches: [N, devices, rows, ...]
            out_axes=(0, None),
            donate_argnums=0,
        )
        return _compiled(mapped)

    def read(self, function: Callable[..., Any], rows: int = 0) -> Compiled:
        def gathered(params: Any, batch: Batch) -> Any:
            gather = jax.lax.all_gather
            return jax.tree.map(
                lambda a: gather(a, AXIS, axis=rows, tiled=True), function(params, batch)
            )

        mapped = jax.pmap(gathered, axis_name=AXIS, out_axes=None)
        return _compiled(mapped)


def _compiled(mapped: Any) -> Compiled:
    def prepare(*arguments: Any) -> Program:
        if jax.process_count() > 1:
            return mapped  # a program compiled ahead would want arrays of all processes
        return mapped.lower(*arguments).compile()

    return Compiled(prepare)
