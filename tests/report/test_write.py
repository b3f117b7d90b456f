"""From runs to results.csv, figures and README."""

import experiment
import pandas as pd
import pytest
from experiment import PRE

from seqlab.build import ConfigError
from seqlab.report import collect
from seqlab.report.statistics import Summary
from seqlab.report.tables import plus_minus
from seqlab.report.values import Names, values, where
from seqlab.report.write import report
from seqlab.train.directory import RunDirectory

COMMAND = "python launch.py --config=configs/q.py"


def written(workdir):
    return (workdir / "README.md").read_text("utf-8")


def test_readme_begins_with_question_and_verdict(workdir):
    message = report(COMMAND, experiment.plan(), workdir)
    text = written(workdir)
    assert str(workdir / "README.md") in message
    assert text.startswith(
        "# Does Pre-LN train deeper than Post-LN?\n\n- Pre-LN is better at depth 12: **yes** ("
    )
    order = ["**yes**", "## Results", "figures/loss.png", "## Conditions", "## Command"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert text.endswith(f"## Command\n\n    {COMMAND}\n")
    assert "Beware" not in text
    assert "- data, train: 900 examples, 3 truncated\n" in text
    assert "unknown" not in text  # a count of 0
    assert "- baseline trigram loss: 2.5\n" in text
    assert (workdir / "figures" / "loss.png").stat().st_size > 5000


def test_the_table_by_hand(workdir):
    report(COMMAND, experiment.plan(), workdir)
    lines = [line for line in written(workdir).splitlines() if line.startswith("|")]
    assert lines[0] == (
        "| placement | depth | n | failed | validation loss | test/per | parameters | tokens | "
        "ms a step | s compiling |"
    )
    # Pre-LN, depth 2: losses 0.96 + 0.01 and 0.97 + 0.01.
    assert lines[2].startswith("| Pre-LN | 2 | 2 | 0 of 2 | 0.975 ± 0.007 | 28.8 ± 0.0 | 2,000 |")
    assert lines[5].startswith("| Post-LN | 12 | 2 | 2 of 2 | 3.01 (n = 1) | 90.0 (n = 1) |")
    assert lines[5].endswith("| 10.0 | 5.0 |")
    assert len(lines) == 6


def test_results_csv_keeps_every_number(workdir):
    points = experiment.plan()
    report(COMMAND, points, workdir)
    frame = collect.load(workdir / "results.csv")
    assert list(frame["id"]) == [point.id for point in points]
    assert frame["model.depth"].dtype.kind == "i"
    assert list(frame["failed"]) == [False] * 6 + [True] * 2
    assert list(frame["diverged"]) == [""] * 7 + ["step 60, decoder/11"]
    direct = pd.DataFrame(collect.collect(points, workdir / "runs", points[0].config["report"]))
    for name in frame.columns[frame.columns.str.contains("/")]:
        pd.testing.assert_series_equal(frame[name], direct[name], check_dtype=False)
    columns = list(frame.columns)
    assert columns.index("test/exact@4") < columns.index("test/exact@12")


def test_the_report_can_be_rebuilt_from_results_csv_alone(workdir):
    points = experiment.plan()
    report(COMMAND, points, workdir)
    before = written(workdir), (workdir / "results.csv").read_text()
    (workdir / "runs").rename(workdir.parent / "elsewhere")
    (workdir / "README.md").unlink()
    report(COMMAND, points, workdir, rebuild=True)
    assert (written(workdir), (workdir / "results.csv").read_text()) == before
    assert "not written" in report(COMMAND, points, workdir)


def test_overrides_never_touch_the_committed_report(workdir):
    report(COMMAND, experiment.plan(), workdir)
    before = written(workdir), (workdir / "results.csv").read_bytes()
    settings = experiment.config()
    settings.train.lr = 5e-4
    changed = experiment.trained(workdir, settings)
    message = report(COMMAND, changed, workdir, special=True)
    assert "variants" in message
    assert (written(workdir), (workdir / "results.csv").read_bytes()) == before
    (variant,) = (workdir / "variants").iterdir()
    ids = list(collect.load(variant / "results.csv")["id"])
    assert ids == [point.id for point in changed]


def test_nothing_is_written_before_everything_is_there(workdir):
    points = experiment.plan()
    RunDirectory(workdir / "runs" / points[3].id).update(state="running")
    message = report(COMMAND, points, workdir, only=["seed=0"])
    assert message == "report: not written, 1 of 8 points are to be trained (--only=seed=0)"
    assert not (workdir / "README.md").exists()
    report(COMMAND, points, workdir, rebuild=True)
    assert "1 of 8 points have not been trained" in written(workdir)


def test_runs_that_were_continued_are_pointed_out(workdir):
    points = experiment.plan()
    RunDirectory(workdir / "runs" / points[3].id).update(step=500)
    report(COMMAND, points, workdir)
    assert "beyond the steps that the config asks for: 1." in written(workdir)


def test_a_crashed_point_is_reported(workdir):
    points = experiment.plan()
    RunDirectory(workdir / "runs" / points[3].id).update(state="failed", traceback="...")
    report(COMMAND, points, workdir)
    assert f"Stopped with an error: {points[3].id}." in written(workdir)
    assert "| Pre-LN | 12 | 1 |" in written(workdir)


def test_figures_of_an_older_config_go(workdir):
    (workdir / "figures").mkdir()
    (workdir / "figures" / "old.png").touch()
    report(COMMAND, experiment.plan(), workdir)
    assert [path.name for path in (workdir / "figures").iterdir()] == ["loss.png"]


def test_a_report_is_the_same_every_time(workdir):
    report(COMMAND, experiment.plan(), workdir)
    before = written(workdir), (workdir / "figures" / "loss.png").read_bytes()
    report(COMMAND, experiment.plan(), workdir)
    assert (written(workdir), (workdir / "figures" / "loss.png").read_bytes()) == before


@pytest.fixture
def frame(workdir):
    report(COMMAND, experiment.plan(), workdir)
    return collect.load(workdir / "results.csv")


def test_metrics_by_name_time_series_end_and_ratio(frame):
    pre = where(frame, {"model.placement": PRE, "seed": 0})
    assert list(values(pre, "test/exact@8")) == [0.92, 0.92]
    assert list(values(pre, "test/exact@8:50")) == [0.42, 0.42]
    assert list(values(pre, "test/exact@8:first")) == [0.42, 0.42]
    norm = "train/gradient_norm/decoder"
    assert list(values(pre, f"{norm}@last:first")) == [4.0, 4096.0]
    assert list(values(pre, f"{norm}@last:first / {norm}@first:first")) == [2.0, 2048.0]
    assert values(frame, "valid/loss").isna().sum() == 1  # the diverged run
    assert values(frame, f"{norm}@1:first").notna().all()
    with pytest.raises(ConfigError, match="did you mean `test/exact@8`"):
        values(frame, "test/exat@8")


def test_conditions_on_rows(frame):
    assert len(where(frame, ())) == 8
    assert len(where(frame, (("model.depth", (2, 12)), ("seed", 1)))) == 4
    with pytest.raises(ConfigError, match=r"did you mean `model.depth`"):
        where(frame, {"model.dept": 2})


def test_failure_rule_and_divergence(workdir):
    settings = experiment.config()
    settings.report.failed = {"metric": "valid/loss", "below": 0.8}
    report(COMMAND, experiment.plan(settings), workdir)
    frame = collect.load(workdir / "results.csv")
    assert list(frame["failed"]) == [False, False, True, True, False, False, False, True]


def test_names():
    names = Names([("model.depth", "layers"), ("a.B", "the B"), (12, "twelve")])
    assert names.key("model.depth") == "layers"
    assert names.key("task.kind") == "task"
    assert names.key("test/exact_match:500") == "test/exact match (step 500)"
    assert names.value("a.B") == "the B"
    assert names.value("positions.rope.Rope") == "Rope"
    assert names.value(2.0) == "2"
    assert names.pair("model.depth", 3) == "layers 3"
    assert names.pair("model.depth", 12) == "layers twelve"


def test_mean_and_spread_have_the_same_decimals():
    assert plus_minus(Summary(0.12345, 0.0101, 3)) == "0.123 ± 0.010"
    assert plus_minus(Summary(31.4159, 2.0, 3)) == "31.4 ± 2.0"
    assert plus_minus(Summary(1234.5, 20.0, 3)) == "1234 ± 20"
    assert plus_minus(Summary(2.0, 0.0, 1)) == "2.00"
