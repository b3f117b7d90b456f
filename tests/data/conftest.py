"""A corpus in memory and the config around it."""

import copy
import dataclasses
import io
import tarfile

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


@pytest.fixture
def make_deb():
    """make_deb(path, {name: text}, compression="xz") -> path of a Debian package of these files."""

    def make(path, files, compression="xz"):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode=f"w:{compression}") as tar:
            for name, text in files.items():
                member = tarfile.TarInfo(f"./{name}")
                member.size = len(text.encode())
                tar.addfile(member, io.BytesIO(text.encode()))
        members = {
            "debian-binary": b"2.0\n",
            "control.tar.xz": b"odd",  # padded to an even length
            f"data.tar.{compression}": data.getvalue(),
        }
        raw = b"!<arch>\n"
        for name, content in members.items():
            size = len(content)
            raw += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{size:<10}`\n".encode()
            raw += content + b"\n" * (size % 2)
        path.write_bytes(raw)
        return path

    return make
