"""Words: what stands between spaces."""

import dataclasses
import re
from collections.abc import Iterable
from typing import ClassVar

from seqlab.data.text.symbols import Symbols

# ASCII space only: a no-break space or a line separator is part of the word it stands in.
WORD = re.compile(r"[^ \t\r\n]+")


@dataclasses.dataclass(frozen=True)
class Words(Symbols):
    """The text "HH AH" -> HH, AH. Normal form: words one space apart, unknown ones U+FFFD."""

    abstract: ClassVar[bool] = False

    @staticmethod
    def split(text: str) -> Iterable[str]:
        return WORD.findall(text)

    @staticmethod
    def join(symbols: Iterable[str]) -> str:
        return " ".join(symbols)
