"""A run scored anew: as in its tests, with other options, on a file of one's own."""

import json

import pytest

from seqlab import load_run
from seqlab.analysis.score import score
from seqlab.build import ConfigError
from seqlab.evaluate import main
from seqlab.train.predictions import load
from toys import pair, train

WORDS = "abcd"


def pairs(count, first=0):
    """Sentences of one to four words and their translations: the same in capitals."""
    for number in range(first, first + count):
        words = [WORDS[number // 4**place % 4] for place in range(1 + number % 4)]
        yield " ".join(words), " ".join(words).upper()


def table(path, rows, columns=("en", "de")):
    lines = ["\t".join(columns), *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for split, count in (("train", 40), ("validation", 8), ("test", 12)):
        table(folder / f"{split}.tsv", pairs(count))
    return folder


@pytest.fixture(scope="module")
def run(folder):
    """A translation run with two variants: one that changes nothing, one that does."""
    options = pair(
        task={"kind": "tasks.translation.Translation", "length_bins": 2, "least": 4},
        data__source=f"{folder}/",
        data__fields={"source": "en", "target": "de"},
        model__depth=1,
        train__steps=3,
        evaluate__at=(1,),
        evaluate__variants=(
            ("same", "decode.method", "greedy"),
            ("uniform", "model.mixers.x.weights", "nn.weights.Uniform"),
        ),
    )
    return load_run(train(options, folder.parent / "run").path)


def last(run, split):
    return {
        name.removeprefix(f"{split}/"): list(steps.values())[-1]
        for name, steps in run.metrics.items()
        if name.startswith(f"{split}/")
    }


def test_a_run_tests_by_length_and_its_variants(run):
    tested = last(run, "test")
    # Lengths 1 to 4, three of each; [0, 2) has too few, [2, 4) and [4, 6) do not: 6 and 3.
    assert {name for name in tested if name.startswith("loss@")} == {"loss@3"}
    assert tested["sentences@3"] == 6
    assert tested["outside_bins"] == 6
    assert set(run.metrics["test/loss@3"]) == {1, 3}
    assert set(run.metrics["test_same/loss"]) == {3}
    assert last(run, "test_same") == tested
    assert set(last(run, "test_uniform")) == set(tested)
    assert last(run, "test_uniform")["loss"] != tested["loss"]
    assert "nn.weights.Uniform" in run.conventions["test_uniform"]
    assert "BLEU" in run.conventions["score"]


def test_a_run_keeps_what_it_generated(run, folder):
    rows = load(run.path / "predictions" / "test.jsonl")
    assert [row["index"] for row in rows] == list(range(12))
    assert [(row["source"], row["references"]) for row in rows] == [
        (source, [target]) for source, target in pairs(12)
    ]
    assert sum(row["truncated"] for row in rows) == last(run, "test")["truncated"]
    task = run._dataset.task
    records = run._dataset.records("test")
    again = task.score([row["hypothesis"] for row in rows], records)
    assert again["chrf"] == last(run, "test")["chrf"]


def test_scoring_anew_gives_the_scores_of_the_run(run):
    found = score(load_run(run.path, step=3))
    assert found.step == 3
    assert found.metrics == pytest.approx(last(run, "test"))
    assert found.counts["examples"] == 12
    assert found.counts["truncated_source"] == 0
    assert found.conventions == {
        name: text for name, text in run.conventions.items() if not name.startswith("test_")
    }
    assert [each.hypothesis for each in found.predictions] == [
        row["hypothesis"] for row in load(run.path / "predictions" / "test.jsonl")
    ]


def test_a_file_is_scored_whole(run, tmp_path):
    table(tmp_path / "mine.tsv", [*pairs(12), ("a b c d a b c d", "A B C D A B C D"), ("x", "X")])
    printed = json.loads(
        main([str(run.path), f"--source={tmp_path / 'mine.tsv'}", "--json", "--step=3"])
    )
    assert printed["metrics"]["examples"] == 14
    assert printed["counts"]["examples"] == 14
    assert printed["counts"]["truncated_source"] == 1
    assert printed["counts"]["unknown"] == 2
    assert printed["step"] == 3
    assert printed["conventions"]["bleu"] == run.conventions["bleu"]
    short = main([str(run.path), f"--source={tmp_path / 'mine.tsv'}", "--limit=5"])
    assert [line.split() for line in short.splitlines()].count(["examples", "5"]) == 1


def test_other_columns_and_references(run, tmp_path):
    table(tmp_path / "mine.tsv", pairs(6), ("left", "right"))
    source = f"--source={tmp_path / 'mine.tsv'}"
    with pytest.raises(ConfigError, match=r"data\.fields\.source: .* no columns? 'en'"):
        main([str(run.path), source])
    found = json.loads(main([str(run.path), source, "--columns=left,right", "--json"]))
    assert found["metrics"]["examples"] == 6
    lines = [{"l": s, "r": t, "all": [t, "A"]} for s, t in pairs(6)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "mine.tsv").unlink()
    columns = {"source": "l", "target": "r", "references": "all"}
    several = score(run, source=str(tmp_path / "mine.jsonl"), columns=columns)
    assert several.predictions[1].references == ("B A", "A")
    with pytest.raises(ConfigError, match="--columns"):
        main([str(run.path), source, "--columns=left"])


def test_what_cannot_be_scored_is_said(run, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*none\.tsv"):
        score(run, source=str(tmp_path / "none.tsv"))
    table(tmp_path / "mine.tsv", pairs(2))
    with pytest.raises(ConfigError, match=r"scored whole, as the test split, not 'valid'"):
        score(run, "valid", source=str(tmp_path / "mine.tsv"))
    with pytest.raises(ConfigError, match=r"decode\.beams.*did you mean"):
        score(run, beams=3)
    with pytest.raises(ConfigError, match="split 'tests'; did you mean `test`"):
        score(run, "tests")


def test_without_decoding_there_is_the_loss(run):
    found = score(run, "valid", method="none", limit=4)
    assert found.predictions == []
    assert "loss" in found.metrics
    assert "bleu" not in found.metrics
