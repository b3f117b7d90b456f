"""The config: every key there is, and how a config is written to a file and read back.

A config is plain data: numbers, strings, bools, None, tuples and dicts with string keys. A config
file starts from `defaults()` and changes what its question is about. Groups are locked, so that a
misspelt key stops at once; the options of parts (`task`, `model.mixers`, ...) are open.
Types are checked when a sweep is planned (`seqlab.sweep.overrides.check`), so a part may be a
dotted path or a dict with `kind`: `config.model.position = {"kind": "positions.rope.Rope"}`.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from ml_collections import ConfigDict

# Groups whose keys are not fixed: options of parts, names of columns, overrides of the model.
OPEN = (
    "task",
    "data.splits",
    "data.fields",
    "data.tokenizer",
    "data.filter",
    "model.mixers",
    "model.encoder",
    "model.decoder",
    "report.failed",
    "cluster.options",
)


def defaults() -> ConfigDict:
    """A config with every key, locked except for the groups in OPEN.

    Lengths are in tokens; `train.warmup`, `eval_every`, `checkpoint_every` and `early_stop`
    (evaluations without improvement) are off at 0; `data.eval_examples` 0 is the whole split.
    """
    config = ConfigDict(
        {
            "seed": 0,
            "task": {"kind": "tasks.transduction.Transduction"},
            "data": _data(),
            "model": _model(),
            "train": _train(),
            "budget": _budget(),
            "evaluate": _evaluation(),
            "decode": _decoding(),
            "report": _report(),
            "init_from": "",
            "cluster": _cluster(),
        },
        type_safe=False,
    )
    config.lock()
    for name in OPEN:
        group: Any = config
        for part in name.split("."):
            group = group[part]
        group.unlock()
    return config


def to_json(config: ConfigDict | Mapping) -> str:
    """The config as JSON text. Lists stand for tuples, {"$float": "inf"} for inf, -inf and nan.

    Raises ValueError naming the key of anything that is no plain data. `config` stays as it is.
    """
    plain = config.to_dict() if isinstance(config, ConfigDict) else config
    return json.dumps(_encode(plain, ""), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def from_json(text: str) -> dict[str, Any]:
    """The plain dict that `to_json` wrote: equal, tuples, None, inf and all."""
    return _decode(json.loads(text))


def complete(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with the keys it lacks at their defaults: a run from before those keys existed."""
    return _overlay(defaults().to_dict(), config, "")


