"""Loss of every example and by bins; predictions as a file."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.train.evaluate import example_sums, loss_by_bin, teacher_forced
from seqlab.train.predictions import Prediction, load, save
from seqlab.train.programs import programs
from seqlab.train.source import dataset_of
from seqlab.train.step import row_sums, sums
from toys import batch, config, model_of

OPTIONS = config(model__width=8, model__depth=1)  # 8 test examples: four of 2 symbols, four of 4


@pytest.fixture(scope="module")
def tested():
    """Programs, parameters, data, and the sums of every test example."""
    dataset = dataset_of(OPTIONS)
    shared = programs(OPTIONS, dataset.source_vocab, dataset.target_vocab)
    _, params = model_of(OPTIONS, dataset.target_vocab)
    return shared, params, dataset, example_sums(shared, params, dataset, "test")


def test_rows_add_up_to_the_sums_of_the_batch():
    model, params = model_of(OPTIONS)
    rows = jax.tree.map(jnp.asarray, batch([5, 0, 9], 9))
    found = row_sums(model, params, rows)
    np.testing.assert_allclose(
        found.sum(0), sums(model, params, rows, 0.0, None, None)[1][1:], 1e-6
    )
    np.testing.assert_array_equal(found[:, 2], [5, 0, 9])
    np.testing.assert_array_equal(found[1], 0)


def test_every_example_has_its_own_sums_in_order(tested):
    """One at a time, in a batch of which the rest is filler, they are the same."""
    shared, params, dataset, found = tested
    assert found.shape == (8, 3)
    for bucket, rows in dataset.evaluation("test", batch=1):
        assert bucket == 10
        number = int(rows.index[0])
        alone = row_sums(shared.model, params, jax.tree.map(jnp.asarray, rows))
        np.testing.assert_allclose(found[number], alone[0], rtol=1e-5)
    assert shared.evaluate.count == 1
    lengths = [len(record.target.split()) for record in dataset.records("test")]
    np.testing.assert_array_equal(found[:, 2], np.array(lengths) + 1)


def test_loss_by_bin_is_the_mean_over_its_tokens(tested):
    *_, found = tested
    bins = [None, 15.0, 2.5, 15.0, 2.5, 2.5, 2.5, 15.0]
    series = loss_by_bin(found, bins)
    assert list(series) == ["loss@2.5", "loss@15"]
    own = found[[1, 3, 7]]
    np.testing.assert_allclose(series["loss@15"], own[:, 0].sum() / own[:, 2].sum())
    assert loss_by_bin(found, [None] * 8) == {}


def test_the_loss_of_a_split_is_that_of_its_examples(tested):
    shared, params, dataset, found = tested
    scores = teacher_forced(shared, params, dataset, "test")
    assert scores["loss"] == found[:, 0].sum() / found[:, 2].sum()
    assert scores["tokens"] == found[:, 2].sum()
    assert not any("@" in name for name in scores)
    three = example_sums(shared, params, dataset, "test", limit=3)
    assert three.shape == (3, 3)
    assert {tuple(row) for row in three} <= {tuple(row) for row in found}


def test_predictions_survive_odd_texts(tmp_path):
    path = tmp_path / "predictions" / "test.jsonl"
    odd = 'a\u2028b\x85c\nd "e" 猫'
    rows = [
        Prediction(0, odd, odd, (odd, ""), True, 31.25),
        Prediction(1, "", "", ("x",), False, 0.0),
    ]
    save(path, rows)
    assert path.read_text("utf-8").count("\n") == 2
    expected = [dataclasses.asdict(row) for row in rows]
    assert load(path) == [each | {"references": list(each["references"])} for each in expected]
    save(path, rows[:1])
    assert len(load(path)) == 1
    assert [file.name for file in path.parent.iterdir()] == ["test.jsonl"]
    with pytest.raises(FileNotFoundError, match=r"decode\.method"):
        load(tmp_path / "test.jsonl")
