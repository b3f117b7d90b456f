"""The points of a sweep, and their ids: readable, unique, the same every time.

An id says what the sweep varies and ends in a hash of all keys that change results:
`placement-Pre_depth-12_warmup-100_seed-0_1a2b3c4d`.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ml_collections import ConfigDict

from seqlab.build import ConfigError, suggest
from seqlab.config import to_json
from seqlab.sweep.overrides import apply_overrides, check, parse, split_values
from seqlab.sweep.source import Source
from seqlab.train.fingerprint import NO_RESULT, fingerprint

LONGEST_NAME = 150  # bytes of an id before its hash; file systems allow 255 in all


@dataclass(frozen=True)
class Point:
    """One run to be: its id, its whole config, and the values of the keys the sweep varies."""

    id: str
    config: dict[str, Any]
    varied: dict[str, Any]


def points(config: ConfigDict | Mapping, sweep: Iterable[Mapping[str, Any]] = ({},)) -> list[Point]:
    """One point for each dict of dotted keys. Raises ConfigError for wrong keys, values, twins."""
    base = check(config)
    settings = list(sweep)
    configs = [apply_overrides(base, setting) for setting in settings]
    keys = list(dict.fromkeys(key for setting in settings for key in setting))
    keys = [key for key in keys if len({_text(lookup(c, key)) for c in configs}) > 1]
    keys.sort(key=lambda key: key == "seed")  # the seed stands last
    names = _short_names(_telling(keys, configs))
    found: dict[str, Point] = {}
    for number, (setting, each) in enumerate(zip(settings, configs, strict=True), 1):
        varied = {key: lookup(each, key) for key in keys}
        shown = [key for key in names if key in setting or key not in NO_RESULT]
        name = "_".join(f"{names[key]}-{label(varied[key])}" for key in shown)
        identity = f"{name[:LONGEST_NAME] or 'run'}_{fingerprint(each, keep=setting)}"
        if identity in found:
            raise ConfigError(f"sweep: point {number} is the same run as an earlier one: {varied}")
        found[identity] = Point(identity, each, varied)
    return list(found.values())


def ids(spec: str) -> list[str]:
    """The run ids of a config file as it is now: to be compared with a results.csv."""
    source = Source.load(spec)
    return [point.id for point in points(source.config(), source.sweep())]


def extend(
    sweep: Iterable[Mapping[str, Any]], extra: Mapping[str, Iterable[Any]]
) -> list[dict[str, Any]]:
    """Every point of the sweep with every combination of the extra values, which win."""
    found = {}
    for setting in sweep:
        for values in itertools.product(*extra.values()):
            each = {**setting, **dict(zip(extra, values, strict=True))}
            found[_text(dict(sorted(each.items())))] = each
    return list(found.values())


def parse_assignment(flag: str, text: str) -> tuple[str, list[Any]]:
    """ "KEY=A,B" -> key and typed values. Raises ConfigError naming the flag, key and value."""
    key, equals, values = text.partition("=")
    if not equals:
        raise ConfigError(f"{flag}: expected KEY=VALUE, got {text!r}")
    try:
        return key, [parse(key, value) for value in split_values(values)]
    except ConfigError as error:
        raise ConfigError(f"{flag}: {error}") from None


def parse_sweeps(texts: Iterable[str]) -> dict[str, list[Any]]:
    """The keys and values of all `--sweep` flags. Raises ConfigError for a key given twice."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        key, values = parse_assignment("--sweep", text)
        if key in found:
            raise ConfigError(f"--sweep: {key} is given twice; write --sweep={key}=A,B")
        found[key] = values
    return found


def select(candidates: list[Point], only: Iterable[str]) -> list[Point]:
    """The points that match every KEY=VALUE; a key given twice may have either value.

    A value is also recognised by its label ("Pre" for "placements.pre.Pre").
    """
    wanted: dict[str, list[str]] = {}
    for text in only:
        key, equals, values = text.partition("=")
        varied = list(candidates[0].varied) if candidates else []
        if not equals or key not in varied:
            raise ConfigError(f"--only: the sweep does not vary {key!r}" + suggest(key, varied))
        for value in split_values(values):
            there = [point.varied[key] for point in candidates]
            if not any(matches(key, value, each) for each in there):
                choices = dict.fromkeys(label(each) for each in there)
                raise ConfigError(
                    f"--only: no point has {key}={value}; choose from {', '.join(choices)}"
                )
            wanted.setdefault(key, []).append(value)
    return [
        point
        for point in candidates
        if all(any(matches(key, v, point.varied[key]) for v in vs) for key, vs in wanted.items())
    ]


def matches(key: str, text: str, value: Any) -> bool:
    """Whether the text of a flag means this value, by its label or as a flag would be read."""
    if text == label(value):
        return True
    try:
        return parse(key, text) == value
    except ConfigError:
        return False


def table(candidates: list[Point], size: Callable[[dict[str, Any]], Any]) -> str:
    """The plan as text, a line a point. size: config -> seqlab.train.size.Size."""
    head = ["", "point", "width", "parameters", "without embeddings", "MFLOPs a pair", "steps"]
    lines = [head]
    for number, point in enumerate(candidates, 1):
        found = size(point.config)
        counts = (found.width, found.parameters, found.parameters_without_embeddings)
        mega, steps = f"{found.flops / 1e6:,.3f}", f"{point.config['train']['steps']:,}"
        lines.append([str(number), point.id, *(f"{each:,}" for each in counts), mega, steps])
    return columns(lines, "><>>>>>")  # ids to the left


def columns(lines: list[list[str]], sides: str) -> str:
    """Lines of cells as aligned text. sides: "<" or ">" for each column."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{t:{s}{w}}" for t, s, w in zip(line, sides, widths, strict=True)).rstrip()
        for line in lines
    )


def label(value: Any) -> str:
    """A short name of a value, fit for a file name: the class of a part, a number, a word."""
    if isinstance(value, Mapping) and "kind" not in value:
        return "-".join(leaves(value))[:40]
    if isinstance(value, Mapping):
        value = value["kind"]
    if isinstance(value, str) and re.fullmatch(r"\w+(\.\w+)*\.[A-Z]\w*", value):
        value = value.rpartition(".")[2]
    if isinstance(value, tuple):
        value = "x".join(label(item) for item in value)
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", str(value))[:40]


def leaves(value: Mapping[str, Any]) -> list[str]:
    """Labels of the values in nested dicts; a switch that is on by the name of its key."""
    found = []
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            found += leaves(inner)
        else:
            found.append(key if inner is True else label(inner))
    return found


def lookup(config: Mapping[str, Any], key: str) -> Any:
    """The value of a dotted key; None where an open group or a part has no such option."""
    value: Any = config
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _telling(keys: list[str], configs: list[dict[str, Any]]) -> list[str]:
    """The keys without those whose value follows from the keys before them."""
    telling: list[str] = []
    for key in keys:
        values: dict[str, set[str]] = {}
        for each in configs:
            known = _text({other: lookup(each, other) for other in telling})
            values.setdefault(known, set()).add(_text(lookup(each, key)))
        if any(len(found) > 1 for found in values.values()):
            telling.append(key)
    return telling


def _short_names(keys: list[str]) -> dict[str, str]:
    """The last word of each key, more words where two would be equal, the group for `kind`."""
    names = {key: key.removesuffix(".kind").split(".") for key in keys}
    short = {key: words[-1] for key, words in names.items()}
    for key in keys:
        if list(short.values()).count(words := names[key][-1]) > 1 and words == short[key]:
            short[key] = ".".join(names[key])
    return short


def _text(value: Any) -> str:
    return to_json({"value": value})
