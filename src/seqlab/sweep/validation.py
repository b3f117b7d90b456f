"""What a config must satisfy before any work starts, each rule with the nearest valid choices."""

import dataclasses
import inspect
import re
from collections.abc import Mapping
from typing import Any

from seqlab.build import ConfigError, check_type, holds_part, resolve, suggest
from seqlab.sweep.variants import check_variants

CHOICES = {
    "train.batch_unit": ("examples", "tokens"),
    "train.optimizer.name": ("adamw", "adam", "sgd"),
    "train.schedule": ("constant", "cosine", "noam"),
    "train.precision": ("fp32", "bf16"),
    "train.parallel": ("jit", "pmap"),
    "train.best.direction": ("min", "max"),
    "decode.method": ("greedy", "beam", "sample", "none"),
    "report.direction": ("min", "max"),
}
POSITIVE = (
    "model.width",
    "model.heads",
    "model.depth",
    "data.max_length.source",
    "data.max_length.target",
    "train.steps",
    "train.batch",
    "train.accumulate",
    "train.steps_per_call",
    "train.eval_every",
    "train.keep",
    "train.lr",
    "train.fsdp",
    "cluster.minutes",
    "cluster.nodes",
    "cluster.cpus",
    "decode.max_length",
    "decode.beam",
    "decode.temperature",
)
NOT_NEGATIVE = (
    "model.kv_heads",
    "data.eval_examples",
    "data.workers",
    "train.warmup",
    "train.clip",
    "train.weight_decay",
    "train.checkpoint_every",
    "train.early_stop",
    "evaluate.examples",
    "decode.min_length",
    "decode.no_repeat_ngram",
    "decode.top_k",
    "decode.seed",
    "budget.parameters",
    "budget.flops",
    "cluster.gpus",
    "cluster.save_seconds",
    "cluster.concurrent",
)
FRACTIONS = ("model.dropout", "train.label_smoothing", "train.ema")  # 0 <= value < 1


def validate(config: Mapping[str, Any]) -> None:
    """Raise ConfigError for the first rule that a checked config breaks."""
    for key, choices in CHOICES.items():
        if _get(config, key) not in choices:
            raise ConfigError(
                f"config.{key}: there is no {_get(config, key)!r}"
                + suggest(_get(config, key), choices)
            )
    for key in POSITIVE:
        if not _get(config, key) > 0:
            raise ConfigError(f"config.{key}: must be above 0, got {_get(config, key)!r}")
    for key in NOT_NEGATIVE:
        if not _get(config, key) >= 0:
            raise ConfigError(f"config.{key}: must be 0 or more, got {_get(config, key)!r}")
    for key in FRACTIONS:
        if not 0 <= _get(config, key) < 1:
            raise ConfigError(f"config.{key}: must be in [0, 1), got {_get(config, key)!r}")
    if not 0 < _get(config, "decode.top_p") <= 1:
        raise ConfigError(
            f"config.decode.top_p: must be in (0, 1], got {_get(config, 'decode.top_p')!r}"
        )
    _check_buckets(config["data"])
    _check_batch(config)
    for key, spec in _parts(config):
        _check_part(spec, f"config.{key}")
    _check_budget(config)
    check_variants(config, validate)
    for side in sides(config):
        _check_kv_heads(side)
        for heads in heads_of(side):
            if not (config["budget"]["parameters"] or config["budget"]["flops"]):
                _check_width(side["width"], heads)


