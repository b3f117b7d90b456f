"""`jax.jit` over a mesh: batches spread over all devices, the state over `fsdp` of them."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from seqlab.build import ConfigError
from seqlab.train.compiled import Compiled, Program
from seqlab.train.devices.base import Devices, spread
from seqlab.train.state import TrainState
from seqlab.types import Batch

BOTH = ("data", "fsdp")


@dataclasses.dataclass(frozen=True)
class Meshed(Devices):
    """A mesh of axes `data` and `fsdp`. fsdp: devices that share one copy of parameters and
    optimizer state, each leaf cut along its longest axis that can be cut so; the others along
    `data` hold copies. What only reads parameters (evaluation, decoding) first puts them together
    on every device: once, not at every step of a search. local: the devices of this process only.

    Rajbhandari et al. 2020 (ZeRO 3). Raises ConfigError where fsdp does not divide the devices.
    """

    fsdp: int = 1
    local: bool = False

    def __post_init__(self) -> None:
        if self.count % self.fsdp:
            fitting = [n for n in range(1, self.count + 1) if self.count % n == 0]
            raise ConfigError(
                f"config.train.fsdp: {self.fsdp} does not divide the {self.count} devices there "
                f"are; choose from {', '.join(map(str, fitting))}"
            )

    @property
    def count(self) -> int:
        return jax.local_device_count() if self.local else jax.device_count()

    @property
    def processes(self) -> int:
        return 1 if self.local else jax.process_count()

    @property
    def process(self) -> int:
        return 0 if self.local else jax.process_index()

    @functools.cached_property
    def mesh(self) -> Mesh:
        """The devices in the order of their processes, so that rows of a process stay together."""
        devices = jax.local_devices() if self.local else jax.devices()
        return Mesh(np.array(devices).reshape(-1, self.fsdp), BOTH)

    def put_own(self, batch: Batch, rows: int = 0) -> Batch:
        sharding = NamedSharding(self.mesh, PartitionSpec(*[None] * rows, BOTH))
        if self.processes == 1:
            return jax.device_put(batch, sharding)
        make = jax.make_array_from_process_local_data
        return jax.tree.map(lambda a: make(sharding, np.asarray(a)), batch)

    def load(self, state: Any) -> Any:
        return state

    def unload(self, state: Any) -> Any:
        return state

    def replicate(self, tree: Any) -> Any:
        """Values that every process has, as global arrays with a copy on every device."""
        return jax.tree.map(lambda leaf: spread(leaf, self._everywhere), tree)

    def init(self, function: Callable[..., TrainState]) -> Compiled:
        def prepare(*arguments: Any) -> Program:
            shapes = jax.eval_shape(function, *arguments)
            return self._compile(function, jax.tree.map(self.sharding, shapes), arguments)

        return Compiled(prepare)

    def train(self, function: Callable[..., Any]) -> Compiled:
        def prepare(state: TrainState, *rest: Any) -> Program:
            places = jax.tree.map(lambda leaf: leaf.sharding, state), self._everywhere
            return self._compile(function, places, (state, *rest), donate_argnums=0)

        return Compiled(prepare)

    def read(self, function: Callable[..., Any], rows: int = 0) -> Compiled:
        def gathered(params: Any, batch: Batch) -> Any:
            return function(jax.lax.with_sharding_constraint(params, self._everywhere), batch)

        return Compiled(lambda *arguments: self._compile(gathered, self._everywhere, arguments))

    def sharding(self, leaf: Any) -> NamedSharding:
        """Where a leaf of the state lives: decided by its shape alone, so that the moments of a
        parameter lie where the parameter does."""
        fitting = [n for n, size in enumerate(leaf.shape) if size % self.fsdp == 0 and size]
        if self.fsdp == 1 or not fitting:
            return self._everywhere
        axis = max(fitting, key=lambda n: leaf.shape[n])
        return NamedSharding(self.mesh, PartitionSpec(*[None] * axis, "fsdp"))

    def _compile(
        self, function: Callable[..., Any], places: Any, arguments: tuple, **options: Any
    ) -> Program:
        jitted = jax.jit(function, out_shardings=places, **options)
        return jitted.lower(*arguments).compile()

    @property
    def _everywhere(self) -> NamedSharding:
        return NamedSharding(self.mesh, PartitionSpec())


def here() -> Meshed:
    """The devices of this process: for what it does by itself. Where it is the only one they are
    all devices, and programs compiled for training serve again."""
    return Meshed(local=jax.process_count() > 1)
