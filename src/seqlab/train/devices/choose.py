"""The devices that a config asks for."""

from collections.abc import Mapping
from typing import Any

from seqlab.train.devices.base import Devices
from seqlab.train.devices.mapped import Mapped
from seqlab.train.devices.mesh import Meshed


def devices_of(config: Mapping[str, Any]) -> Devices:
    """All devices of all processes, as `train.parallel` and `train.fsdp` say."""
    train = config["train"]
    return Mapped() if train["parallel"] == "pmap" else Meshed(train["fsdp"])
