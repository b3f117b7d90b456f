"""Encoding: the truncation policy, token by token, and what is counted."""

import numpy as np
import pytest

from seqlab.data.encode import encode
from seqlab.data.records import Record
from seqlab.data.text.base import EOS, UNK
from seqlab.data.text.words import Words
from seqlab.data.vocabulary import Vocabularies

WORDS = Words().fit(["a b c d e f g"])
PLAIN = Vocabularies.of(WORDS, WORDS, shared=True, joint=False)
LIMITS = {"source": 4, "target": 4}


def encoded(*pairs, keep=None, limits=LIMITS, **options):
    records = [Record(source, target, (target,)) for source, target in pairs]
    return encode(records, PLAIN, limits, keep or {}, **options)


@pytest.mark.parametrize(
    ("text", "kept", "cut"),
    [
        ("a b", "a b EOS", 0),
        ("a b c", "a b c EOS", 0),  # with EOS just max_length
        ("a b c d", "a b c d", 1),
        ("a b c d e", "a b c d", 1),
        ("", "EOS", 0),
    ],
)
def test_a_cut_target_has_no_eos_and_an_uncut_one_always_has(text, kept, cut):
    examples = encoded(("a", text))
    wanted = [EOS if word == "EOS" else WORDS.encode(word)[0] for word in kept.split()]
    assert examples.target.row(0).tolist() == wanted
    assert examples.counts["truncated_target"] == cut


def test_a_cut_source_still_ends_in_eos():
    examples = encoded(("a b c d e", "a"))
    assert examples.source.row(0).tolist() == [*WORDS.encode("a b c"), EOS]
    assert examples.counts["truncated_source"] == 1


def test_what_is_left_out_is_counted_and_numbers_stay():
    pairs = [("a", "a"), ("a b c", "a"), ("", "a"), ("a", ""), ("", ""), ("x", "b x")]
    examples = encoded(*pairs, keep={"source": (0, 2)}, training=True, first=10)
    assert examples.index.tolist() == [10, 14, 15]
    counts = {"examples": 3, "filtered": 1, "blank": 2, "unknown": 2}
    assert counts.items() <= examples.counts.items()


def test_evaluation_keeps_blank_lines():
    assert len(encoded(("", "a"), ("a", ""))) == 2


def test_flat_and_select_agree_with_plain_indexing():
    texts = ["a b c", "", "d", "e f", "g a b"]
    source = encoded(*((text, "a") for text in texts)).source
    rows = np.array([3, 1, 1, 4])
    plain = [source.row(int(row)) for row in rows]
    assert source.flat(rows).tolist() == np.concatenate(plain).tolist()
    assert source.flat(rows, drop=1).tolist() == [t for row in plain for t in row[:-1]]
    chosen = source.select(rows)
    assert [chosen.row(i).tolist() for i in range(4)] == [row.tolist() for row in plain]


def test_joint_ids_do_not_collide_and_specials_stay():
    joint = Vocabularies.of(WORDS, WORDS, shared=False, joint=True)
    examples = encode([Record("a x", "a x", ("a x",))], joint, LIMITS, {})
    assert examples.source.row(0).tolist() == [5, UNK, EOS]
    assert examples.target.row(0).tolist() == [5 + 7, UNK, EOS]
    assert joint.sizes == (5 + 7 + 7,) * 2
    assert joint.decode(examples.target.row(0)) == "a \ufffd"
    assert joint.decode([5]) == "\ufffd"  # a source symbol is no target text
