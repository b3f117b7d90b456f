"""A config made small enough to check in seconds, with the same parts in the same places.

Points that differ in seeds, rates, sizes or depth become equal. What stays is what makes another
program: parts and their options, the pattern, the optimizer, whether anything is dropped.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from seqlab.build import ConfigError, resolve
from seqlab.config import defaults
from seqlab.sweep.budget import width_step
from seqlab.sweep.overrides import apply_overrides
from seqlab.sweep.validation import validate
from seqlab.train.size import make_model

WIDTH, HEADS, DEPTH = 16, 2, 2
LENGTH = 10  # most tokens of a side, EOS included
BATCH = 8  # examples
STEPS = 6
DROPOUT = 0.1  # where there is any
SYMBOLS = 16  # of a vocabulary: only whether the model can be built is asked
GENERATED = {  # options of a generated task and their largest values
    "train_min": 1,
    "train_max": 4,
    "epoch_examples": 64,
    "valid_examples": BATCH,
    "test_examples": 4,
}


def shrunk(config: Mapping[str, Any]) -> dict[str, Any]:
    """A checked config -> a small one: one bucket, few steps, no budget, seed 0.

    Where the parts do not fit a small width the model keeps its own, and only loses layers.
    """
    few = apply_overrides(config, {**_data(config), **_training(config), **_shallow(config)})
    headed = apply_overrides(few, _everywhere(few["model"], _few_heads))
    step = width_step(headed)
    scale = WIDTH / few["model"]["width"]

    def narrow(group: Mapping[str, Any]) -> dict[str, Any]:
        return _narrow(group, scale, step)

    small = apply_overrides(headed, _everywhere(headed["model"], narrow))
    try:
        validate(small)
        make_model(small, SYMBOLS, SYMBOLS)
    except ConfigError:
        return few
    return small


def _data(config: Mapping[str, Any]) -> dict[str, Any]:
    """Short rows of few examples, and short outputs."""
    decode = config["decode"]
    return {
        "seed": 0,
        "task": _task(config["task"]),
        "data.max_length": _lengths(config),
        "data.buckets": (_bucket(config),),
        "data.filter": {},
        "data.eval_examples": BATCH,
        "data.workers": 0,
        "evaluate": {"at": (), "examples": BATCH, "variants": ()},
        "decode.max_length": min(decode["max_length"], STEPS),
        "decode.min_length": min(decode["min_length"], 2),
        "decode.beam": min(decode["beam"], 2),
    }


def _lengths(config: Mapping[str, Any]) -> dict[str, int]:
    return {side: min(most, LENGTH) for side, most in config["data"]["max_length"].items()}


def _bucket(config: Mapping[str, Any]) -> int:
    """The longest row: a decoder-only model's holds both sides and two more tokens."""
    layout = resolve(config["model"]["kind"], "config.model.kind").layout
    lengths = _lengths(config).values()
    return sum(lengths) + 2 if layout == "prefix" else max(lengths)


def _task(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A generated task with few, short examples; another one as it is."""
    factory = resolve(spec["kind"], "config.task.kind")
    if not factory.generated:
        return dict(spec)
    usual = {name: field.default for name, field in factory.__dataclass_fields__.items()}
    options = {**usual, **spec}
    small: dict[str, Any] = {
        name: min(options[name], most) for name, most in GENERATED.items() if name in options
    }
    if "test_lengths" in options:
        small["test_lengths"] = (2, GENERATED["train_max"] + 1)
    return {**spec, **small}


def _training(config: Mapping[str, Any]) -> dict[str, Any]:
    """A few steps, with numbers that do not tell points apart."""
    train, usual = config["train"], defaults().to_dict()
    small = {
        "steps": STEPS,
        "batch": BATCH * (1 if train["batch_unit"] == "examples" else _bucket(config)),
        "accumulate": min(train["accumulate"], 2),
        "lr": 1e-2,
        "warmup": 0,
        "schedule": "constant",  # the same program for all laws of training
        "clip": 1.0,
        "weight_decay": 0.0,
        "label_smoothing": 0.0,
        "ema": 0.9 if train["ema"] else 0.0,
        "steps_per_call": 8,
        "eval_every": STEPS,
        "checkpoint_every": STEPS // 2,
        "parallel": "jit",
        "fsdp": 1,
        "keep": 2,
        "early_stop": 0,
        "progress": False,
        "tensorboard": False,
    }
    plain = {key: usual[key] for key in ("budget", "report", "cluster", "init_from")}
    dropout = DROPOUT if config["model"]["dropout"] else 0.0
    return {"train": {**train, **small}, "model.dropout": dropout, **plain}


def _shallow(config: Mapping[str, Any]) -> dict[str, Any]:
    """At most two layers of each kind: "r*2 a*4" at depth 1 -> "r*2 a*2", "a+x" at 12 -> at 2."""

    def few_layers(group: Mapping[str, Any]) -> dict[str, Any]:
        depth = group.get("depth", config["model"]["depth"])
        repeats = 1 if depth > 1 else DEPTH
        found = {"depth": min(depth, DEPTH)} if "depth" in group else {}
        if "pattern" in group:
            found["pattern"] = re.sub(
                r"\*(\d+)", lambda times: f"*{min(int(times[1]), repeats)}", group["pattern"]
            )
        return found

    return _everywhere(config["model"], few_layers)


def _everywhere(
    model: Mapping[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """`change` applied to the model's keys and to those of its encoder and decoder."""
    found = {f"model.{key}": value for key, value in change(model).items()}
    for side in ("encoder", "decoder"):
        found[f"model.{side}"] = {**model[side], **change(model[side])}
    return found


def _few_heads(group: Mapping[str, Any]) -> dict[str, Any]:
    """HEADS heads, as many key/value heads or one, as before; also where a mixer has its own."""

    def changed(keys: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        if keys.get("heads"):
            found["heads"] = min(keys["heads"], HEADS)
        if keys.get("kv_heads"):
            found["kv_heads"] = HEADS if keys["kv_heads"] == keys.get("heads") else 1
        return found

    return {**changed(group), **_parts(group, changed)}


def _narrow(group: Mapping[str, Any], scale: float, step: int) -> dict[str, Any]:
    """Widths times `scale`, to multiples of `step`; the hidden units of parts in proportion."""

    def changed(part: Mapping[str, Any]) -> dict[str, Any]:
        hidden = part.get("hidden", 0)
        return {"hidden": max(2, round(hidden * scale))} if hidden else {}

    found = _parts(group, changed)
    if "width" in group:
        found["width"] = max(1, round(group["width"] * scale / step)) * step
    return found


def _parts(
    group: Mapping[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """The mixers and the feed-forward of a group, `change` applied to each and what is in it."""

    def inside(spec: Any) -> Any:
        if not isinstance(spec, Mapping):
            return spec
        return {key: inside(value) for key, value in {**spec, **change(spec)}.items()}

    found = {}
    if "mixers" in group:
        found["mixers"] = {name: inside(spec) for name, spec in group["mixers"].items()}
    if "feedforward" in group:
        found["feedforward"] = inside(group["feedforward"])
    return found