def flatten(config: Mapping, prefix: str = "") -> dict[str, Any]:
    """Nested dicts -> {dotted key: value}; empty dicts stay values, tuples are not entered."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _overlay(base: Mapping[str, Any], own: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    result = {**base, **own}
    for key, value in own.items():
        there = base.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping) and prefix + key not in OPEN:
            result[key] = _overlay(there, value, f"{prefix}{key}.")
    return result


def _data() -> dict[str, Any]:
    return {
        "source": "cmudict",
        "directory": "",
        "splits": {"train": "train", "valid": "validation", "test": "test"},
        "fields": {"source": "letters", "target": "phones"},
        "tokenizer": {
            "source": "data.text.characters.Characters",
            "target": "data.text.words.Words",
        },
        "shared_vocabulary": False,
        "max_length": {"source": 64, "target": 64},
        "filter": {},
        "buckets": (16, 32, 64),
        "eval_examples": 0,
        "workers": 0,
    }


def _model() -> dict[str, Any]:
    return {
        "kind": "models.seq2seq.Seq2Seq",
        "width": 64,
        "heads": 4,
        "kv_heads": 0,  # 0: as many as heads
        "depth": 2,
        "pattern": "a",
        "mixers": {"a": "mixers.attention.MultiHead", "x": "mixers.cross.Cross"},
        "position": "positions.sinusoidal.Sinusoidal",
        "placement": "placements.pre.Pre",
        "norm": "nn.norms.LayerNorm",
        "feedforward": "nn.feedforward.FeedForward",
        "tie_embeddings": True,
        "dropout": 0.0,
        "encoder": {},
        "decoder": {},
        "bridge": "models.bridge.NoBridge",
    }


def _budget() -> dict[str, Any]:
    """What `model.width` and its inner widths are fitted to; 0: they are taken as they stand."""
    return {
        "parameters": 0,
        "flops": 0,  # of a forward pass over one pair of data.max_length
        "embeddings": False,  # do embedding and output tables count?
        "tolerance": 0.02,
    }


def _evaluation() -> dict[str, Any]:
    return {
        "at": (),
        "examples": 0,
        # The trained parameters in a changed model, at the last test: (name, dotted key, value).
        "variants": (),
    }


def _train() -> dict[str, Any]:
    return {
        "steps": 1000,
        "batch": 32,
        "batch_unit": "examples",
        "optimizer": {"name": "adamw", "b1": 0.9, "b2": 0.98, "eps": 1e-9, "momentum": 0.9},
        "lr": 1e-3,
        "warmup": 0,
        "schedule": "constant",
        "clip": 0.0,
        "accumulate": 1,
        "weight_decay": 0.0,
        "label_smoothing": 0.0,
        "ema": 0.0,
        "precision": "fp32",
        "parallel": "jit",
        "fsdp": 1,  # devices that share one copy of the state; the rest of them multiply the data
        "remat": False,
        "steps_per_call": 8,
        "eval_every": 100,
        "checkpoint_every": 100,
        "keep": 1,
        "best": {"metric": "valid/loss", "direction": "min"},
        "early_stop": 0,
        "progress": True,
        "tensorboard": False,
    }


def _cluster() -> dict[str, Any]:
    """What `--executor=slurm` asks for, for each point."""
    return {
        "partition": "",  # "": the cluster's default
        "minutes": 60,  # time limit; a point that needs more is requeued and goes on
        "nodes": 1,
        "gpus": 0,  # a node
        "cpus": 2,  # a task: a node without GPUs and on one node, a GPU on several
        "memory": "",  # a node, such as "16GB"; "": the cluster's default
        "save_seconds": 120,  # how long before the limit the job is told to save
        "concurrent": 0,  # points at a time; 0: all
        "options": {},  # further options of sbatch: {"account": "lab", "qos": "low"}
    }


def _decoding() -> dict[str, Any]:
    return {
        "method": "greedy",
        "max_length": 64,  # tokens, EOS included
        "min_length": 0,  # tokens before EOS
        "no_repeat_ngram": 0,
        "beam": 4,
        "length_penalty": "none",
        "temperature": 1.0,  # of "sample", as the three below
        "top_k": 0,
        "top_p": 1.0,
        "seed": 0,
    }


def _report() -> dict[str, Any]:
    """Keys with dots cannot be keys of a ConfigDict: labels and where are pairs."""
    return {
        "question": "",
        "metric": "valid/loss",
        "direction": "min",
        "axes": (),
        "columns": (),
        "where": (),  # pairs (dotted key, value): which runs the main table shows
        "names": (),  # pairs (name of a system, {key: value}); see report/systems.py
        "labels": (),  # pairs (key or value or metric, text)
        "failed": {},  # {"metric": ..., "above" or "below": number or metric}
        "figures": (),
        "verdict": (),
        "bootstrap": (),  # {"metric", "better": {key: value}, "than": {key: value}}
        "notes": "",
    }


def _encode(value: Any, where: str) -> Any:
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key == "$float":
                raise ValueError(f"{where or 'config'}: keys are strings, got {key!r}")
        return {key: _encode(item, f"{where}.{key}".lstrip(".")) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(item, f"{where}[{number}]") for number, item in enumerate(value)]
    if type(value) is float and not math.isfinite(value):
        return {"$float": repr(value)}
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise ValueError(
        f"{where}: a config holds numbers, strings, bools, None, tuples and dicts, "
        f"got {type(value).__name__} {value!r}"
    )


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if isinstance(value, dict):
        if set(value) == {"$float"}:
            return float(value["$float"])
        return {key: _decode(item) for key, item in value.items()}
    return value
