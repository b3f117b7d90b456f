"""The devices that a config asks for, and the rows of a step that each of them has."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax

from seqlab.train.devices.base import Devices
from seqlab.train.devices.mapped import AXIS, Mapped
from seqlab.train.devices.mesh import Meshed


@dataclasses.dataclass(frozen=True)
class Rows:
    """The rows that one call of the step sees: all of them, or along `axis` one device's part."""

    axis: str | None = None

    def key(self, key: jax.Array) -> jax.Array:
        """A key of its own for each part: the devices of a pmap drop other units."""
        return key if self.axis is None else jax.random.fold_in(key, jax.lax.axis_index(self.axis))

    def total(self, sums: Any) -> Any:
        """Sums over these rows -> sums over all rows."""
        return sums if self.axis is None else jax.lax.psum(sums, self.axis)


def devices_of(config: Mapping[str, Any]) -> Devices:
    """All devices of all processes, as `train.parallel` and `train.fsdp` say."""
    train = config["train"]
    return Mapped() if train["parallel"] == "pmap" else Meshed(train["fsdp"])


def rows_of(devices: Devices) -> Rows:
    """What the step of these devices sees."""
    return Rows(AXIS if isinstance(devices, Mapped) else None)
