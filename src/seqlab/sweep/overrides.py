"""One rule of typing for flags, sweeps, config files and Python: the type of the default.

`check` holds a whole config against `seqlab.config.defaults()`, `apply_overrides` changes single
keys of it, `parse` reads the text of a flag. A float key takes 1 as 1.0; an int key takes no 1e3;
a key whose default is None takes anything; a part takes a dotted path or a dict with `kind`.
"""

import ast
import copy
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ml_collections import ConfigDict

from seqlab.build import ConfigError, suggest
from seqlab.config import OPEN, defaults, flatten
from seqlab.train.assign import assign

_MISSING = object()  # the default of an option that only its part knows
_PART = re.compile(r"\w+(\.\w+)*\.[A-Z]\w*")


def apply_overrides(config: ConfigDict | Mapping, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the config with dotted keys set; text for a number or bool is read as a flag is.

    Raises ConfigError for a key that does not exist, with the nearest ones, or a wrong type.
    """
    result = _plain(config)
    for key, value in overrides.items():
        default = schema(key)
        as_flag = isinstance(value, str) and type(default) in (bool, int, float)
        value = parse(key, value) if as_flag else _cast(key, value, default)
        assign(result, key, value)
    return check(result)


def check(config: ConfigDict | Mapping) -> dict[str, Any]:
    """The config as a plain dict of the right types, missing keys filled in from the defaults.

    Raises ConfigError for unknown keys and wrong types.
    """
    return _check_group(_plain(config), _defaults(), "")


def schema(key: str) -> Any:
    """The default of a dotted key, whose type is the key's type; _MISSING where any value may be.

    Keys of `model.encoder` and `model.decoder` are those of `model`.
    """
    node: Any = _defaults()
    at = ""
    for name in re.sub(r"^model\.(encoder|decoder)\.", "model.", key).split("."):
        if node is _MISSING or _is_open(at) or _is_part(node):  # an option of a part
            node = node.get(name, _MISSING) if isinstance(node, dict) else _MISSING
        elif isinstance(node, dict) and name in node:
            node = node[name]
        else:
            raise ConfigError(f"config.{key}: there is no key {name!r}{_nearest(key, node)}")
        at = f"{at}.{name}".lstrip(".")
    return node


def parse(key: str, text: str) -> Any:
    """The value that the text of a flag means for this key. Raises ConfigError naming both."""
    default = schema(key)
    if isinstance(default, str):
        literal = text.startswith(("{", "'", '"'))
        return _cast(key, _literal(text), default) if literal else text
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise _wrong(key, text, "bool (true or false)")
        return text.lower() == "true"
    if isinstance(default, int | float):
        kind = type(default)
        try:
            return kind(text)
        except ValueError:
            raise _wrong(key, text, kind.__name__) from None
    value = _literal(text)
    return value if default is None or default is _MISSING else _cast(key, value, default)


def split_values(text: str) -> list[str]:
    """Split at the commas that stand in no bracket and no quotes: "(1,2),'a,b'" -> two values."""
    values, start, depth, quote = [], 0, 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and depth == 0:
                values.append(text[start:place].strip())
                start = place + 1
    return [*values, text[start:].strip()]


def _check_group(given: dict, default: dict, at: str) -> dict[str, Any]:
    result = {} if _is_open(at) else copy.deepcopy(default)
    for name, value in given.items():
        key = f"{at}.{name}".lstrip(".")
        expected = schema(key)
        nested = isinstance(expected, dict) and isinstance(value, dict)
        result[name] = _check_group(value, expected, key) if nested else _cast(key, value, expected)
    return result


def _cast(key: str, value: Any, default: Any) -> Any:
    """`value` in the type of `default`, where that loses nothing."""
    if default is None or default is _MISSING:
        return value
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if isinstance(default, tuple) and isinstance(value, list):
        return tuple(value)
    if key == "task" and isinstance(value, str):
        return {"kind": value}
    if _is_part(default):
        if not (isinstance(value, str) or (isinstance(value, Mapping) and "kind" in value)):
            raise _wrong(key, value, "a dotted path or a dict with `kind`")
        return value
    if type(value) is not type(default):
        raise _wrong(key, value, type(default).__name__)
    return value


def _literal(text: str) -> Any:
    """Python's literal, JSON's true, false and null, else the text itself."""
    words = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _wrong(key: str, value: Any, expected: str) -> ConfigError:
    return ConfigError(
        f"config.{key}: expected {expected}, got {value!r}"
        + ("" if isinstance(value, str) else f" ({type(value).__name__})")
    )


def _nearest(key: str, node: Any) -> str:
    """Suggest keys of the same group, or whole keys that end alike."""
    name = key.rpartition(".")[2]
    group: Iterable[str] = node if isinstance(node, dict) else ()
    alike = [full for full in flatten(_defaults()) if full.rpartition(".")[2] == name]
    if alike:
        return suggest(key, alike, "did you mean")
    return suggest(name, group) if group else ""


def _is_open(key: str) -> bool:
    return key in OPEN or any(key.startswith(f"{name}.") for name in OPEN)


def _is_part(value: Any) -> bool:
    return isinstance(value, str) and _PART.fullmatch(value) is not None


@functools.cache
def _defaults() -> dict[str, Any]:
    return defaults().to_dict()


def _plain(config: ConfigDict | Mapping) -> dict[str, Any]:
    return config.to_dict() if isinstance(config, ConfigDict) else copy.deepcopy(dict(config))
