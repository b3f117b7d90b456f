"""SentencePiece: subwords learnt from the training texts (Kudo & Richardson 2018)."""

import dataclasses
import functools
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import sentencepiece

from seqlab.build import ConfigError, suggest
from seqlab.data.text.base import BOS, EOS, PAD, SEP, UNK, UNKNOWN, Tokenizer, until_end

MODEL = "sentencepiece.model"
# The rules named nmt_* are not offered: they read U+FFFD, our unknown character, as a space.
CHOICES = {
    "algorithm": ("unigram", "bpe"),
    "normalization": ("identity", "nfkc", "nfkc_cf"),
}
LEAST_COVERAGE = 0.98  # SentencePiece takes no less


@dataclasses.dataclass(frozen=True)
class SentencePiece(Tokenizer):
    """A unigram or BPE model. Normal form: the text itself, runs of unknown characters as U+FFFD.

    vocab_size: ids in all, special ones included. algorithm: "unigram" or "bpe". normalization:
    "identity" keeps every character; "nfkc" turns "，" into "," and the like, which then no longer
    matches the references; "nfkc_cf" folds case, too. byte_fallback: unknown characters become
    their bytes (256 more ids). coverage: share of the characters that the vocabulary must hold.
    """

    vocab_size: int = 4000
    algorithm: str = "unigram"
    normalization: str = "identity"
    byte_fallback: bool = False
    coverage: float = 1.0
    model: bytes = dataclasses.field(default=b"", repr=False)

    abstract: ClassVar[bool] = False

    @property
    def size(self) -> int:
        return self._processor.get_piece_size()

    def fit(self, texts: Iterable[str]) -> "SentencePiece":
        self._check()
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(texts),
                model_writer=model,
                vocab_size=self.vocab_size,
                model_type=self.algorithm,
                character_coverage=self.coverage,
                normalization_rule_name=self.normalization,
                remove_extra_whitespaces=self.normalization != "identity",
                byte_fallback=self.byte_fallback,
                pad_id=PAD,
                bos_id=BOS,
                eos_id=EOS,
                unk_id=UNK,
                control_symbols=["<sep>"],  # takes the next free id, SEP
                unk_surface=UNKNOWN,
                max_sentence_length=1 << 20,  # longer lines would be left out silently
                num_threads=1,  # the same model on every machine
                minloglevel=2,
            )
        except RuntimeError as error:
            raise ConfigError(self._explain(str(error))) from None
        return dataclasses.replace(self, model=model.getvalue())

    def encode(self, text: str) -> list[int]:
        return self._processor.encode(text)

    def decode(self, ids: Iterable[int]) -> str:
        return self._processor.decode(list(until_end(ids, self.size)))

    def symbol(self, token: int) -> str:
        """The piece, a space in it as U+2581."""
        return self._processor.id_to_piece(token)

    def save(self, directory: Path) -> None:
        super().save(directory)
        (directory / MODEL).write_bytes(self.model)

    def _fields(self) -> dict[str, Any]:
        return {name: value for name, value in super()._fields().items() if name != "model"}

    @classmethod
    def restore(cls, directory: Path, fields: dict[str, Any]) -> "SentencePiece":
        return cls(**fields, model=(directory / MODEL).read_bytes())

    def _check(self) -> None:
        for key, known in CHOICES.items():
            value = getattr(self, key)
            if value not in known:
                raise ConfigError(f"{key}: {value!r}" + suggest(value, known))
        if not LEAST_COVERAGE <= self.coverage <= 1:
            raise ConfigError(f"coverage: {self.coverage} is not from {LEAST_COVERAGE} to 1")

    def _explain(self, error: str) -> str:
        """SentencePiece's own errors name neither the key nor, where it is known, what to set."""
        if most := re.search(r"too high .*value <= (\d+)", error):
            return (
                f"vocab_size: {self.vocab_size} is more than the training texts can fill; the "
                f"largest possible is {most[1]}"
            )
        if least := re.search(r"smaller than required_chars. \d+ vs (\d+)", error):
            return (
                f"vocab_size: {self.vocab_size} is too small for all characters of the training "
                f"texts; the least is {least[1]} (less with a lower coverage)"
            )
        if "!sentences_.empty()" in error:
            return "vocab_size: there are no training texts to learn it from"
        return f"vocab_size: {self.vocab_size}; SentencePiece: {error}"

    @functools.cached_property
    def _processor(self) -> Any:
        processor = sentencepiece.SentencePieceProcessor()
        processor.load_from_serialized_proto(self.model)
        if processor.piece_to_id("<sep>") != SEP:
            raise ValueError("not a SentencePiece model of this library: <sep> has another id")
        return processor
