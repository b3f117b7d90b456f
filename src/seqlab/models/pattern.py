"""The pattern language: which sublayers stand in which layer.

    "a*6"        six layers of one sublayer `a`
    "r*2 a*4"    two layers of `r` below four of `a`
    "a+x*6"      six layers of two sublayers, `a` then `x`

A feed-forward follows in every layer; names are keys of `mixers`.
"""

import itertools
import re
from collections.abc import Collection, Mapping
from typing import Any

from seqlab.build import ConfigError, suggest

Layers = tuple[tuple[str, ...], ...]
_RUN = re.compile(r"([A-Za-z_]\w*(?:\+[A-Za-z_]\w*)*)(?:\*(\d+))?$")


def parse(pattern: str, names: Collection[str], where: str) -> Layers:
    """The sublayers of each layer, bottom first. Raises ConfigError at the part that is wrong."""
    layers: list[tuple[str, ...]] = []
    for word in pattern.split():
        match = _RUN.match(word)
        if match is None or match[2] == "0":
            raise ConfigError(f"{where}: cannot read {word!r} in {pattern!r}; write e.g. 'a+x*6'")
        sublayers = tuple(match[1].split("+"))
        for name in sublayers:
            if name not in names:
                raise ConfigError(
                    f"{where}: {pattern!r} names the mixer {name!r}, which `mixers` lacks"
                    + suggest(name, names, "it has")
                )
        layers += [sublayers] * int(match[2] or 1)
    if not layers:
        raise ConfigError(f"{where}: the pattern {pattern!r} has no layer")
    return tuple(layers)


def runs(layers: Layers) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Neighbouring equal layers counted together: (sublayers, how many)."""
    return tuple((key, len(list(group))) for key, group in itertools.groupby(layers))


def stack_runs(params: Mapping[str, Any]) -> list[Any]:
    """The stacked parameters of each run of a stack, bottom first."""
    names = [name for name in params if name.startswith("run_")]
    return [params[name] for name in sorted(names, key=lambda name: int(name[4:]))]
