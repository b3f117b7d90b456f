"""A small sample of the data: the corpus itself, or random words where it is not here."""

import json

import pytest

from seqlab.build import ConfigError
from seqlab.check.sample import sampled, small_vocabulary
from seqlab.data.text.base import SPECIALS
from seqlab.train.source import dataset_of
from toys import config, pair

PIECES = {"kind": "data.text.sentencepiece.SentencePiece", "vocab_size": 8000}


def corpus(source, **changes):
    """A config of pairs from a corpus."""
    task = {"kind": "tasks.transduction.Transduction", "references": ""}
    fields = {"source": "en", "target": "de"}
    return pair(task=task, data__source=source, data__fields=fields, **changes)


@pytest.fixture
def own(tmp_path):
    """The path of a file with 400 rows."""
    lines = [f"the {number} cats\tdie {number} Katzen" for number in range(400)]
    (tmp_path / "own.tsv").write_text("\n".join(["en\tde", *lines]) + "\n", "utf-8")
    return str(tmp_path / "own.tsv")


def test_a_generated_task_is_left_as_it_is(tmp_path):
    assert sampled(config(), tmp_path / "data") == (config(), "generated")
    assert not (tmp_path / "data").exists()


def test_a_file_gives_its_first_rows(own, tmp_path):
    found, said = sampled(corpus(own), tmp_path / "data")
    assert said == f"200 rows of {own}"
    rows = (tmp_path / "data" / "train.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == 200 and json.loads(rows[0]).keys() == {"en", "de"}
    assert dataset_of(found).records("train", 1)[0].source.startswith("the ")


def test_vocabularies_shrink_to_what_the_sample_can_fill(own, tmp_path):
    learnt = {"source": PIECES, "target": PIECES}
    found, _ = sampled(corpus(own, data__tokenizer=learnt), tmp_path / "data")
    assert found["data"]["tokenizer"]["source"]["vocab_size"] < 60
    assert 20 < dataset_of(found).source_vocab < 60


def test_every_character_of_any_normal_form_has_its_place():
    texts = ["\uff21\u00e9", "e\u0301"]  # fullwidth A, é and its two parts
    small = small_vocabulary(PIECES, texts)
    assert small["vocab_size"] == SPECIALS + len({"\uff21", "A", "\u00e9", "e", "\u0301", " "}) + 8
    assert small_vocabulary({**PIECES, "byte_fallback": True}, texts)["vocab_size"] > 256
    assert small_vocabulary("data.text.words.Words", texts) == "data.text.words.Words"


def test_what_is_not_here_gets_a_stand_in(tmp_path, monkeypatch):
    monkeypatch.setattr("seqlab.data.sources.is_here", lambda name, directory: False)
    found, said = sampled(corpus("wmt14_translate/de-en"), tmp_path / "data")
    assert said == "a stand-in (wmt14_translate/de-en is not on this machine)"
    assert len(dataset_of(found).records("train", 0)) == 200


def test_a_wrong_column_is_told(own, tmp_path):
    wrong = corpus(own)
    wrong["data"]["fields"]["target"] = "german"
    with pytest.raises(ConfigError, match=r"data\.fields\.target"):
        sampled(wrong, tmp_path / "data")
