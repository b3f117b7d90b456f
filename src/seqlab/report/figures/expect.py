"""Published or derived expectations, drawn as grey lines beside the measured curves.

    {"label": ..., "points": ((x, y), ...)}    the curve itself
    {"label": ..., "constant": 1.6}            y = 1.6
    {"label": ..., "power": -0.5}              y = y0 * (x / x0) ** -0.5
    {"label": ..., "growth": 1.44}             y = y0 * 1.44 ** (x - x0)

Power and growth say nothing about the level: they start from the first measured point (x0, y0),
or with "anchor": "last" from the last one, of the runs that "where" selects (default: all).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqlab.build import ConfigError, suggest
from seqlab.report.frame import Frame

SHAPES = ("points", "constant", "power", "growth")
ENTRIES = (*SHAPES, "label", "where", "anchor")


def curve(rule: Mapping[str, Any], data: Frame) -> tuple[Any, Any] | None:
    """x and y of an expectation, over the x of the runs; None where no run has a value.

    data: the points of one panel that the rule selects (columns x, y).
    """
    for entry in rule:
        if entry not in ENTRIES:
            raise ConfigError(
                f"report.figures.expect: no entry {entry!r}" + suggest(entry, ENTRIES)
            )
    if "points" in rule:
        xs, ys = zip(*rule["points"], strict=True)
        return xs, ys
    means = data.groupby("x")["y"].mean().dropna()
    if means.empty:
        return None
    place = -1 if rule.get("anchor", "first") == "last" else 0
    x0, y0 = means.index[place], means.iloc[place]
    x = np.linspace(means.index[0], means.index[-1], 60)
    if "constant" in rule:
        return x, np.full(len(x), rule["constant"])
    if "power" in rule:
        x = x[x > 0]
        return x, y0 * (x / x0) ** rule["power"]
    if "growth" in rule:
        return x, y0 * rule["growth"] ** (x - x0)
    raise ConfigError(f"report.figures.expect: {dict(rule)} needs one of {', '.join(SHAPES)}")
