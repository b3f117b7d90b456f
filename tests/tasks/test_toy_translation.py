"""Toy translation: the dictionary, the word order, and the alignment that goes with them."""

import numpy as np
import pytest

from seqlab.data.records import Record
from seqlab.tasks.probes.copying import Copy
from seqlab.tasks.probes.toy_translation import ToyTranslation


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("", []),
        ("a", [0]),
        ("a b", [1, 0]),
        ("a b c", [1, 0, 2]),
        ("a b c d", [1, 0, 3, 2]),
        ("e e e d e", [1, 0, 3, 2, 4]),
    ],
)
def test_neighbours_change_places(source, places):
    task = ToyTranslation()
    assert task.alignment(Record(source, "", ())) == places
    words = source.split()
    assert task.answer(words) == [task.dictionary[words[place]] for place in places]


def test_every_word_has_one_translation_in_every_run():
    task = ToyTranslation()
    assert task.dictionary == ToyTranslation(train_max=5).dictionary
    assert sorted(task.dictionary.values()) == [name.upper() for name in task.dictionary]
    moved = [word for word, other in task.dictionary.items() if other != word.upper()]
    assert len(moved) > 15
    assert task.alphabet()[:21] == Copy(symbols=21).alphabet()
    assert set(task.alphabet()[21:]) == set(task.dictionary.values())
    assert len(set(ToyTranslation(symbols=60).alphabet())) == 120


def test_examples_translate_their_source_and_are_new_every_epoch():
    task = ToyTranslation(train_max=6, epoch_examples=60)
    epochs = [task.generate(0, 0), task.generate(0, 1)]
    assert epochs[0] != epochs[1]
    for record in [*epochs[0], *task.load({}, "valid"), *task.load({}, "test")]:
        words = record.source.split()
        aligned = [words[place] for place in task.alignment(record)]
        assert record.target.split() == [task.dictionary[word] for word in aligned]
        assert record.references == (record.target,)


def test_scores_by_length():
    task = ToyTranslation(test_lengths=(5, 3), test_examples=2)
    records = task.load({}, "test")
    assert task.tested == (3, 5)
    right = [record.target for record in records]
    unswapped = " ".join(task.dictionary[word] for word in records[0].source.split())
    scores = task.score([unswapped, *right[1:]], records)
    wrong = np.sum(np.array(unswapped.split()) != np.array(right[0].split()))
    assert scores["accuracy@3"] == (6 - wrong) / 6
    assert scores["exact@3"] == (0.5 if wrong else 1.0)
    assert scores["accuracy@5"] == scores["exact@5"] == 1
    assert ToyTranslation().tested == (3, 5, 8, 10, 12, 15, 18, 20, 24, 30)
