"""PER, WER and their series, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.build import ConfigError
from seqlab.data.records import Record
from seqlab.tasks import corpus
from seqlab.tasks.distance import edit_distance
from seqlab.tasks.transduction import Transduction

RECORDS = [
    Record("hello", "HH AH L OW", ("HH AH L OW", "HH EH L OW")),
    Record("cat", "K AE T", ("K AE T",)),
    Record("dog", "D AO G", ("D AO G",)),
]


def test_the_closest_reference_counts():
    hypotheses = ["HH EH L OW", "K AE", "D AO G Z Z"]
    scores = Transduction().score(hypotheses, RECORDS)
    assert scores == pytest.approx({"per": 100 * (0 + 1 + 2) / 10, "wer": 100 * 2 / 3})


def test_an_empty_prediction_is_all_deletions():
    assert Transduction().score(["", "", ""], RECORDS) == {"per": 100.0, "wer": 100.0}


def test_by_length_leaves_out_lengths_with_few_records():
    task = Transduction(by_length=True, least=2)
    scores = task.score(["HH AH L OW", "K AE T", "D"], RECORDS)
    assert scores["wer@3"] == 50.0
    assert scores["per@3"] == pytest.approx(100 * 2 / 6)
    assert "per@5" not in scores
    assert task.bins(RECORDS) == [None, 3.0, 3.0]
    assert Transduction().bins(RECORDS) == [None, None, None]
    assert task.example_scores(["HH EH L OW", "K AE", "D AO G"], RECORDS) == [1.0, 0.0, 1.0]
    assert "extrapolation_length" not in scores


@pytest.mark.parametrize(
    ("wrong", "reach"),
    [
        ([2, 2, 2, 2, 2, 2], 6),
        ([2, 2, 2, 3, 3, 4], 5),  # 20 % wrong where trained, so 30 % is the limit
        ([2, 2, 2, 4, 2, 2], 3),
        ([2, 6, 2, 2, 2, 2], 1),  # here the limit is 50 %
        ([9, 0, 0, 0, 0, 0], 0),
    ],
)
def test_extrapolation_length_is_the_end_of_the_unbroken_run(wrong, reach):
    task = Transduction(trained_length=3, least=1)
    records = [Record("a" * length, "A", ("A",)) for length in range(1, 7) for _ in range(10)]
    hypotheses = ["B" if n < bad else "A" for bad in wrong for n in range(10)]
    assert task.score(hypotheses, records)["extrapolation_length"] == reach


def test_counts_must_agree():
    with pytest.raises(ValueError, match="2 hypotheses for 3 records"):
        Transduction().score(["", ""], RECORDS)


def test_a_corpus_without_references_says_so():
    data = {
        "source": "hsk",
        "directory": "",
        "splits": {"train": "train"},
        "fields": {"source": "en", "target": "zh"},
    }
    with pytest.raises(ConfigError, match=r"hsk has no text column 'references'"):
        Transduction().load(data, "train")
    (first, *_) = corpus.load(data, "train")[:1]
    assert first.references == (first.target,)


words = st.lists(st.sampled_from("abc"), max_size=6)


@given(words, words, words)
def test_edit_distance_is_a_metric(a, b, c):
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, b) == edit_distance(b, a)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)
    assert abs(len(a) - len(b)) <= edit_distance(a, b) <= max(len(a), len(b))


def test_edit_distance_by_hand():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == 3
