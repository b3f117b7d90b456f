"""One name for each system that a sweep compares, where systems differ in many keys at once.

    "names": (
        ("GRU", {"model.mixers": {"a": "mixers.gru.GRU"}, "model.bridge": "models.bridge.Copy"}),
        ("Pre-LN", {"model.placement": "placements.pre.Pre"}),
    )

A run is the first system whose conditions all hold. Whole values are compared: a dict stands for
exactly this dict, a tuple for this tuple. The name is the run's key "system", which can be an axis,
a hue, panels and a condition: {"system": "GRU"}.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.report.frame import cell
from seqlab.sweep.overrides import schema
from seqlab.sweep.plan import Point, lookup

SYSTEM = "system"
OTHER = "other"  # a run that no entry describes

Pairs = Sequence[Any]  # (name, {dotted key: value}), as the config has them


def system(point: Point, names: Pairs) -> str:
    """The name of the first entry whose conditions all hold for this point; OTHER for none."""
    for name, condition in names:
        if all(cell(_written(point, key)) == cell(value) for key, value in condition.items()):
            return name
    return OTHER


def check(names: Pairs, points: Sequence[Point]) -> None:
    """Raise ConfigError for an entry that can name no run of the sweep.

    Entries that are left over are no error as long as every point has a name: `--sweep` may take
    the points of a system away.
    """
    seen = set()
    for entry in names:
        if not (isinstance(entry, tuple | list) and len(entry) == 2 and entry[0]):
            raise ConfigError(f"report.names: expected a pair (name, {{key: value}}), got {entry}")
        name, condition = entry
        if name in (*seen, OTHER):
            raise ConfigError(f"report.names: {name!r} is taken; give every system its own name")
        seen.add(name)
        for key in condition:
            try:
                schema(key)
            except ConfigError as error:
                raise ConfigError(f"report.names: {name!r}: {error}") from None
    found = {point.id: system(point, names) for point in points}
    unused = [name for name, _ in names if name not in found.values()]
    unnamed = [identity for identity, name in found.items() if name == OTHER]
    if unused and unnamed:
        raise ConfigError(
            f"report.names: no point of the sweep is {unused[0]!r}, and {len(unnamed)} points have "
            f"no name, the first is {unnamed[0]}: compare its config with {dict(names)[unused[0]]}"
        )


def check_condition(condition: Any, names: Pairs, where: str) -> None:
    """Raise ConfigError when a condition asks for a system that `report.names` does not have."""
    asked = dict(condition).get(SYSTEM, ())
    check_systems(asked if isinstance(asked, tuple | list) else (asked,), names, where)


def check_systems(asked: Iterable[Any], names: Pairs, where: str) -> None:
    """Raise ConfigError for a name that `report.names` does not have; where: for the message."""
    known = [name for name, _ in names]
    for name in asked:
        if name not in (*known, OTHER):
            listing = suggest(name, known) if known else "; report.names is empty"
            raise ConfigError(f"{where}: there is no system {name!r}{listing}")


def _written(point: Point, key: str) -> Any:
    """The value of a key as the sweep wrote it: a budget may have changed widths inside of it."""
    for varied, value in point.varied.items():
        if key == varied:
            return value
        if key.startswith(f"{varied}."):
            return lookup(value, key.removeprefix(f"{varied}."))
    return lookup(point.config, key)
