"""The data set of a run: alignment of prompts, records and batches, and reloading it."""

import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.data.dataset import Dataset


@pytest.mark.parametrize("layout", ["pair", "prefix"])
@pytest.mark.parametrize("limit", [None, 7, 0])
def test_evaluation_prompts_and_records_are_aligned(make_config, corpus, layout, limit):
    data = Dataset.create(make_config(corpus, {"filter": {"source": (2, 6)}}), layout)
    records = data.records("valid", limit)
    assert all(2 <= len(record.source) <= 6 for record in records)
    assert len(records) == (7 if limit == 7 else 9)
    seen = []
    for _, batch in data.evaluation("valid", limit):
        for row in np.flatnonzero(batch.index >= 0):
            seen.append(int(batch.index[row]))
            target = batch.targets[row][batch.weights[row] > 0]
            assert data.decode(target) == records[batch.index[row]].target
    assert sorted(seen) == list(range(len(records)))
    prompted = np.concatenate([batch.index for _, batch in data.prompts("valid", limit)])
    assert sorted(prompted[prompted >= 0]) == list(range(len(records)))


def test_the_filter_leaves_the_test_split_whole(make_config, corpus):
    data = Dataset.create(make_config(corpus, {"filter": {"source": (1, 2)}}), "pair")
    assert len(data.records("test")) == len(corpus["test"])
    assert data.counts()["train_filtered"] == 160
    assert data.counts()["test_filtered"] == 0
    assert data.longest() == {"source": 11, "target": 11, "row": 11}


def test_eval_examples_is_the_default_limit_and_no_seed_changes_the_choice(make_config, corpus):
    chosen = [
        Dataset.create(make_config(corpus, {"eval_examples": 5}, seed=seed), "pair").records("test")
        for seed in (0, 1)
    ]
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 5


def test_tokenizers_know_training_text_only(make_config):
    splits = {"train": [("ab", "A B")], "valid": [("az", "A Z")], "test": [("", "")]}
    data = Dataset.create(make_config(splits), "pair")
    assert (data.source_vocab, data.target_vocab) == (7, 7)
    assert data.counts()["valid_unknown"] == 2
    assert data.baselines() == {}


@pytest.mark.parametrize("layout", ["pair", "prefix"])
@pytest.mark.parametrize("shared", [False, True])
def test_reloaded_from_its_directory_it_reads_and_writes_the_same(
    make_config, corpus, tmp_path, layout, shared
):
    words = dict.fromkeys(("source", "target"), "data.text.words.Words")
    changes = {"shared_vocabulary": shared, "tokenizer": words}
    splits = {"train": [("a b c", "b c d")], "valid": [], "test": []}
    data = Dataset.create(make_config(splits, changes), layout)
    data.save(tmp_path / "tokenizer")
    again = Dataset.for_prediction(make_config({}, changes), tmp_path / "tokenizer", layout)
    assert (again.source_vocab, again.target_vocab) == (data.source_vocab, data.target_vocab)
    for (_, old), (_, new) in zip(data.prompts(["a c"]), again.prompts(["a c"]), strict=True):
        assert old.inputs.tolist() == new.inputs.tolist()
        assert old.source.tolist() == new.source.tolist()
    target = data.evaluation("train")[0][1]
    row = target.targets[0][target.weights[0] > 0]
    assert data.decode(row) == again.decode(row) == "b c d"


@pytest.mark.parametrize("layout", ["pair", "prefix"])
def test_sentencepiece_is_one_model_of_both_sides_or_two(make_config, tmp_path, layout):
    splits = {"train": [("aabb abab", "猫狗 猫猫")] * 3, "valid": [], "test": []}
    options = {
        "kind": "data.text.sentencepiece.SentencePiece",
        "algorithm": "bpe",
        "vocab_size": 10,
    }
    data = {"tokenizer": dict.fromkeys(("source", "target"), options)}
    both = Dataset.create(make_config(splits, data | {"shared_vocabulary": True}), layout)
    assert (both.source_vocab, both.target_vocab) == (10, 10)
    assert both.counts()["train_unknown"] == 0
    both.save(tmp_path / "both")
    assert [path.name for path in (tmp_path / "both").iterdir()] == ["source"]
    two = Dataset.create(make_config(splits, data), layout)
    assert two.source_vocab == (10 if layout == "pair" else 10 + 10 - 5)
    two.save(tmp_path / "two")
    models = [(tmp_path / "two" / side / "sentencepiece.model") for side in ("source", "target")]
    assert models[0].read_bytes() != models[1].read_bytes()
    options["vocab_size"] = 500
    with pytest.raises(ConfigError, match=r"data\.tokenizer\.source\.vocab_size: 500 .* possible"):
        Dataset.create(make_config(splits, data), layout)


def test_empty_and_overlong_texts_keep_their_line(make_config, corpus):
    data = Dataset.create(make_config(corpus), "pair")
    texts = ["abc", "", "a" * 12, "a" * 11]
    with pytest.warns(UserWarning, match=r"line 3 has 13 tokens, only the first 11 are read"):
        prompts = data.prompts(texts)
    index = np.concatenate([batch.index for _, batch in prompts])
    assert sorted(index[index >= 0]) == [0, 1, 2, 3]


def test_errors_name_the_key(make_config, corpus):
    with pytest.raises(ConfigError, match=r"data\.tokenizer\.source: .*Characters"):
        Dataset.create(
            make_config(corpus, {"tokenizer": {"source": "data.text.Characters"}}), "pair"
        )
    with pytest.raises(ConfigError, match=r"data\.filter\.sorce: .* `source`"):
        Dataset.create(make_config(corpus, {"filter": {"sorce": (1, 2)}}), "pair").records("valid")
    with pytest.raises(ConfigError, match="split 'vald'; did you mean `valid`"):
        Dataset.create(make_config(corpus), "pair").records("vald")
    shared = {"shared_vocabulary": True}
    with pytest.raises(ConfigError, match=r"data\.shared_vocabulary"):
        Dataset.create(make_config(corpus, shared), "pair")
    probe = {"kind": "tasks.probes.copying.Copy"}
    with pytest.raises(ConfigError, match=r"data\.filter: a generated task"):
        Dataset.create(make_config(probe, {"filter": {"source": (1, 2)}}), "pair").train_stream()
