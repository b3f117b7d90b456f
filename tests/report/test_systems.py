"""Systems have one name, from the plan to the report."""

import copy
from dataclasses import replace

import compared
import pytest
from compared import BAHDANAU, FIXED, NAMES, TRANSFORMER

from seqlab.build import ConfigError
from seqlab.report import collect
from seqlab.report.systems import system
from seqlab.report.write import check, report

COMMAND = "python launch.py --config=configs/q.py"


@pytest.fixture
def workdir(compared_runs):
    return compared_runs


@pytest.fixture
def points():
    """The plan without figures, which take long to draw."""
    return changed(figures=())


def written(workdir):
    return (workdir / "README.md").read_text("utf-8")


def test_the_first_entry_that_holds_names_a_point():
    names = [system(point, NAMES) for point in compared.plan()]
    assert names == [FIXED] * 2 + [BAHDANAU] * 2 + [TRANSFORMER] * 2
    assert system(compared.plan()[0], NAMES[::-1]) == BAHDANAU  # it holds for both
    assert system(compared.plan()[0], NAMES[2:]) == "other"
    part = (("attention", {"model.mixers.x": "mixers.cross.Cross"}),)  # a key inside a varied one
    assert [system(point, part) for point in compared.plan()[1::2]] == ["other"] * 2 + ["attention"]


def test_a_budget_that_changes_widths_changes_no_name():
    point = compared.plan()[2]
    fitted = copy.deepcopy(point.config)
    fitted["model"]["mixers"]["a"] = {"kind": "mixers.gru.GRU", "inner": 77}
    assert system(replace(point, config=fitted), NAMES) == BAHDANAU


def test_systems_are_axes_conditions_and_columns(workdir, points):
    report(COMMAND, points, workdir)
    text = written(workdir)
    assert "- Attention helps: **yes** (test/bleu 25.5 ± 0.71 (n = 2) for GRU + Bahdanau et" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert table[0] == (
        "| system | n | failed | test/bleu | parameters | MFLOPs | tokens | ms a step |"
    )
    assert table[2] == f"| {FIXED} | 2 | 0 of 2 | 15.5 ± 0.7 | 5,000 | 2.5 | 12,345 | 10.0 |"
    assert table[4].startswith(f"| {TRANSFORMER} | 2 | 1 of 2 | 25.0 (n = 1) |")
    frame = collect.load(workdir / "results.csv")
    assert list(frame["system"]) == [FIXED] * 2 + [BAHDANAU] * 2 + [TRANSFORMER] * 2


def test_names_and_everything_else_survive_without_the_runs(workdir):
    report(COMMAND, compared.plan(), workdir)
    assert "figures/length.png)\n\n*length*\n\n- Two curves part at" in written(workdir)
    files = ("README.md", "results.csv", "bootstrap.csv")
    before = [(workdir / name).read_bytes() for name in files]
    (workdir / "runs").rename(workdir / "elsewhere")
    report(COMMAND, compared.plan(), workdir, rebuild=True)
    assert [(workdir / name).read_bytes() for name in files] == before


def test_a_system_can_be_renamed_without_the_runs(workdir, points):
    report(COMMAND, points, workdir)
    (workdir / "runs").rename(workdir / "elsewhere")
    settings = compared.config()
    settings.report.update(
        {
            "names": ((FIXED, NAMES[0][1]), ("Bahdanau", NAMES[1][1]), NAMES[2]),
            "bootstrap": (),
            "figures": (),
            "verdict": (),
        }
    )
    report(COMMAND, compared.plan(settings), workdir, rebuild=True)
    assert "| Bahdanau | 2 |" in written(workdir)


def changed(**entries):
    """The plan with some entries of the report replaced."""
    settings = compared.config()
    settings.report.update(entries)
    return compared.plan(settings)


PARTING = compared.config().report.figures[0]
LIMIT = {"claim": "?", "metric": "test/bleu", "above": 1.0}
BARS = compared.config().report.figures[2]


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"names": ((FIXED, {"model.mixer": {}}),)}, "did you mean `mixers`"),
        ({"names": ((FIXED, {}), (FIXED, {}))}, "is taken"),
        ({"names": (FIXED,)}, "expected a pair"),
        ({"names": (*NAMES[:2], (TRANSFORMER, {"seed": 7}))}, "no point of the sweep is 'Transf"),
        ({"where": (("system", "GRU"),)}, "report.where: there is no system 'GRU'"),
        (
            {
                "verdict": (
                    {"claim": "?", "metric": "m", "of": {"system": "Transfomer"}, "above": 1},
                )
            },
            "report.verdict: there is no system 'Transfomer'; did you mean `Transformer`",
        ),
        ({"figures": (PARTING | {"parts": (("GRU", FIXED),)},)}, "parts: there is no system 'GRU'"),
        ({"figures": (PARTING | {"panels": "seed"},)}, "part by one hue"),
        ({"figures": (PARTING | {"where": {"system": "LSTM"}},)}, "where: there is no system"),
        ({"figures": (BARS | {"hue": "seed"},)}, "no `hue`"),
    ],
)
def test_wrong_names_are_found_before_training(entries, says):
    with pytest.raises(ConfigError, match=says):
        check(changed(**entries))


def test_the_right_names_are_right():
    check(compared.plan())


def test_names_that_a_sweep_leaves_over_are_no_error():
    check(compared.plan(sweep=compared.SWEEP[:2]))
