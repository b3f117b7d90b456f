"""Tokenizers that look symbols up in a list: characters, words."""

import abc
import dataclasses
import functools
from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from seqlab.data.text.base import SPECIALS, UNK, UNKNOWN, Tokenizer, until_end


@dataclasses.dataclass(frozen=True)
class Symbols(Tokenizer):
    """Text is cut into symbols; each symbol of the training texts has an id.

    min_count: symbols seen less often are unknown. limit: at most so many symbols, the most
    frequent ones (0: all). symbols: the vocabulary, most frequent first.
    """

    min_count: int = 1
    limit: int = 0
    symbols: tuple[str, ...] = ()

    abstract: ClassVar[bool] = True

    @staticmethod
    @abc.abstractmethod
    def split(text: str) -> Iterable[str]:
        """The symbols of a text."""

    @staticmethod
    @abc.abstractmethod
    def join(symbols: Iterable[str]) -> str:
        """The text of symbols."""

    @property
    def size(self) -> int:
        return SPECIALS + len(self.symbols)

    def fit(self, texts: Iterable[str]) -> "Symbols":
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(self.split(text))
        ranked = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))
        known = [symbol for symbol in ranked if counts[symbol] >= self.min_count]
        return dataclasses.replace(self, symbols=tuple(known[: self.limit or None]))

    def encode(self, text: str) -> list[int]:
        index = self._index
        return [index.get(symbol, UNK) for symbol in self.split(text)]

    def decode(self, ids: Iterable[int]) -> str:
        return self.join(
            UNKNOWN if token == UNK else self.symbols[token - SPECIALS]
            for token in until_end(ids, self.size)
        )

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols, SPECIALS)}
