"""Which keys of a config change results, and the hash of those that do."""

import copy
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from seqlab.config import to_json

# How a run is carried out, watched, kept and shown; `train.steps` since raising it continues a run.
NO_RESULT = (
    "train.steps",
    "train.keep",
    "train.checkpoint_every",
    "train.progress",
    "train.tensorboard",
    "data.workers",
    "data.directory",
    "report",
)


def result_keys(config: Mapping[str, Any], keep: Iterable[str] = ()) -> dict[str, Any]:
    """The config without the keys that do not change results, except those in `keep`.

    A cosine schedule ends at the last step, so there `train.steps` counts.
    """
    kept = {*keep, "train.steps"} if config["train"]["schedule"] == "cosine" else set(keep)
    result = copy.deepcopy(dict(config))
    for key in NO_RESULT:
        if key not in kept:
            *path, last = key.split(".")
            group = result
            for name in path:
                group = group[name]
            group.pop(last, None)
    return result


def fingerprint(config: Mapping[str, Any], keep: Iterable[str] = ()) -> str:
    """Eight hexadecimal digits: equal for equal results, whatever the order of keys."""
    return digest(to_json(result_keys(config, keep)))


def digest(text: str) -> str:
    """Eight hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
