"""Characters: every Unicode code point is a symbol."""

import dataclasses
from collections.abc import Iterable
from typing import ClassVar

from seqlab.data.text.symbols import Symbols


@dataclasses.dataclass(frozen=True)
class Characters(Symbols):
    """The text "hello" -> h e l l o. Normal form: the text itself, unknown characters as U+FFFD."""

    abstract: ClassVar[bool] = False

    @staticmethod
    def split(text: str) -> Iterable[str]:
        return text

    @staticmethod
    def join(symbols: Iterable[str]) -> str:
        return "".join(symbols)
