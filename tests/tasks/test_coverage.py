"""Repeated and dropped tokens, counted by hand."""

import pytest

from seqlab.tasks.coverage import coverage, rates

REFERENCE = ["the", "old", "cat", "sat", "on", "the", "mat"]


def counts(text, *references):
    found = coverage(text.split(), [each.split() for each in references] or [REFERENCE])
    return found.repeated, found.dropped, found.reference


@pytest.mark.parametrize(
    ("text", "repeated", "dropped"),
    [
        ("the old cat sat on the mat", 0, 0),
        ("the cat sat on the mat", 0, 1),
        ("", 0, 7),
        # "old cat" once more than there: 2 occurrences, 1 of them beyond the reference.
        ("the old cat old cat sat on the mat", 1, 0),
        # "cat cat" twice (a bigram that occurs twice: 2), and a word said again twice (2 * 2).
        ("the old cat cat cat sat on the mat", 2 + 4, 0),
        # "mat mat" once: no bigram occurs twice.
        ("the old cat sat on the mat mat", 2, 0),
    ],
)
def test_against_one_reference(text, repeated, dropped):
    assert counts(text) == (repeated, dropped, 7)


def test_a_repetition_of_the_reference_is_none():
    assert counts("very very good", "very very good") == (0, 0, 3)
    assert counts("very very good", "very good") == (2, 0, 2)


def test_the_kindest_reference_counts():
    assert counts("a b", "c d e", "a b c") == (0, 1, 3)


def test_rates_are_of_the_corpus_not_means_of_sentences():
    found = [coverage(text.split(), [REFERENCE]) for text in ("", "the old cat sat on the mat mat")]
    assert rates(found) == pytest.approx({"repeated": 100 * 2 / 14, "dropped": 100 * 7 / 14})
