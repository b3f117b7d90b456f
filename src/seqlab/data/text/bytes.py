"""Bytes: the UTF-8 bytes of the text; no vocabulary to build, nothing unknown."""

import dataclasses
from collections.abc import Iterable
from typing import ClassVar

from seqlab.data.text.base import SPECIALS, UNK, Tokenizer, until_end


@dataclasses.dataclass(frozen=True)
class Bytes(Tokenizer):
    """The text "é" -> 0xC3 0xA9. Normal form: the text itself; broken UTF-8 reads as U+FFFD."""

    abstract: ClassVar[bool] = False

    @property
    def size(self) -> int:
        return SPECIALS + 256

    def fit(self, texts: Iterable[str]) -> "Bytes":
        del texts
        return self

    def encode(self, text: str) -> list[int]:
        return [SPECIALS + byte for byte in text.encode("utf-8")]

    def decode(self, ids: Iterable[int]) -> str:
        kept = (token for token in until_end(ids, self.size) if token != UNK)
        return bytes(token - SPECIALS for token in kept).decode("utf-8", errors="replace")

    def symbol(self, token: int) -> str:
        """ASCII as it is, any other byte as its number: "a", "0xC3"."""
        byte = token - SPECIALS
        return chr(byte) if 32 <= byte < 127 else f"0x{byte:02X}"
