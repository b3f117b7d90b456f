"""Paired bootstrap: sacreBLEU's numbers, and the way from predictions to the README."""

import os

import compared
import numpy as np
import pandas as pd
import pytest
from compared import BAHDANAU, FIXED, REFERENCES, SIGNATURE, TRANSFORMER, wrong
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from seqlab.build import ConfigError
from seqlab.report import bootstrap
from seqlab.report.paired import metric_of, paired_bootstrap
from seqlab.report.write import check, report
from seqlab.train.directory import RunDirectory
from seqlab.train.predictions import load

COMMAND = "python launch.py --config=configs/q.py"
GOOD = [wrong(text, 1, number) for number, text in enumerate(REFERENCES)]
BAD = [wrong(text, 3, number) for number, text in enumerate(REFERENCES)]


@pytest.fixture
def workdir(compared_runs):
    return compared_runs


def test_p_and_scores_are_those_of_sacrebleu(monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "7")  # of the user; not used
    found = paired_bootstrap(BLEU(), GOOD, BAD, [REFERENCES])
    assert os.environ["SACREBLEU_SEED"] == "7"
    monkeypatch.delenv("SACREBLEU_SEED")
    test = PairedTest([("b", BAD), ("g", GOOD)], {"BLEU": BLEU()}, [REFERENCES], "bs", 1000)
    base, other = test()[1]["BLEU"]
    assert (found.than, found.better, found.p) == (base.score, other.score, other.p_value)
    assert found == paired_bootstrap(BLEU(), GOOD, BAD, [REFERENCES])


def test_the_interval_is_of_the_paired_difference():
    found = paired_bootstrap(BLEU(), GOOD, BAD, [REFERENCES])
    rng = np.random.default_rng(0)  # other draws, scored one by one
    differences = []
    for _ in range(200):
        rows = rng.integers(len(REFERENCES), size=len(REFERENCES))
        references = [[REFERENCES[row] for row in rows]]
        scores = [
            BLEU().corpus_score([side[row] for row in rows], references).score
            for side in (GOOD, BAD)
        ]
        differences.append(scores[0] - scores[1])
    low, high = np.percentile(differences, [2.5, 97.5])
    assert (found.low, found.high) == pytest.approx((low, high), abs=1.5)
    assert 0 < found.low < found.better - found.than < found.high
    assert found.p < 0.01


def test_a_system_does_not_differ_from_itself():
    found = paired_bootstrap(CHRF(), GOOD, GOOD, [REFERENCES])
    assert (found.low, found.high) == (0.0, 0.0)
    assert found.p == 1 / 1001 or found.p > 0.5


def test_metrics_are_built_from_signatures():
    for metric in (BLEU(tokenize="zh"), BLEU(lowercase=True), CHRF(word_order=2, whitespace=True)):
        metric.corpus_score(["a"], [["a"]])
        name = "bleu" if isinstance(metric, BLEU) else "chrf"
        again = metric_of(name, str(metric.get_signature()))
        assert str(again.get_signature()) == str(metric.get_signature())
    with pytest.raises(ConfigError, match="cannot be computed again"):
        metric_of("bleu", SIGNATURE.replace("exp", "floor[0.10]"))
    with pytest.raises(ConfigError, match="cannot be computed again"):
        metric_of("bleu", "BLEU as we like it")


def rules(**entries):
    """The plan with one comparison, without figures."""
    rule = {"metric": "bleu", "better": {"system": BAHDANAU}, "than": {"system": FIXED}}
    settings = compared.config()
    settings.report.update({"bootstrap": (rule | entries,), "figures": ()})
    return compared.plan(settings)


def test_the_readme_compares_run_by_run(workdir):
    report(COMMAND, rules(), workdir)
    text = (workdir / "README.md").read_text("utf-8")
    part = text[text.index("## Paired bootstrap") : text.index("## Conditions")]
    rows = [line for line in part.splitlines() if line.startswith(f"| {BAHDANAU} | {FIXED} | bleu")]
    assert [row.split(" | ")[3] for row in rows] == ["0", "1"]
    assert all(row.endswith("| yes |") for row in rows)
    assert "1,000 resamples of the test sentences, seed 12345" in part
    assert f"- bleu: {SIGNATURE}.\n" in part
    table = pd.read_csv(workdir / "bootstrap.csv")
    run = RunDirectory(workdir / "runs" / table.loc[0, "better"])
    texts = [row["hypothesis"] for row in load(run.predictions)]
    score = BLEU().corpus_score(texts, [REFERENCES]).score
    assert table.loc[0, "better_score"] == pytest.approx(score)


def test_rows_of_runs_elsewhere_are_kept(workdir):
    points = rules()
    report(COMMAND, points, workdir)
    before = (workdir / "bootstrap.csv").read_bytes()
    (workdir / "runs" / points[0].id).rename(workdir / "elsewhere")
    report(COMMAND, points, workdir, rebuild=True)
    assert (workdir / "bootstrap.csv").read_bytes() == before


def test_what_cannot_be_compared_is_said(workdir):
    def said(points):
        report(COMMAND, points, workdir)
        text = (workdir / "README.md").read_text("utf-8")
        return [line for line in text.splitlines() if line.startswith("- Not compared")]

    points = rules(than={"system": TRANSFORMER})
    (line,) = said(points)
    assert line.endswith(f"seed 1: no predictions of {points[5].id} here.")
    assert "not scored by the same chrf" in said(rules(metric="chrf"))[0]
    other = RunDirectory(workdir / "runs" / points[0].id)
    kept = other.predictions.read_text("utf-8")
    other.predictions.write_text(kept.replace("the cat", "a cat"), "utf-8")
    assert "tested on different sentences" in said(rules())[0]
    other.predictions.write_text("\n".join(kept.split("\n")[:-2]) + "\n", "utf-8")
    assert "tested on different sentences" in said(rules())[0]
    seeds = {"better": {"system": BAHDANAU, "seed": 0}, "than": {"system": FIXED, "seed": 1}}
    assert said(rules(**seeds))[0].endswith("have no seed in common.")


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"metric": "test/bleu"}, "did you mean `bleu`"),
        ({"metric": "per"}, "choose from: bleu, chrf"),
        ({"beter": {}}, "did you mean `better`"),
        ({"than": {"system": "GRU"}}, "there is no system 'GRU'"),
        ({"than": {"model.mixer": "a"}}, r"did you mean `model\.mixers`"),
        ({"than": {"model.bridge": "models.bridge.NoBridge"}}, "several runs of seed 0"),
    ],
)
def test_wrong_comparisons_are_found_before_training(entries, says):
    with pytest.raises(ConfigError, match=says):
        check(rules(**entries))
    bootstrap.check((), pd.DataFrame(), ())
