"""The data of a config: it can be read, encoded and laid out."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError
from seqlab.check.law import Found, Law
from seqlab.check.sample import made_up, sampled
from seqlab.train.source import dataset_of


class Corpus:
    """The data of a shrunk config, a sample of which is written into `folder`."""

    def __init__(self, config: Mapping[str, Any], folder: Path) -> None:
        self.config, self.folder = config, folder

    @functools.cached_property
    def sample(self) -> tuple[dict[str, Any], str]:
        """The config that reads the sample, and what it is; raises what is wrong with the data."""
        return sampled(self.config, self.folder)

    def usable(self) -> dict[str, Any]:
        """The same, with made-up data where the real one is wrong, so that the model can still be
        trained."""
        try:
            return self.sample[0]
        except ConfigError:
            return made_up(self.config, self.folder)


def fits(corpus: Corpus) -> Found:
    """All splits of the sample are read and encoded by tokenizers fitted on it."""
    config, said = corpus.sample
    dataset = dataset_of(config)
    dataset.counts()
    next(dataset.train_stream())
    return Found(True, said)


LAW = Law(
    "data",
    fits,
    "The data and the config do not fit: the message above names the key. Columns are "
    "data.fields, splits data.splits, and both must be in data.source.",
)
