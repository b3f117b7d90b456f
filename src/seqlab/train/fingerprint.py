"""Which keys of a config change results, and the hash of those that do."""

import copy
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from seqlab.config import defaults, flatten, to_json

# How a run is carried out, watched, kept and shown; `train.steps` since raising it continues a run.
NO_RESULT = (
    "train.steps",
    "train.keep",
    "train.checkpoint_every",
    "train.progress",
    "train.tensorboard",
    "train.parallel",
    "train.fsdp",
    "data.workers",
    "data.directory",
    "report",
    "cluster",
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


def differences(config: Mapping[str, Any], keep: Iterable[str] = ()) -> dict[str, Any]:
    """The keys that change results and are not at their default: {dotted key: value}."""
    base = flatten(result_keys(defaults().to_dict(), keep))
    own = flatten(result_keys(config, keep))
    return {key: value for key, value in own.items() if base.get(key, ...) != value}


def fingerprint(config: Mapping[str, Any], keep: Iterable[str] = ()) -> str:
    """Eight hexadecimal digits: equal for equal results, whatever the order of keys.

    Taken of the differences from the defaults, so that a new key, whose default is what was done
    before, leaves the ids of finished runs as they are.
    """
    return digest(to_json(differences(config, keep)))


def digest(text: str) -> str:
    """Eight hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
