"""The vocabularies of source and target, and how one model sees both.

Encoder-decoder ("pair"): two vocabularies, or one when `data.shared_vocabulary`.
Decoder-only ("prefix"): one row holds source and target, so their ids must not collide: the joint
vocabulary is [special ids | source symbols | target symbols], unless it is shared anyway.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from seqlab.build import ConfigError, build
from seqlab.data.text.base import SPECIALS, UNK, Tokenizer, load
from seqlab.types import HostArray

SIDES = ("source", "target")


@dataclasses.dataclass(frozen=True)
class Vocabularies:
    """Both tokenizers and the place of the target's ids. offset: added to its text ids."""

    source: Tokenizer
    target: Tokenizer
    shared: bool
    offset: int

    @classmethod
    def of(cls, source: Tokenizer, target: Tokenizer, shared: bool, joint: bool) -> "Vocabularies":
        """joint: source and target stand in one row."""
        return cls(source, target, shared, source.size - SPECIALS if joint and not shared else 0)

    @classmethod
    def fit(
        cls, data: Mapping[str, Any], texts: Callable[[str], Iterable[str]], joint: bool
    ) -> "Vocabularies":
        """Fit the tokenizers of the config's `data` on training texts; texts: side -> texts."""
        shared = data["shared_vocabulary"]
        blank = {side: tokenizer(data, side) for side in SIDES}
        if shared:
            if blank["source"] != blank["target"]:
                raise ConfigError(
                    "data.shared_vocabulary: data.tokenizer.source and .target must be the same"
                )
            both = _fit(blank["source"], (text for side in SIDES for text in texts(side)), "source")
            return cls.of(both, both, shared, joint)
        source, target = (_fit(blank[side], texts(side), side) for side in SIDES)
        return cls.of(source, target, shared, joint)

    @classmethod
    def load(cls, directory: Path, data: Mapping[str, Any], joint: bool) -> "Vocabularies":
        """Read what `save` wrote."""
        source = load(directory / "source")
        shared = data["shared_vocabulary"]
        return cls.of(source, source if shared else load(directory / "target"), shared, joint)

    def save(self, directory: Path) -> None:
        """Write the tokenizers, one directory a side (only `source` when they are shared)."""
        self.source.save(directory / "source")
        if not self.shared:
            self.target.save(directory / "target")

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of ids that the model reads as source and writes as target."""
        if self.offset:
            joint = self.offset + self.target.size
            return joint, joint
        return self.source.size, self.target.size

    def place(self, ids: np.ndarray) -> np.ndarray:
        """The target tokenizer's ids as the model's."""
        return np.where(ids >= SPECIALS, ids + self.offset, ids)

    def decode(self, ids: Iterable[int] | Int[HostArray, " T"]) -> str:
        """Text of the target ids that the model wrote.

        A symbol of the source in a target, which an untrained decoder-only model may write, reads
        as unknown.
        """
        return self.target.decode(self._unplace(int(token)) for token in ids)

    def pieces(self, ids: Iterable[int], side: str) -> list[str]:
        """How ids that the model reads or writes on a side are shown, one for one."""
        if side not in SIDES:
            raise ValueError(f"side: {side!r} is none of {', '.join(SIDES)}")
        if not self.offset:
            return (self.source if side == "source" else self.target).pieces(ids)
        return [self._joint_piece(token) for token in ids]

    def _joint_piece(self, token: int) -> str:
        of_source = token < SPECIALS + self.offset
        tokenizer, own = (self.source, token) if of_source else (self.target, token - self.offset)
        return tokenizer.pieces([own])[0]

    def _unplace(self, token: int) -> int:
        if token < SPECIALS:
            return token
        return UNK if token < SPECIALS + self.offset else token - self.offset


def tokenizer(data: Mapping[str, Any], side: str) -> Tokenizer:
    """The tokenizer that `data.tokenizer.<side>` describes, not fitted yet."""
    where = f"data.tokenizer.{side}"
    built = build(data["tokenizer"][side], where)
    if not isinstance(built, Tokenizer):
        raise ConfigError(f"{where}: {data['tokenizer'][side]!r} is no tokenizer")
    return built


def _fit(blank: Tokenizer, texts: Iterable[str], side: str) -> Tokenizer:
    try:
        return blank.fit(texts)
    except ConfigError as error:
        raise ConfigError(f"data.tokenizer.{side}.{error}") from None
