"""The part of the command line that absl does not know: `--config.KEY=VALUE`.

These are taken out of argv before absl reads it, so that flags, `--sweep` and Python all type a
value by the one rule in overrides.py, and a misspelt key ends in one line with a suggestion.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seqlab.build import GROUPS, ConfigError, parts
from seqlab.sweep.overrides import parse, schema

_OVERRIDE = re.compile(r"--?(no)?config\.([^=]*)(=(.*))?", re.DOTALL)


def split(argv: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """argv without the overrides, and the overrides, typed; the last of equal keys counts.

    Accepts `--config.KEY=VALUE`, `--config.KEY VALUE`, and `--config.KEY`, `--noconfig.KEY` for
    bools. Raises ConfigError naming the key and the value.
    """
    rest, found = [], {}
    arguments = iter(argv)
    for argument in arguments:
        match = _OVERRIDE.fullmatch(argument)
        if argument == "--" or not match:
            rest.append(argument)
            continue
        negated, key, given, text = match.groups()
        if given and not negated:
            found[key] = parse(key, text)
        elif isinstance(schema(key), bool) and not given:
            found[key] = not negated
        elif negated:
            raise ConfigError(f"{argument}: only a bool key can be negated")
        else:
            value = next(arguments, None)
            if value is None:
                raise ConfigError(f"--config.{key}: needs a value")
            found[key] = parse(key, value)
    return rest, found


def check_against(sweep: Sequence[Mapping[str, Any]], overrides: Iterable[str]) -> None:
    """The sweep's own values win: refuse an override that would do nothing, tell of a partial."""
    for key in overrides:
        setting = sum(key in point for point in sweep)
        if setting == len(sweep):
            raise ConfigError(
                f"--config.{key}: the sweep sets this key; use --sweep={key}=... to replace its "
                f"values or --only={key}=... to run some of them"
            )
        if setting:
            print(f"--config.{key}: the sweep sets it itself in {setting} of {len(sweep)} points")


def parts_help() -> str:
    """What a `kind` in a config may name, for --help."""
    lines = [f"  {group}: {', '.join(parts(group))}" for group in GROUPS]
    return "\nParts that a config can name as `kind`:\n" + "\n".join(lines) + "\n"
