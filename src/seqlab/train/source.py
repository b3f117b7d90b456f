"""The data of a config, shared by the runs of a process that need the same."""

import functools
from collections.abc import Mapping
from typing import Any

from seqlab.build import resolve
from seqlab.config import from_json, to_json
from seqlab.data.dataset import Dataset


def dataset_of(config: Mapping[str, Any]) -> Dataset:
    """Data set in the layout of the config's model."""
    train = config["train"]
    decides = {
        "task": config["task"],
        "data": config["data"],
        "seed": config["seed"],
        "train": {"batch": train["batch"], "batch_unit": train["batch_unit"]},
    }
    return _dataset(to_json(decides), resolve(config["model"]["kind"], "model.kind").layout)


@functools.lru_cache(maxsize=4)
def _dataset(decides: str, layout: str) -> Dataset:
    return Dataset.create(from_json(decides), layout)
