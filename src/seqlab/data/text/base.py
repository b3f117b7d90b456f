"""What a tokenizer is: text -> ids -> text, over a vocabulary built from training texts only.

Ids 0-4 are special in every vocabulary and never come from text: a word that looks like "</s>" is
an ordinary word. `encode` adds no special id but UNK; the pipeline adds the others.
"""

import abc
import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from seqlab.build import build

PAD, BOS, EOS, UNK, SEP = range(5)
SPECIALS = 5  # the first id that stands for text
UNKNOWN = "\ufffd"  # how UNK is written
NAMES = ("<pad>", "<s>", "</s>", "<unk>", "<sep>")  # of the special ids, where pieces are shown

FILE = "tokenizer.json"


@dataclasses.dataclass(frozen=True)
class Tokenizer(abc.ABC):
    """Options and, once fitted, vocabulary of a tokenizer; both are fields, all plain data."""

    abstract: ClassVar[bool] = True

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Number of ids, the special ones included."""

    @abc.abstractmethod
    def fit(self, texts: Iterable[str]) -> "Tokenizer":
        """A tokenizer of the same options whose vocabulary is made from `texts`."""

    @abc.abstractmethod
    def encode(self, text: str) -> list[int]:
        """Ids of a text, without BOS and EOS; what the vocabulary lacks is UNK."""

    @abc.abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """Text of the ids up to the first EOS, special ids left out and UNK written as U+FFFD.

        decode(encode(x)) is the tokenizer's normal form of x: encoding and decoding it again
        changes nothing.
        """

    def symbol(self, token: int) -> str:
        """How one id from SPECIALS on is shown: as the text it stands for."""
        return self.decode([token])

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """How the ids are shown, one for one: special ones by their NAMES."""
        return [NAMES[token] if token < SPECIALS else self.symbol(token) for token in ids]

    def save(self, directory: Path) -> None:
        """Write what `load` needs, as JSON."""
        directory.mkdir(parents=True, exist_ok=True)
        kind = f"{type(self).__module__}.{type(self).__qualname__}".removeprefix("seqlab.")
        text = json.dumps({"kind": kind, **self._fields()}, ensure_ascii=False, indent=1)
        (directory / FILE).write_text(text + "\n", encoding="utf-8")

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def restore(cls, directory: Path, fields: dict[str, Any]) -> "Tokenizer":
        """The tokenizer of the saved fields; files beside them are in `directory`."""
        del directory
        return cls(**fields)


def load(directory: Path) -> Tokenizer:
    """The tokenizer that was saved in a directory."""
    description = json.loads((directory / FILE).read_text(encoding="utf-8"))
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in description.items()
    }
    blank = build({"kind": fields.pop("kind")}, f"{directory / FILE}")
    return type(blank).restore(directory, fields)


def until_end(ids: Iterable[int], size: int) -> Iterable[int]:
    """The ids before the first EOS that stand for text, and UNK. ValueError beyond `size`."""
    for token in ids:
        if token == EOS:
            return
        if not 0 <= token < size:
            raise ValueError(f"token id {token} is outside the vocabulary of {size}")
        if token >= SPECIALS or token == UNK:
            yield token
