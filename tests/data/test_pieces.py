"""How single ids are shown."""

import numpy as np
import pytest

from seqlab.data.text.base import BOS, EOS, SEP, UNK
from seqlab.data.text.bytes import Bytes
from seqlab.data.text.characters import Characters
from seqlab.data.text.sentencepiece import SentencePiece
from seqlab.data.text.words import Words
from seqlab.data.vocabulary import Vocabularies

NAMES = ["<s>", "</s>", "<unk>", "<sep>"]


@pytest.mark.parametrize(
    ("tokenizer", "text", "pieces"),
    [
        (Words(), "le </s> chat", ["le", "</s>", "chat"]),
        (Characters(), "a b", ["a", " ", "b"]),
        (Bytes(), "a é", ["a", " ", "0xC3", "0xA9"]),
    ],
    ids=["words", "characters", "bytes"],
)
def test_pieces_are_one_for_one(tokenizer, text, pieces):
    fitted = tokenizer.fit([text])
    assert fitted.pieces([BOS, *fitted.encode(text), EOS]) == ["<s>", *pieces, "</s>"]
    assert fitted.pieces([BOS, EOS, UNK, SEP]) == NAMES


def test_pieces_of_sentencepiece():
    fitted = SentencePiece(vocab_size=17).fit(["the cat sat on the mat"] * 20)
    pieces = fitted.pieces(fitted.encode("the cat"))
    assert "".join(pieces).replace("\u2581", " ").strip() == "the cat"
    assert fitted.pieces([BOS, EOS, UNK, SEP]) == NAMES


def test_a_joint_vocabulary_shows_both_sides():
    source, target = Words().fit(["a b"]), Words().fit(["x y"])
    both = Vocabularies.of(source, target, shared=False, joint=True)
    answer = both.place(np.array(target.encode("y x"))).tolist()
    row = [BOS, *source.encode("a b"), SEP, *answer]
    assert both.pieces(row, "target") == ["<s>", "a", "b", "<sep>", "y", "x"]
    with pytest.raises(ValueError, match="side: 'sauce' is none of source, target"):
        both.pieces(row, "sauce")
