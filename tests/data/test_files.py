"""A user's own files: what a row is, which split it falls into, and errors with file and line."""

import json
import os
from collections import Counter

import pytest

from seqlab.build import ConfigError
from seqlab.data import files, sources
from seqlab.data.builders.split import SPLITS, split_of

COLUMNS = {"source": "en", "target": "de"}
ROWS = [(f"line {n}", f"Zeile {n}") for n in range(100)]


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, rows=ROWS, header="en\tde", end="\n"):
    lines = [header, *("\t".join(row) for row in rows)]
    path.write_bytes("".join(line + end for line in lines).encode())
    return str(path)


def rows_of(name, split="train", columns=COLUMNS):
    return sources.records(name, split, "", columns)


def test_a_single_file_is_split_by_a_hash_of_the_source(folder):
    doubled = [(f"line {n}", f"Zeile {n}.{m}") for n in range(100) for m in range(2)]
    name = write(folder / "corpus.tsv", doubled)
    splits = {split: rows_of(name, split) for split in SPLITS}
    assert {k: len(v) for k, v in splits.items()} == Counter(split_of(s) for s, _ in doubled)
    for split, rows in splits.items():
        assert {split_of(row["source"]) for row in rows} == {split}
    assert splits["train"][0] == {"source": "line 0", "target": "Zeile 0.0"}
    assert sources.records(name, "train", "", {"source": "de"})[0]["source"].startswith("Zeile")


def test_line_ends_marks_and_other_columns_are_no_text(folder):
    rows = [("a\u2028b\x0bc\x85d", ' "quoted" ', "1"), ("e\rf", "", "2")]
    for end in ("\n", "\r\n"):
        (folder / "corpus").mkdir(exist_ok=True)
        write(folder / "corpus" / "dev.tsv", rows, "\ufeffen\tde\tnumber", end)
        assert rows_of("./corpus", "dev") == [
            {"source": "a\u2028b\x0bc\x85d", "target": ' "quoted" '},
            {"source": "e\rf", "target": ""},
        ]
    (folder / "corpus" / "train.tsv").write_text("en\tde\na\tb")  # without a last line feed
    assert rows_of("./corpus", "train") == [{"source": "a", "target": "b"}]


def test_empty_lines_are_counted(folder):
    (folder / "corpus").mkdir()
    (folder / "corpus" / "train.tsv").write_text("\nen\tde\n\na\tb\r\n\n\t\n\n")
    with pytest.warns(UserWarning, match=r"train\.tsv: 4 empty lines .* the first is line 1"):
        assert rows_of("corpus/") == [
            {"source": "a", "target": "b"},
            {"source": "", "target": ""},
        ]


def test_json_lines(folder):
    entries = [{"en": en, "de": de, "all": [de, de.upper()], "n": 1} for en, de in ROWS]
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / "corpus.jsonl").write_text(text)
    rows = rows_of("corpus.jsonl", columns=COLUMNS | {"references": "all"})
    assert rows[0] == {
        "source": "line 0",
        "target": "Zeile 0",
        "references": ("Zeile 0", "ZEILE 0"),
    }


def test_paths_may_be_relative_or_start_at_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    (folder / "deep").mkdir()
    name = write(folder / "deep" / "corpus.tsv")
    for way in ("deep/corpus.tsv", "./deep/corpus.tsv", "~/deep/corpus.tsv", name):
        assert len(rows_of(way)) == len(rows_of(name))
    os.chdir(folder / "deep")
    assert len(rows_of("../deep/corpus.tsv")) == len(rows_of(name))


@pytest.mark.parametrize("name", ["cmudict", "wmt14_translate/de-en", "wiki40b/en:1.3.0", ""])
def test_names_of_data_sets_are_no_paths(name):
    assert not files.is_path(name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"en\tde\na\tb\nc\n", r"corpus\.tsv, line 3: 1 columns, line 1 names 2 \(en, de\): 'c'"),
        (b"en\tde\r\na\tb\tc\r\n", r"corpus\.tsv, line 2: 3 columns"),
        (b"en\tde\na\tb\n\xff\tb\n", r"corpus\.tsv, line 3: not UTF-8 .*0xff"),
        (b"en\tgerman\na\tb\n", r"data\.fields\.target: corpus\.tsv has no column 'de'"),
        (b"EN\tde\na\tb\n", r"data\.fields\.source: .*'en'"),
        (b"en\tde\ten\na\tb\tc\n", r"data\.fields\.source: corpus\.tsv has 2 columns 'en'"),
        (
            b"a cat\tKatze\n",
            r"line 1, which .*'a cat\\tKatze'\. .*put a line 'en\\tde' above",
        ),
        (b"en\tde\n", r"data\.source: corpus\.tsv has no rows"),
        (b"en\tde\na\tb\n", r"data\.source: none of the 1 rows .* 'validation', .* 5 %"),
        (b"", r"data\.fields\.source: corpus\.tsv has no column 'en'"),
    ],
)
def test_errors_of_a_tsv_name_file_and_line(folder, content, message):
    (folder / "corpus.tsv").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        rows_of("corpus.tsv", "validation")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"en": "a", "de"', r"corpus\.jsonl, line 2: not JSON .*'{\"en\""),
        ('["a", "b"]', r"corpus\.jsonl, line 2: not an object"),
        ('{"en": "a", "dde": "b"}', r"line 2: no column 'de' \(data\.fields\.target\); .*`dde`"),
        ('{"en": "a", "de": 3}', r"line 2: column 'de' holds 3, which is no text"),
        ('{"en": "a", "de": ["b"]}', r"line 2: column 'de' holds \['b'\], which is no text"),
        ('{"en": "a", "de": "\\ud800"}', r"line 2: column 'de' holds half of a surrogate pair"),
    ],
)
def test_errors_of_json_lines_name_file_and_line(folder, line, message):
    (folder / "corpus.jsonl").write_text('{"en": "a", "de": "b"}\n' + line + "\n")
    with pytest.raises(ConfigError, match=message):
        rows_of("corpus.jsonl")


def test_errors_of_paths_name_the_key(folder):
    write(folder / "corpus.tsv")
    with pytest.raises(ConfigError, match=r"data\.source: .* 'corpse\.tsv' in .*`corpus\.tsv`"):
        rows_of("corpse.tsv")
    with pytest.raises(ConfigError, match=r"data\.splits: .*'valid'; did you mean `validation`"):
        rows_of("corpus.tsv", "valid")
    (folder / "corpus.csv").write_text("en,de\n")
    with pytest.raises(ConfigError, match=r"data\.source: corpus\.csv is neither \.tsv nor"):
        rows_of("corpus.csv")
    (folder / "parts").mkdir()
    with pytest.raises(ConfigError, match=r"data\.source: parts holds no \.tsv or \.jsonl file"):
        rows_of("./parts")
    with pytest.raises(ConfigError, match=r"data\.source: .*'parts' \(.* write './parts'\)"):
        rows_of("parts")
    write(folder / "parts" / "training.tsv")
    with pytest.raises(ConfigError, match=r"data\.splits: parts holds no train\..*`training`"):
        rows_of("./parts")
    for kind in files.KINDS:
        write(folder / "parts" / f"train{kind}")
    with pytest.raises(ConfigError, match=r"holds both train\.tsv and train\.jsonl"):
        rows_of("./parts")
