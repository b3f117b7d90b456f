"""Tokenizers: what comes back from ids is a fixed point, and specials never come from text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.build import ConfigError
from seqlab.data.text.base import EOS, PAD, SEP, SPECIALS, UNK, load
from seqlab.data.text.bytes import Bytes
from seqlab.data.text.characters import Characters
from seqlab.data.text.sentencepiece import SentencePiece
from seqlab.data.text.words import Words

TEXTS = [
    "the cat climbed up the tree",
    "a dog  ran",
    "…ŉ︰２",
    "猫爬到了树上。",
    "</s> <sep> <unk>",
]
AWKWARD = [
    "",
    " ",
    " a",
    "a  b",
    "…",
    "ŉ",
    "︰",
    "２",
    "e\u0301",
    "👩\u200d👩\u200d👧",
    "a\u00a0b",
    "a\u2028b\x0bc\x85d",
    "\u200b",
    "</s>",
    "<unk> <sep>",
    "\ufffd",
    "never seen: ЖЖЖ",
]
OPTIONS = [
    Characters(),
    Words(),
    Bytes(),
    SentencePiece(vocab_size=35),
    SentencePiece(vocab_size=35, algorithm="bpe"),
    SentencePiece(vocab_size=35, normalization="nfkc"),
    SentencePiece(vocab_size=290, byte_fallback=True),
]


@pytest.fixture(
    scope="module",
    params=OPTIONS,
    ids=lambda option: option.__class__.__name__ + str(getattr(option, "vocab_size", "")),
)
def tokenizer(request):
    return request.param.fit(TEXTS)


@pytest.mark.parametrize("text", AWKWARD)
def test_the_normal_form_is_a_fixed_point_and_holds_no_special_id(tokenizer, text):
    ids = tokenizer.encode(text)
    assert all(SPECIALS <= token < tokenizer.size or token == UNK for token in ids)
    once = tokenizer.decode(ids)
    assert tokenizer.decode(tokenizer.encode(once)) == once


def test_saved_and_loaded_it_is_the_same(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "a b")
    loaded = load(tmp_path / "a b")
    assert loaded == tokenizer
    assert [loaded.encode(text) for text in AWKWARD] == [tokenizer.encode(t) for t in AWKWARD]


def test_decoding_stops_at_eos_and_leaves_specials_out(tokenizer):
    ids = tokenizer.encode("cat")
    assert tokenizer.decode([1, PAD, SEP, *ids, EOS, *ids]) == tokenizer.decode(ids)


def test_an_id_outside_the_vocabulary_is_an_error(tokenizer):
    with pytest.raises(ValueError, match=f"outside the vocabulary of {tokenizer.size}"):
        tokenizer.decode([tokenizer.size])


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_lose_nothing(text):
    assert Bytes().decode(Bytes().encode(text)) == text


def test_unknown_symbols_are_marked():
    characters = Characters().fit(["ab"])
    assert characters.encode("axb") == [5, UNK, 6]
    assert characters.decode([5, UNK, 6]) == "a\ufffdb"


def test_words_are_cut_at_ascii_space_only():
    words = Words().fit(["a b"])
    assert words.split(" a\u00a0b\tc  d ") == ["a\u00a0b", "c", "d"]
    assert words.encode("") == []


def test_rare_symbols_and_the_tail_beyond_the_limit_are_unknown():
    texts = ["a a a b b c"]
    assert Words(min_count=2).fit(texts).symbols == ("a", "b")
    assert Words(limit=1).fit(texts).symbols == ("a",)


def test_identity_normalisation_keeps_full_width_punctuation():
    texts = ["你好，世界！", "…２"] * 3
    kept = SentencePiece(vocab_size=15).fit(texts)
    assert [kept.decode(kept.encode(text)) for text in texts] == texts


@pytest.mark.parametrize("algorithm", ["unigram", "bpe"])
def test_a_vocabulary_of_the_wrong_size_is_told_what_is_possible(algorithm):
    def message(size):
        with pytest.raises(ConfigError) as error:
            SentencePiece(vocab_size=size, algorithm=algorithm).fit(TEXTS)
        return str(error.value)

    most = re.fullmatch(r"vocab_size: 5000 is more .* the largest possible is (\d+)", message(5000))
    least = re.fullmatch(r"vocab_size: 9 is too small .* the least is (\d+) .*", message(9))
    for size in (int(least[1]), int(most[1])):
        assert SentencePiece(vocab_size=size, algorithm=algorithm).fit(TEXTS).size == size
    assert message(int(most[1]) + 1)
    assert message(int(least[1]) - 1)


def test_sentencepiece_says_what_it_cannot_learn_from():
    with pytest.raises(ConfigError, match="vocab_size: there are no training texts"):
        SentencePiece().fit(["", ""])
    with pytest.raises(ConfigError, match=r"coverage: 0\.5 is not from 0\.98 to 1"):
        SentencePiece(coverage=0.5).fit(TEXTS)


@pytest.mark.parametrize("algorithm", ["unigram", "bpe"])
def test_sentencepiece_learns_the_same_every_time_and_chinese_comes_back(algorithm):
    texts = [
        "猫爬到了树上。",
        "狗在树下，看着猫！",
        "「设置」对话框：选择“格式”",
        "你好，世界２０２６…",
    ] * 3
    models = [SentencePiece(vocab_size=42, algorithm=algorithm).fit(texts) for _ in range(2)]
    assert models[0] == models[1]
    for text in texts:
        ids = models[0].encode(text)
        assert UNK not in ids
        assert models[0].decode(ids) == text
    assert models[0].decode(models[0].encode("猫看龘狗")) == "猫看\ufffd狗"


def test_normalisation_rules_that_lose_the_unknown_mark_are_not_offered():
    with pytest.raises(ConfigError, match="normalization: 'nmt_nfkc'; did you mean `nfkc`"):
        SentencePiece(normalization="nmt_nfkc").fit(TEXTS)


def test_special_ids_of_sentencepiece_are_the_librarys():
    piece = SentencePiece(vocab_size=35).fit(TEXTS)._processor
    assert [piece.id_to_piece(i) for i in range(5)] == ["<pad>", "<s>", "</s>", "<unk>", "<sep>"]
