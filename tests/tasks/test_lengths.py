"""Bins of source length."""

import pytest

from seqlab.tasks.lengths import frequent, members, middle, source_length


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("  The cat,  climbed. ", 3),
        ("猫爬到 了树上。", 7),
        ("ねこが木にのぼった。", 10),
        ("Das Wort 猫 heißt Katze", 5),
        ("12 34", 2),
    ],
)
def test_words_where_words_are_written_apart_else_characters(text, length):
    assert source_length(text) == length


def test_the_number_of_a_bin_is_its_middle():
    assert [middle(length, 10) for length in (0, 9, 10, 19, 20)] == [5, 5, 15, 15, 25]
    assert [middle(length, 3) for length in (0, 2, 3)] == [1.5, 1.5, 4.5]


def test_rare_bins_are_none_and_have_no_members():
    bins = frequent([15.0, 5.0, 15.0, 25.0, 5.0], 2)
    assert bins == [15.0, 5.0, 15.0, None, 5.0]
    assert list(members(bins).items()) == [(5.0, [1, 4]), (15.0, [0, 2])]
