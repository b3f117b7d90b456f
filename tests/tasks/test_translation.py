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
    assert Translation().score([""] * 3, records(REFERENCES)) == {"bleu": 0.0, "chrf": 0.0}


def test_unequal_counts_raise():
    with pytest.raises(ValueError, match="2 hypotheses for 3 records"):
        Translation().score(WRONG[:2], records(REFERENCES))


@pytest.mark.parametrize(("targets", "tokenize"), [(REFERENCES, "13a"), (CHINESE, "zh")])
def test_agrees_with_the_command_line(tmp_path, targets, tokenize):
    hypotheses = [targets[0], targets[1][:-4], targets[2][:9]]
    (tmp_path / "ref").write_text("\n".join(targets) + "\n", encoding="utf-8")
    (tmp_path / "hyp").write_text("\n".join(hypotheses) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", str(tmp_path / "ref"), "-i"]
    command += [str(tmp_path / "hyp"), "-m", "bleu", "chrf", "-tok", tokenize, "-w", "4"]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    scores = Translation().score(hypotheses, records(targets))
    signatures = Translation().conventions(records(targets))
    for (name, score), line in zip(scores.items(), printed, strict=True):
        assert score == pytest.approx(line["score"], abs=0.01)
        assert signatures[name] == line["signature"]
    assert 0 < scores["bleu"] < 100


def test_more_references_of_some_records_help():
    one = records(REFERENCES)
    two = [*one[:2], Record("", REFERENCES[2], (REFERENCES[2], WRONG[2]))]
    assert Translation().score(WRONG, two)["bleu"] == pytest.approx(100)


def test_an_unknown_tokenizer_is_refused():
    with pytest.raises(ConfigError, match=r"task\.tokenize: '13b'; did you mean `13a`"):
        Translation(tokenize="13b")
