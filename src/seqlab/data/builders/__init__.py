"""Real corpora that arrive inside packages, as TFDS data sets."""

from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.data.builders.cmudict import Cmudict
from seqlab.data.builders.ding import Ding
from seqlab.data.builders.hsk import Hsk
from seqlab.data.builders.libreoffice_help import LibreofficeHelp

BUILDERS = {
    "cmudict": Cmudict,
    "ding": Ding,
    "hsk": Hsk,
    "libreoffice_help": LibreofficeHelp,
}


def is_own(name: str) -> bool:
    """Is it one of BUILDERS, with a config ("ding/sentences") or without?"""
    return name.partition("/")[0] in BUILDERS


def make(name: str, **options: Any) -> Any:
    """The builder of an own corpus. Without a config it is the first one, as in TFDS.

    Raises ConfigError for a config that it does not have.
    """
    corpus, _, config = name.partition("/")
    kind = BUILDERS[corpus]
    if not config:
        return kind(**options)
    if config not in kind.builder_configs:
        known = [f"{corpus}/{each}" for each in kind.builder_configs] or [corpus]
        raise ConfigError(f"data.source: there is no data set {name!r}" + suggest(name, known))
    return kind(config=config, **options)
