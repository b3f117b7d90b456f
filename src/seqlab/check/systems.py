"""The distinct systems of a sweep: what is left when seeds, rates and sizes are equal."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from seqlab.build import resolve
from seqlab.check.shrink import shrunk
from seqlab.config import to_json
from seqlab.report.systems import OTHER, system
from seqlab.sweep.plan import Point, label, lookup
from seqlab.sweep.plan import points as planned

Small = tuple[Point, dict[str, Any]]


@dataclass(frozen=True)
class System:
    """A shrunk config and a name for it."""

    name: str
    config: dict[str, Any]


def small(points: list[Point]) -> list[Small]:
    """The points with their configs shrunk."""
    return [(point, shrunk(point.config)) for point in points]


def models(points: list[Small]) -> list[System]:
    """One system for each model that differs in more than size.

    Named as in `report.names`, else by the keys of the model that the sweep varies, as in run ids
    ("placement-Post"); a model that is alone by its kind.
    """
    found = _distinct(points, lambda config: config["model"])
    named = [system(point, point.config["report"]["names"]) for point, _ in found]
    if OTHER in named:
        named = _by_keys([point for point, _ in found])
    return [System(name, config) for name, (_, config) in zip(named, found, strict=True)]


def data(points: list[Small]) -> list[System]:
    """One system for each task, corpus and layout of rows, named by task and corpus."""

    def decides(config: dict[str, Any]) -> dict[str, Any]:
        layout = resolve(config["model"]["kind"], "config.model.kind").layout
        return {"task": config["task"], "data": config["data"], "layout": layout}

    return [System(_corpus(config), config) for _, config in _distinct(points, decides)]


def _distinct(
    points: list[Small], decides: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[Small]:
    """The first point of each kind."""
    found: dict[str, Small] = {}
    for point, config in points:
        found.setdefault(to_json(decides(config)), (point, config))
    return list(found.values())


def _by_keys(points: list[Point]) -> list[str]:
    """What ids of these points say of their models."""
    keys = [key for key in points[0].varied if key.startswith("model.")]
    if len(points) == 1 or not keys:
        return [label(point.config["model"]["kind"]) for point in points]
    settings = [{key: lookup(point.config, key) for key in keys} for point in points]
    return [each.id.rpartition("_")[0] for each in planned(points[0].config, settings)]


def _corpus(config: dict[str, Any]) -> str:
    task, source = resolve(config["task"]["kind"], "config.task.kind"), config["data"]["source"]
    layout = resolve(config["model"]["kind"], "config.model.kind").layout
    name = task.__name__ if task.generated else f"{task.__name__} {source}"
    return f"{name} in one row" if layout == "prefix" else name
