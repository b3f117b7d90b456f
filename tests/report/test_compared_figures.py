"""Figures of systems: where they part, how they train, what they cost."""

import math

import compared
import pytest
from compared import BAHDANAU, FIXED, TRANSFORMER

from seqlab.build import ConfigError
from seqlab.report import collect
from seqlab.report.figures.bars import Bars
from seqlab.report.figures.parting import Parting
from seqlab.report.figures.training_curves import TrainingCurves
from seqlab.report.values import Names

PAIRS = ((BAHDANAU, FIXED), (BAHDANAU, TRANSFORMER))


@pytest.fixture(scope="module")
def frame(_compared_runs):
    points = compared.plan()
    found = collect.collect(points, _compared_runs / "runs", points[0].config["report"])
    collect.save(found, _compared_runs / "results.csv")
    return collect.load(_compared_runs / "results.csv")


@pytest.fixture
def names():
    return Names.of(compared.plan()[0].config["report"])


def test_parting_is_drawn_and_said(frame, names):
    chart = Parting(series="test/bleu", hue="system", parts=PAIRS, unit="words")
    rule, first, second = chart.words(frame, names)
    assert "every run of one lies above every run of the other." in rule
    assert first == f"{BAHDANAU} and {FIXED} part at 15 words ({BAHDANAU} above)."
    assert second == (
        f"{BAHDANAU} and {TRANSFORMER} do not part. Diverged runs, which have no score, are left "
        "out: 1."
    )
    strip, axis = chart.draw(frame, names).axes
    assert [list(line.get_xdata()) for line in strip.lines] == [[15, 25], [15]]
    assert [text.get_text() for text in strip.texts] == [
        f"{BAHDANAU} above {FIXED} from 15 on",
        f"{BAHDANAU} and {TRANSFORMER} do not part",
    ]
    (between,) = [line for line in axis.lines if line.get_linestyle() == ":"]
    assert list(between.get_ydata()) == pytest.approx([30.5, 20.5])
    assert axis.get_xlabel() == "words"


def test_parting_with_a_margin_and_unknown_pairs(frame, names):
    chart = Parting(series="test/bleu", hue="system", parts=PAIRS[:1], margin=12.0)
    rule, sentence = chart.words(frame, names)
    assert rule.endswith("by more than 12.")
    assert sentence == f"{BAHDANAU} and {FIXED} part at 25 ({BAHDANAU} above)."
    wrong = Parting(series="test/bleu", hue="system", parts=(("GRU + Badanau", FIXED),))
    with pytest.raises(ConfigError, match="no run has system 'GRU \\+ Badanau'"):
        wrong.words(frame, names)


def test_training_curves(frame, names):
    chart = TrainingCurves(by_step="valid/loss", hue="system", log=True)
    figure = chart.draw(frame, names)
    (axis,) = figure.axes
    drawn = dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
    assert list(drawn[FIXED].get_xdata()) == [25, 50, 75, 100]
    assert drawn[FIXED].get_ydata()[3] == pytest.approx(math.sqrt(0.09 * 0.10))
    assert len(drawn[TRANSFORMER].get_xdata()) == 0  # no step at which both runs have a value
    thin = [line for line in axis.lines if line.get_alpha() == 0.35]
    assert len(thin) == 5
    (diverged,) = [line for line in axis.lines if line.get_gid() == "diverged"]
    assert list(diverged.get_xdata()) == [30]
    assert "diverged run (at the top: before any value)" in drawn
    assert axis.get_xlabel() == "training step"


def test_the_table_holds_by_step_what_figures_ask_for(frame):
    assert [name for name in frame if name.startswith("valid/loss:")] == [
        f"valid/loss:{step}" for step in (25, 50, 75, 100)
    ]
    assert not [name for name in frame if name.startswith("train/loss:")]
    with pytest.raises(ConfigError, match="'train/loss' by step"):
        TrainingCurves(by_step="train/loss").points(frame, Names(()))


def test_bars(frame, names):
    figure = Bars(metrics=("test/bleu", "model/parameters")).draw(frame, names)
    scores, costs = figure.axes
    assert [text.get_text() for text in scores.get_yticklabels()] == [FIXED, BAHDANAU, TRANSFORMER]
    assert [bar.get_width() for bar in scores.patches] == [15.5, 25.5, 25.0]
    assert [text.get_text().strip() for text in scores.texts] == ["15.5", "25.5", "25.0 (n = 1)"]
    assert [bar.get_width() for bar in costs.patches] == [5000.5] * 3
    assert scores.get_ylim()[0] > scores.get_ylim()[1]  # the first row on top
    lost = frame[(frame["system"] == TRANSFORMER) & (frame["seed"] == 1)]
    chart = Bars(metrics=("test/bleu", "model/parameters"))
    assert chart.draw(lost.assign(**{"test/bleu": 1.0}), names).axes[0].texts[0].get_text() == (
        " diverged"
    )


@pytest.mark.parametrize("name", ["length", "training", "costs"])
def test_no_text_lies_on_another(frame, names, name):
    kinds = {
        "length": Parting(series="test/bleu", hue="system", parts=PAIRS),
        "training": TrainingCurves(by_step="valid/loss", hue="system"),
        "costs": Bars(metrics=("test/bleu", "model/parameters")),
    }
    figure = kinds[name].draw(frame, names)
    figure.draw_without_rendering()
    whole = figure.bbox
    texts = [text for axis in figure.axes for text in axis.texts]
    boxes = [text.get_window_extent() for text in texts]
    boxes += [legend.get_window_extent() for legend in figure.legends]
    for place, box in enumerate(boxes):
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and box.y1 <= whole.y1
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])
