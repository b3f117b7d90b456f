"""BLEU and chrF: the same as the sacrebleu command line, and no transposed references."""

import json
import subprocess
import sys

import pytest

from seqlab.build import ConfigError
from seqlab.data.records import Record
from seqlab.tasks.translation import Translation

REFERENCES = [
    "The cat climbed up the tree.",
    "I would like a cup of tea, please.",
    "It has been raining since yesterday morning.",
]
WRONG = [*REFERENCES[:2], "Nothing of the kind was ever said here."]
CHINESE = ["猫爬到了树上。", "我想要一杯茶，谢谢。", "从昨天早上开始就一直在下雨。"]


def records(targets):
    return [Record("", target, (target,)) for target in targets]


def test_right_is_100_and_one_wrong_sentence_lowers_it():
    assert Translation().score(REFERENCES, records(REFERENCES))["bleu"] == pytest.approx(100)
    assert Translation().score(WRONG, records(REFERENCES))["bleu"] < 80


def test_empty_predictions_score_0():
    assert Translation(length_bins=0).score([""] * 3, records(REFERENCES)) == {
        "bleu": 0.0,
        "chrf": 0.0,
        "repeated": 0.0,
        "dropped": 100.0,
        "length_ratio": 0.0,
    }


def test_unequal_counts_raise():
    for score in (Translation().score, Translation().example_scores):
        with pytest.raises(ValueError, match="2 hypotheses for 3 records"):
            score(WRONG[:2], records(REFERENCES))


def command_line(tmp_path, targets, hypotheses, tokenize):
    """{metric: {"score", "signature"}} that sacrebleu prints for two files."""
    (tmp_path / "ref").write_text("\n".join(targets) + "\n", encoding="utf-8")
    (tmp_path / "hyp").write_text("\n".join(hypotheses) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", str(tmp_path / "ref"), "-i"]
    command += [str(tmp_path / "hyp"), "-m", "bleu", "chrf", "-tok", tokenize, "-w", "4"]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return dict(zip(("bleu", "chrf"), printed, strict=True))


@pytest.mark.parametrize(("targets", "tokenize"), [(REFERENCES, "13a"), (CHINESE, "zh")])
def test_agrees_with_the_command_line(tmp_path, targets, tokenize):
    hypotheses = [targets[0], targets[1][:-4], targets[2][:9]]
    printed = command_line(tmp_path, targets, hypotheses, tokenize)
    scores = Translation().score(hypotheses, records(targets))
    signatures = Translation().conventions(records(targets))
    for name, line in printed.items():
        assert scores[name] == pytest.approx(line["score"], abs=0.01)
        assert signatures[name] == line["signature"]
    assert 0 < scores["bleu"] < 100


SOURCES = ["a b c", "a b c d e f g", "猫爬到了树上。"]  # 3 words, 7 words, 7 characters


def test_each_length_has_the_score_of_its_own_sentences(tmp_path):
    """ "bleu@7.5" is what the command line says of the sentences of 5 to 9 words."""
    task = Translation(length_bins=5, least=2)
    pairs = [Record(s, t, (t,)) for s, t in zip(SOURCES, REFERENCES, strict=True)]
    hypotheses = [WRONG[2], REFERENCES[1][:-9], "It has been raining raining again."]
    assert task.bins(pairs) == [None, 7.5, 7.5]
    scores = task.score(hypotheses, pairs)
    printed = command_line(tmp_path, REFERENCES[1:], hypotheses[1:], "13a")
    assert scores["bleu@7.5"] == pytest.approx(printed["bleu"]["score"], abs=0.01)
    assert scores["chrf@7.5"] == pytest.approx(printed["chrf"]["score"], abs=0.01)
    assert scores["sentences@7.5"] == 2
    assert scores["outside_bins"] == 1
    assert not any(name.endswith("@2.5") for name in scores)
    # 10 + 8 tokens with punctuation apart; written are 7 + 7, of which "raining" twice.
    assert scores["length_ratio@7.5"] == pytest.approx(14 / 18)
    assert scores["repeated@7.5"] == pytest.approx(100 * 2 / 18)
    # ", please." and "since yesterday morning".
    assert scores["dropped@7.5"] == pytest.approx(100 * 6 / 18)
    assert "5" in task.conventions(pairs)["bins"]


def test_bins_are_on_by_default_and_can_be_switched_off():
    many = [Record("a " * 12, REFERENCES[0], (REFERENCES[0],))] * 20
    assert Translation().score([REFERENCES[0]] * 20, many)["bleu@15"] == pytest.approx(100)
    off = Translation(length_bins=0)
    assert off.bins(many) == [None] * 20
    assert not any("@" in name for name in off.score([REFERENCES[0]] * 20, many))
    assert "bins" not in off.conventions(many)
    with pytest.raises(ConfigError, match=r"task\.length_bins: -1"):
        Translation(length_bins=-1)


def test_every_metric_is_explained():
    names = Translation(length_bins=0).score(REFERENCES, records(REFERENCES))
    assert {*names, "score"} <= set(Translation().conventions(records(REFERENCES)))


def test_sentences_have_scores_of_their_own():
    found = Translation().example_scores([*WRONG[1:], ""], records([*REFERENCES[1:], "x"]))
    assert found[0] == pytest.approx(100)
    assert found[1] < 20
    assert found[2] == 0


def test_more_references_of_some_records_help():
    one = records(REFERENCES)
    two = [*one[:2], Record("", REFERENCES[2], (REFERENCES[2], WRONG[2]))]
    scores = Translation().score(WRONG, two)
    assert scores["bleu"] == pytest.approx(100)
    assert scores["dropped"] == 0


def test_an_unknown_tokenizer_is_refused():
    with pytest.raises(ConfigError, match=r"task\.tokenize: '13b'; did you mean `13a`"):
        Translation(tokenize="13b")
