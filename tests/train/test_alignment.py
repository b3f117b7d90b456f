"""Attention against gold alignments: by hand, and in the metrics of a run."""

import dataclasses

import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.data.vocabulary import SIDES
from seqlab.tasks.probes.copying import Copy
from seqlab.train.alignment import alignment, check, conventions, rates, tally
from seqlab.train.compiled import Compiled
from seqlab.train.directory import RunDirectory
from seqlab.train.programs import programs
from seqlab.train.source import dataset_of
from seqlab.train.writer import history, read
from toys import config, pair, train

TOY = {
    "kind": "tasks.probes.toy_translation.ToyTranslation",
    "symbols": 4,
    "train_max": 3,
    "test_lengths": (2, 4),
    "epoch_examples": 40,
    "valid_examples": 12,
    "test_examples": 4,
}
SMALL = {"task": TOY, "train__steps": 4, "train__eval_every": 2, "train__checkpoint_every": 4}

# Two words translated in swapped order, then EOS; the source ends in EOS and padding.
SWAP = [1, 0]
MAPS = np.array(
    [
        [[0.1, 0.6, 0.3, 0], [0.2, 0.3, 0.5, 0], [0.9, 0.1, 0, 0]],  # the second looks at EOS
        [[0.4, 0.5, 0.1, 0], [0.8, 0.1, 0.1, 0], [0.9, 0.1, 0, 0]],
    ]
)


def test_a_sentence_by_hand():
    expected = [[1, 0.6 + 0.2, 2], [2, 0.5 + 0.8, 2]]
    np.testing.assert_allclose(tally(MAPS, SWAP), expected)
    np.testing.assert_allclose(tally(MAPS, [1])[:, 2], 1)  # words, not rows, are counted
    np.testing.assert_allclose(tally(MAPS, []), 0)


def test_the_layer_that_aligns_best_is_reported():
    scores = rates([tally(MAPS, SWAP), tally(MAPS[:, 1:], [0])])
    assert scores == pytest.approx(
        {
            "alignment_accuracy": 1.0,
            "alignment_mass": (0.5 + 0.8 + 0.8) / 3,
            "alignment_accuracy@1": 1 / 3,
            "alignment_accuracy@2": 1.0,
        }
    )
    assert set(rates([tally(MAPS[:1], SWAP)])) == {"alignment_accuracy", "alignment_mass"}


def test_by_length_words_count_alike_whatever_their_sentence():
    short, long = tally(MAPS[:1], [0]), tally(MAPS[:1], SWAP)
    scores = rates([short, long, long, tally(MAPS[:1], [])], by_length=True)
    assert scores["alignment_accuracy"] == pytest.approx((0 + 1 + 1) / 5)
    assert scores["alignment_accuracy@1"] == 0
    assert scores["alignment_accuracy@2"] == 0.5
    assert "alignment_accuracy@0" not in scores


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> RunDirectory:
    return train(pair(**SMALL), tmp_path_factory.mktemp("toy") / "run")


def test_a_run_writes_them_at_every_evaluation(toy):
    found = history(read(toy.metrics))
    for name in ("alignment_accuracy", "alignment_mass", "alignment_accuracy@2"):
        assert list(found[f"valid/{name}"]) == [2, 4], name
        assert 0 <= found[f"valid/{name}"][4] <= 1
    layers = [found[f"valid/alignment_accuracy@{layer}"][4] for layer in (1, 2)]
    assert found["valid/alignment_accuracy"][4] == max(layers)
    by_length = [found[f"test/alignment_accuracy@{length}"][4] for length in (2, 4)]
    whole = (2 * by_length[0] + 4 * by_length[1]) / 6
    assert found["test/alignment_accuracy"][4] == pytest.approx(whole)
    assert "test/alignment_accuracy@1" not in found
    assert "gold source position" in toy.conventions["alignment_mass"]
    assert conventions(Copy()) == {}


def test_they_cost_one_compilation_a_shape(toy):
    _, shared = dataset_and_programs(toy.config)
    assert shared.attention.count == 1
    every = [shared.init, shared.train, shared.evaluate, shared.decode, shared.attention]
    assert shared.compilations()[0] == sum(program.count for program in every)


class Gold(Compiled):
    """Weights that are right by construction: 0.75 on the gold position."""

    def __call__(self, params, batch):
        weights = np.zeros((1, *batch.inputs.shape, batch.source.shape[1]))
        for row, words in enumerate(np.asarray(batch.weights).sum(1).astype(int) - 1):
            for place in range(words):
                weights[0, row, place, min(place ^ 1, words - 1)] = 0.75
        return weights


def test_every_row_is_held_against_its_own_alignment():
    """Over several buckets, batches and filler rows."""
    options = pair(**SMALL, data__buckets=(3, 10), train__batch=3)
    dataset, shared = dataset_and_programs(options)
    perfect = dataclasses.replace(shared, attention=Gold(len))
    assert alignment(perfect, None, dataset, "test", by_length=True) == {
        "alignment_accuracy": 1.0,
        "alignment_mass": 0.75,
        "alignment_accuracy@2": 1.0,
        "alignment_accuracy@4": 1.0,
    }


@pytest.mark.parametrize("options", [config(task=TOY), pair()], ids=["no attention", "no gold"])
def test_without_gold_or_cross_attention_there_are_none(options):
    dataset, shared = dataset_and_programs(options)
    assert alignment(shared, None, dataset, "valid") == {}
    assert shared.attention.count == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"data__tokenizer": dict.fromkeys(SIDES, "data.text.characters.Characters")},
        {"data__max_length": {"source": 4, "target": 8}},
        {"data__max_length": {"source": 8, "target": 4}},
    ],
)
def test_words_that_are_not_tokens_are_refused(changes):
    dataset, _ = dataset_and_programs(pair(**SMALL, **changes))
    with pytest.raises(ConfigError, match=r"data\.tokenizer and a data\.max_length"):
        for _, batch in dataset.evaluation("test"):
            for row, number in enumerate(batch.index):
                gold = dataset.task.alignment(dataset.records("test")[number])
                check(gold, batch, row, "test example")


def dataset_and_programs(options):
    dataset = dataset_of(options)
    return dataset, programs(options, dataset.source_vocab, dataset.target_vocab)
