"""Equal budgets: the width at which a model has so many parameters, or costs so many FLOPs.

Run ids are those of the config as it is written; a run's config.json holds the width that was
found, beside the budget, and trains and reloads as it stands.
"""

import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError, resolve
from seqlab.sweep.overrides import apply_overrides
from seqlab.sweep.plan import Point, lookup
from seqlab.sweep.validation import heads_of, sides
from seqlab.train.directory import RunDirectory
from seqlab.train.size import budgeted, wanted

WIDTH = "model.width"
WIDEST = 1 << 20


@dataclass(frozen=True)
class Dial:
    """What a search turns, from n = start: n sets the key to n * unit, beside other keys."""

    key: str
    start: int
    unit: int = 1
    beside: Mapping[str, int] = field(default_factory=dict)

    def keys(self, n: int) -> dict[str, int]:
        """The dotted keys that n sets."""
        return {**self.beside, self.key: n * self.unit}


def fit(points: list[Point], root: Path) -> list[Point]:
    """The points with the widths that meet their budgets, under the ids they have.

    A point whose run is in `root/<id>` keeps what was found for it. Raises ConfigError naming the
    point when nothing meets its budget, or when the sweep varies the width as well.
    """
    return [_fit(point, root) if wanted(point.config)[1] else point for point in points]


def fitted(config: Mapping[str, Any]) -> dict[str, Any]:
    """A checked config with the width whose count comes nearest to its budget.

    A config that is within its budget, or has none, is left as it is. The width is even, with
    attention a multiple of twice the heads, and the same for encoder and decoder. Where its steps
    are too coarse for `budget.tolerance`, the first of these that is not is taken: the inner width
    of the feed-forward, at the two nearest widths; the width in half such steps; the inner width
    of a recurrence, at the two nearest widths. Inner widths that the config sets are left alone.
    Raises ConfigError with the nearest counts when nothing comes within the tolerance.
    """
    name, limit = wanted(config)
    width, step = config["model"]["width"], width_step(config)
    if not limit or (width % step == 0 and _near(budgeted(config), config)):
        return dict(config)
    plain = Dial(WIDTH, -(-width // step), step)
    found = _search(config, plain)
    nearest = sorted(found, key=lambda n: abs(found[n] - limit))
    if _near(found[nearest[0]], config):
        return apply_overrides(config, plain.keys(nearest[0]))
    for dial in _finer_dials(config, [n * step for n in nearest], step):
        try:
            finer = _search(config, dial)
        except ConfigError:  # a part that cannot have this width, such as sines an odd one
            continue
        best = min(finer, key=lambda n: abs(finer[n] - limit))
        if _near(finer[best], config):
            return apply_overrides(config, dial.keys(best))
    counts = ", ".join(f"width {n * step} has {found[n]:,}" for n in sorted(found))
    raise ConfigError(
        f"config.budget.{name}: nothing comes within {config['budget']['tolerance']:.1%} of "
        f"{limit:,}: {counts}; set one of these, or raise budget.tolerance"
    )


def width_step(config: Mapping[str, Any]) -> int:
    """What a width must be a multiple of: every head has an even width, as rotations need."""
    return math.lcm(2, *(2 * heads for side in sides(config) for heads in heads_of(side)))


def _fit(point: Point, root: Path) -> Point:
    if WIDTH in point.varied:
        raise ConfigError(f"{point.id}: config.budget sets {WIDTH}, which the sweep varies")
    run = RunDirectory(root / point.id)
    if run.config_path.exists():
        keys = [WIDTH, *_inner_widths(point.config, "feedforward", "mixers")]
        there = {key: lookup(run.config, key) for key in keys}
        kept = {key: value for key, value in there.items() if value}
        return replace(point, config=apply_overrides(point.config, kept))
    try:
        return replace(point, config=fitted(point.config))
    except ConfigError as error:
        raise ConfigError(f"{point.id}: {error}") from None


def _near(count: int, config: Mapping[str, Any]) -> bool:
    limit = wanted(config)[1]
    return abs(count - limit) <= config["budget"]["tolerance"] * limit


def _finer_dials(config: Mapping[str, Any], widths: list[int], step: int) -> Iterator[Dial]:
    for key in _inner_widths(config, "feedforward"):
        yield from (Dial(key, width, beside={WIDTH: width}) for width in widths)
    yield Dial(WIDTH, min(widths) // (step // 2), step // 2)
    for key in _inner_widths(config, "mixers"):
        # Where it equals the width a projection falls away: begin below.
        yield from (Dial(key, -(-width // 4), beside={WIDTH: width}) for width in widths)


def _inner_widths(config: Mapping[str, Any], *groups: str) -> Iterator[str]:
    """Keys `....hidden` of the parts of these groups that have one and leave it at its default."""
    for at in ("model", "model.encoder", "model.decoder"):
        model = lookup(config, at)
        parts = {"feedforward": model["feedforward"]} if "feedforward" in model else {}
        parts |= {f"mixers.{name}": spec for name, spec in model.get("mixers", {}).items()}
        for name, spec in parts.items():
            spec = {"kind": spec} if isinstance(spec, str) else spec
            options = inspect.signature(resolve(spec["kind"], f"{at}.{name}")).parameters
            if name.startswith(groups) and "hidden" in options and not spec.get("hidden"):
                yield f"{at}.{name}.hidden"


def _search(config: Mapping[str, Any], dial: Dial) -> dict[int, int]:
    """{n: count} of the neighbours n, n + 1 between which the count, rising, passes the budget.

    Only one of them where n would be 0, only the start where the count does not rise. Found by the
    secant of sqrt(count), which is nearly a line in a width, kept between what lies below and what
    lies above.
    """
    limit = wanted(config)[1]
    found, n = {0: 0}, dial.start
    while n not in found:
        found[n] = budgeted(apply_overrides(config, dial.keys(n)))
        low = max(n for n in found if found[n] <= limit)
        high = min((n for n in found if n > low), default=WIDEST)
        real = [n for n in found if n] if len(found) > 2 else list(found)
        a, b = sorted(real, key=lambda n: abs(found[n] - limit))[:2]
        if found[a] == found[b]:
            return {dial.start: found[dial.start]}
        slope = (math.sqrt(found[b]) - math.sqrt(found[a])) / (b - a)
        guess = a + math.floor((math.sqrt(limit) - math.sqrt(found[a])) / slope)
        n = min(max(guess, low + 1), high - 1)
    return {n: found[n] for n in (low, low + 1) if n and n in found}