def sides(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The model's keys as its encoder, if it has one, and its decoder read them."""
    model = config["model"]
    layout = resolve(model["kind"], "config.model.kind").layout
    names = ("decoder",) if layout == "prefix" else ("encoder", "decoder")
    return [{**model, **model[name]} for name in names]


def heads_of(side: Mapping[str, Any]) -> list[int]:
    """The numbers of heads in a side of the model: those of the mixers in its pattern."""
    found = set()
    for name in re.findall(r"[A-Za-z_]\w*", side["pattern"]):
        spec = side["mixers"].get(name, {})
        spec = {"kind": spec} if isinstance(spec, str) else spec
        if spec and "heads" in _options(resolve(spec["kind"], f"config.model.mixers.{name}")):
            found.add(spec.get("heads", side["heads"]))
    return sorted(found)


def _check_width(width: int, heads: int) -> None:
    if width % heads:
        below, above = width - width % heads, width - width % heads + heads
        widths = f"{below} or {above}" if below else f"{above}"
        divisors = [number for number in range(1, width + 1) if width % number == 0]
        around = [n for n in divisors if n < heads][-1:] + [n for n in divisors if n > heads][:1]
        fitting = " or ".join(map(str, around))
        raise ConfigError(
            f"config.model.width: {width} is not divisible by model.heads {heads}; the nearest "
            f"widths for {heads} heads are {widths}, the nearest heads for width {width} are "
            f"{fitting}"
        )


def _check_kv_heads(side: Mapping[str, Any]) -> None:
    heads, kv_heads = side["heads"], side["kv_heads"] or side["heads"]
    if heads % kv_heads:
        divisors = [n for n in range(1, heads + 1) if heads % n == 0]
        raise ConfigError(
            f"config.model.kv_heads: {kv_heads} does not divide model.heads {heads}; choose from "
            f"{', '.join(map(str, divisors))}"
        )


def _check_budget(config: Mapping[str, Any]) -> None:
    budget, model = config["budget"], config["model"]
    if not 0 < budget["tolerance"] < 1:
        raise ConfigError(
            f"config.budget.tolerance: must be in (0, 1), got {budget['tolerance']!r}"
        )
    if budget["parameters"] and budget["flops"]:
        raise ConfigError(
            "config.budget: set `parameters` or `flops`; one width cannot be fitted to both"
        )
    for side in ("encoder", "decoder"):
        if (budget["parameters"] or budget["flops"]) and "width" in model[side]:
            raise ConfigError(
                f"config.model.{side}.width: a budget fits one width for encoder and decoder; "
                "leave this key out"
            )


def _check_buckets(data: Mapping[str, Any]) -> None:
    buckets = data["buckets"]
    if not buckets or any(type(bucket) is not int or bucket < 1 for bucket in buckets):
        raise ConfigError(f"config.data.buckets: needs positive lengths, got {buckets!r}")
    if list(buckets) != sorted(set(buckets)):
        raise ConfigError(
            f"config.data.buckets: must ascend, got {buckets!r}; use {tuple(sorted(set(buckets)))}"
        )
    longest = max(data["max_length"].values())
    if buckets[-1] < longest:
        raise ConfigError(
            f"config.data.buckets: the last bucket {buckets[-1]} is shorter than "
            f"data.max_length {longest}; add {longest} or lower data.max_length"
        )


def _check_batch(config: Mapping[str, Any]) -> None:
    train, longest = config["train"], config["data"]["buckets"][-1]
    if train["batch_unit"] == "tokens" and train["batch"] < longest:
        raise ConfigError(
            f"config.train.batch: {train['batch']} tokens hold no row of the longest bucket "
            f"{longest}; use at least {longest}"
        )
    rows = train["batch"] if train["batch_unit"] == "examples" else train["accumulate"]
    if rows % train["accumulate"]:
        raise ConfigError(
            f"config.train.batch: {rows} examples cannot be split into train.accumulate "
            f"{train['accumulate']} equal parts"
        )


def _parts(config: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Every part that the config names, with its key."""
    found = [("task", config["task"])]
    found += [(f"data.tokenizer.{k}", spec) for k, spec in config["data"]["tokenizer"].items()]
    for at in ("model", "model.encoder", "model.decoder"):
        group = _get(config, at)
        names = ("position", "placement", "norm", "feedforward")
        found += [(f"{at}.{name}", group[name]) for name in names if name in group]
        found += [(f"{at}.mixers.{name}", s) for name, s in group.get("mixers", {}).items()]
    model = config["model"]
    return [*found, ("model.bridge", model["bridge"]), ("model.kind", model["kind"])]


def _check_part(spec: Any, where: str) -> None:
    """The part exists and has the options that the config gives it, of the right types."""
    spec = {"kind": spec} if isinstance(spec, str) else spec
    factory = resolve(spec.get("kind"), where)
    known = _options(factory)
    if not dataclasses.is_dataclass(factory):
        return  # tokenizers take their options in `fit`, which checks them
    for name in spec.keys() - {"kind"}:
        if name not in known:
            raise ConfigError(
                f"{where}.{name}: {spec['kind']} has no option `{name}`"
                + suggest(name, known, "its options are")
            )
        check_type(spec[name], known[name], f"{where}.{name}")
        if isinstance(spec[name], str | Mapping) and holds_part(known[name]):
            _check_part(spec[name], f"{where}.{name}")


def _options(factory: Any) -> dict[str, Any]:
    """The options of a part and their types."""
    return {
        name: parameter.annotation
        for name, parameter in inspect.signature(factory).parameters.items()
        if name not in ("parent", "name")
    }


def _get(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for name in key.split("."):
        value = value[name]
    return value
