"""Checks of `evaluate.variants` before any work starts."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from seqlab.build import ConfigError
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.size import make_model

SYMBOLS = 8  # of a vocabulary: only whether the model can be built is asked


def check_variants(config: Mapping[str, Any], validate: Callable[[Any], None]) -> None:
    """Raise ConfigError unless every variant is a valid config of a model that can be built.

    validate: raises ConfigError for a config that is not.
    """
    changes: dict[str, dict[str, Any]] = {}
    for entry in config["evaluate"]["variants"]:
        name, key, value = _triple(entry)
        changes.setdefault(name, {})[key] = value
    for name, overrides in changes.items():
        try:
            changed = apply_overrides(config, {"evaluate.variants": (), **overrides})
            validate(changed)
            make_model(changed, SYMBOLS, SYMBOLS)
        except ConfigError as error:
            raise ConfigError(f"config.evaluate.variants: {name!r}: {error}") from None


def _triple(entry: Any) -> tuple[str, str, Any]:
    if not (
        isinstance(entry, tuple | list)
        and len(entry) == 3
        and all(isinstance(text, str) for text in entry[:2])
    ):
        raise ConfigError(
            f"config.evaluate.variants: expected triples (name, dotted key, value), got {entry!r}"
        )
    name, key, value = entry
    if not re.fullmatch(r"\w+", name):
        raise ConfigError(
            f"config.evaluate.variants: a name has letters, digits and _ only, got {name!r}"
        )
    if not key.startswith(("model.", "decode.")) or key == "model.kind":
        raise ConfigError(
            f"config.evaluate.variants: {name!r} changes {key}; a variant changes keys of model "
            "(not model.kind) or decode: data and training are those of the run"
        )
    return name, key, value
