"""A corpus in memory and the config around it."""

import copy
import dataclasses

import pytest

from seqlab.data.records import Record
from seqlab.tasks.base import Task

CONFIG = {
    "seed": 0,
    "task": None,
    "data": {
        "source": "",
        "directory": "",
        "splits": {"train": "train", "valid": "validation", "test": "test"},
        "fields": {"source": "letters", "target": "phones"},
        "tokenizer": {
            "source": "data.text.characters.Characters",
            "target": "data.text.words.Words",
        },
        "shared_vocabulary": False,
        "max_length": {"source": 12, "target": 12},
        "filter": {},
        "buckets": (4, 8, 24),
        "eval_examples": 0,
        "workers": 0,
    },
    "train": {"batch": 4, "batch_unit": "examples"},
}


@dataclasses.dataclass(frozen=True)
class Fixed(Task):
    """Records given as they are: {split: [(source, target), ...]}."""

    splits: dict

    def load(self, data, split):
        return [Record(source, target, (target,)) for source, target in self.splits[split]]

    def score(self, hypotheses, records):
        return {}

    def conventions(self, records):
        return {"records": str(len(records))}


@pytest.fixture
def make_config():
    """make_config(splits or task, data={...}, train={...}) -> config."""

    def make(task, data=None, **changes):
        config = copy.deepcopy(CONFIG) | changes
        config["data"] |= data or {}
        config["task"] = Fixed(task) if isinstance(task, dict) and "kind" not in task else task
        return config

    return make


@pytest.fixture
def corpus():
    """200 training pairs of 1 to 10 letters, every letter spelt out in the target."""
    words = ["abcdefghij"[start : start + length] for length in range(1, 11) for start in range(5)]
    pairs = [(word, " ".join(word.upper())) for word in words]
    return {"train": pairs * 4, "valid": pairs[::3], "test": pairs[::5]}
