"""Corpora from Debian packages: what becomes a pair, what is left out, and where it stands."""

import pytest

from seqlab.build import ConfigError
from seqlab.data import debian, sources
from seqlab.data.builders import ding, libreoffice_help
from seqlab.data.builders.distinct import distinct
from seqlab.data.builders.split import SPLITS, split_of

DICTIONARY = """\
# Version :: a comment of three words
etw. in Abrede stellen {vt} | Sie hat es (gestern) geleugnet. :: to deny sth. | She denied it.
Katze {f}; Mieze {f} :: cat; puss
der große Hund {m}; der Köter :: the big dog /BD/; the cur and more
ein großer Hund :: the big dog
etw. [jur.] auf/unter dem Tisch lassen :: to leave sth. on/under the table
kein Trenner in dieser Zeile
""" + "".join(
    f"Zeile mit Nummer {n} | Zeilen mit {n} :: line number {n} | lines of {n}\n" for n in range(60)
)


@pytest.fixture
def package(make_deb, monkeypatch, tmp_path):
    """package({name: files}): every fetched package is one of these; the data directory."""

    def make(packages):
        def fetch(wanted, directory):
            return make_deb(tmp_path / f"{wanted.name}_1_all.deb", packages[wanted.name])

        monkeypatch.setattr(debian, "fetch", fetch)
        return str(tmp_path / "tfds")

    return make


def read(name, directory, target):
    """{split: {source: target}}"""
    columns = {"source": "en", "target": target}
    return {
        split: {
            row["source"]: row["target"] for row in sources.records(name, split, directory, columns)
        }
        for split in SPLITS
    }


def test_distinct_lets_no_text_of_either_side_come_twice():
    pairs = [("1", "a", "x"), ("2", "a", "y"), ("3", "b", "x"), ("4", "b", "z"), ("5", "x", "a")]
    assert list(distinct(pairs)) == [("1", "a", "x"), ("5", "x", "a")]


def test_ding(package):
    directory = package({"trans-de-en": {"usr/share/trans/de-en": DICTIONARY}})
    splits = read("ding", directory, "de")
    pairs = {en: de for split in splits.values() for en, de in split.items()}
    assert {en: de for en, de in pairs.items() if not en.startswith("line")} == {
        "to deny sth.": "etw. in Abrede stellen",
        "She denied it.": "Sie hat es geleugnet.",
        "the big dog": "der große Hund",
        "to leave sth. on/under the table": "etw. auf/unter dem Tisch lassen",
    }
    for n in range(60):
        holding = {
            split
            for split, found in splits.items()
            if found.keys() & {f"line number {n}", f"lines of {n}"}
        }
        assert holding == {split_of(f"Zeile mit Nummer {n} | Zeilen mit {n}")}
    assert all(splits.values())


def test_ding_sentences_only(package):
    lines = [
        "Der Hund bellt. | der Hund bellt :: The dog barks. | the dog is barking",
        "„Wirklich alle?“, fragte er. :: “Really all?” he asked.",
        "Ich behaupte, dass … :: I say that …",
    ]
    texts = [f"Das ist Satz {n}. :: This is sentence {n}." for n in range(60)]
    dictionary = "\n".join(lines + texts)
    directory = package({"trans-de-en": {"usr/share/trans/de-en": dictionary}})
    splits = read("ding/sentences", directory, "de")
    sentences = {en for split in splits.values() for en in split}
    assert len(sentences) == 62
    assert {"The dog barks.", "“Really all?” he asked."} < sentences


def page(*paragraphs):
    """An HTML page of (id, text)."""
    body = "\n".join(
        f'<p id="par_id{name}" class="paragraph" dir="auto">{text}</p>' for name, text in paragraphs
    )
    return f'<html><body><p id="other">Menu</p><h1 id="hd_id1">Title</h1>{body}</body></html>'


SYSTEMS = (
    '<span class="switchinline"><span hidden="true" id="MACx" class="MAC"><b>Command<img src="x">'
    '</b></span><span hidden="true" id="defaultx"><em>Ctrl</em></span></span>+A'
)
WIDTH = 'The&nbsp;<a href="x">width</a>\n of  A &amp; B.'
ENGLISH = {
    "a": page(("1", WIDTH), ("2", f"Press {SYSTEMS}"), ("3", "=SUM(A1)"), ("4", "Same text")),
    "b": page(("1", "The width of A & B."), ("2", "Another"), ("7", "twice"), ("7", "again")),
} | {f"n{n}": page(("x", f"Page {n}"), ("y", f"Side {n}")) for n in range(60)}
CHINESE = {
    "a": page(
        ("1", "A 和 B 的<b>宽度</b>。"),
        ("2", f"按 {SYSTEMS}"),
        ("3", "=SUM（A1）"),
        ("4", "Same text"),
    ),
    "b": page(("1", "宽度。"), ("2", "A 和 B 的宽度。"), ("7", "两"), ("7", "次"), ("8", "此处")),
} | {f"n{n}": page(("x", f"页 {n}"), ("y", f"面 {n}")) for n in range(60)}


def test_libreoffice_help(package):
    packages = {
        f"libreoffice-help-{folder.lower()}": {
            f"usr/share/libreoffice/help/{folder}/text/{name}.html": text
            for name, text in pages.items()
        }
        for folder, pages in (("en-US", ENGLISH), ("zh-CN", CHINESE))
    }
    splits = read("libreoffice_help/en-zh", package(packages), "zh")
    pairs = {en: zh for split in splits.values() for en, zh in split.items()}
    assert {en: zh for en, zh in pairs.items() if not en.startswith(("Page", "Side"))} == {
        "The width of A & B.": "A 和 B 的宽度。",
        "Press Ctrl+A": "按 Ctrl+A",
    }
    assert len(pairs) == 2 + 120
    for n in range(60):
        holding = {split for split, found in splits.items() if f"Page {n}" in found}
        assert holding == {split for split, found in splits.items() if f"Side {n}" in found}
        assert holding == {split_of(f"text/n{n}.html")}
    assert all(splits.values())


def test_a_config_that_does_not_exist_is_suggested():
    for name, other in (("ding/sentence", "ding/sentences"), ("hsk/x", "hsk")):
        with pytest.raises(ConfigError, match=rf"data\.source: .*'{name}'.*{other}"):
            sources.records(name, "train", "", {})


@pytest.mark.slow
def test_the_real_corpora_have_the_measured_sizes(tmp_path):
    """Loosely for the help, which moves; needs apt-get and its package lists."""
    found = {
        name: list(map(len, read(name, "", target).values()))
        for name, target in (
            ("ding", "de"),
            ("ding/sentences", "de"),
            ("libreoffice_help/en-zh", "zh"),
            ("libreoffice_help/en-de", "de"),
            ("libreoffice_help/en-fr", "fr"),
        )
    }
    assert found["ding"] == [63_416, 3_582, 3_600]
    assert found["ding/sentences"] == [18_400, 985, 985]
    for language, count in (("zh", 18_467), ("de", 27_314), ("fr", 26_056)):
        sizes = found[f"libreoffice_help/en-{language}"]
        assert 0.8 < sum(sizes) / count < 1.5
        assert min(sizes) > 0.03 * sum(sizes)
    assert ding.PACKAGE.sha256
    assert libreoffice_help.package("zh-CN").name == "libreoffice-help-zh-cn"
