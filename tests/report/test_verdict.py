"""The verdict says yes, no and undecided, and why."""

import math

import pandas as pd
import pytest

from seqlab.build import ConfigError
from seqlab.report.values import Names
from seqlab.report.verdict import judge

NAMES = Names([("a.Pre", "Pre"), ("a.Post", "Post")])
RULE = {
    "claim": "Pre is better",
    "metric": "valid/loss",
    "better": {"placement": "a.Pre"},
    "than": {"placement": "a.Post"},
}


def runs(pre, post, failed=()):
    """A table of runs; nan stands for a diverged one."""
    losses = [*pre, *post]
    lost = ["step 3, top" if math.isnan(loss) else "" for loss in losses]
    return pd.DataFrame(
        {
            "id": [str(number) for number in range(len(losses))],
            "placement": ["a.Pre"] * len(pre) + ["a.Post"] * len(post),
            "valid/loss": losses,
            "diverged": lost,
            "failed": [bool(text) or place in failed for place, text in enumerate(lost)],
        }
    )


def answer(frame, **changes):
    return judge(frame, RULE | changes, NAMES).answer


YES = runs([0.81, 0.83, 0.82], [1.20, 1.22, 1.25])
NO = runs([1.20, 1.22, 1.25], [0.81, 0.83, 0.82])
UNDECIDED = runs([0.8, 1.2, 1.0], [0.9, 1.3, 1.1])


def test_three_tables_three_answers():
    assert answer(YES) == "yes"
    assert answer(NO) == "no"
    assert answer(UNDECIDED) == "undecided"


def test_the_reason_gives_the_numbers():
    reason = judge(YES, RULE, NAMES).reason
    assert "valid/loss 0.82 ± 0.01 (n = 3) for Pre, 1.22 ± 0.025 (n = 3) for Post" in reason
    assert "advantage [0.3" in reason


def test_direction_turns_the_answer():
    assert answer(YES, direction="max") == "no"
    assert answer(NO, direction="max") == "yes"


def test_margin():
    assert answer(YES, margin=0.2) == "yes"
    assert answer(YES, margin=0.405) == "undecided"
    assert answer(YES, margin=0.6) == "no"
    close = runs([1.01, 1.02, 1.015], [1.0, 1.01, 1.005])
    assert answer(close, margin=-0.1) == "yes"  # not worse by more than 0.1


def test_one_run_decides_nothing():
    assert answer(runs([0.8], [1.2, 1.3])) == "undecided"
    assert answer(runs([], [1.2, 1.3])) == "undecided"


def test_diverged_runs_are_as_bad_as_the_worst():
    nan = math.nan
    assert answer(runs([0.8, 0.81], [nan, nan])) == "yes"
    assert answer(runs([nan, nan], [0.8, 0.81])) == "no"
    assert answer(runs([nan, nan], [nan, nan])) == "undecided"
    assert answer(runs([0.8, nan], [nan, nan])) == "undecided"
    assert answer(runs([0.8, 0.81, 0.8], [3.0, 3.1, nan])) == "yes"
    assert answer(runs([0.8, 0.81, nan], [0.8, 0.81, 0.82])) == "undecided"
    assert "all 2 diverged" in judge(runs([0.8, 0.81], [nan, nan]), RULE, NAMES).reason


def test_fractions_of_failed_runs():
    assert answer(runs([1.0] * 4, [2.0] * 4, failed=(4, 5, 6, 7)), metric="failed") == "yes"
    assert answer(runs([1.0] * 4, [2.0] * 4, failed=(0, 1, 2, 3)), metric="failed") == "no"
    assert answer(runs([1.0] * 4, [2.0] * 4, failed=(4,)), metric="failed") == "undecided"
    assert answer(runs([1.0], [2.0], failed=(1,)), metric="failed") == "undecided"


def limit(frame, **entries):
    rule = {"claim": "c", "metric": "valid/loss", "of": {"placement": "a.Pre"}} | entries
    return judge(frame, rule, NAMES).answer


def test_limits():
    assert limit(YES, below=1.0) == "yes"
    assert limit(YES, above=1.0) == "no"
    assert limit(YES, below=0.815) == "undecided"
    assert limit(YES, statistic="min", below=0.815) == "yes"
    assert limit(YES, statistic="max", below=0.815) == "no"
    assert limit(runs([0.8], []), below=1.0) == "undecided"
    assert limit(runs([0.8, math.nan], []), statistic="max", below=1.0) == "undecided"
    assert limit(runs([], [1.0]), below=1.0) == "undecided"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"margn": 1}, "did you mean `margin`"),
        ({"direction": "down"}, "'down'"),
        ({"metric": "valid/los"}, "did you mean `valid/loss`"),
        ({"than": {"placment": "a.Post"}}, "did you mean `placement`"),
    ],
)
def test_wrong_rules_are_named(changes, says):
    with pytest.raises(ConfigError, match=says):
        answer(YES, **changes)
    with pytest.raises(ConfigError, match="one of `below` and `above`"):
        limit(YES)
