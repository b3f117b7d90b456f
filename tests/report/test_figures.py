"""What is in a figure, and that nothing lies on top of it."""

import experiment
import pytest
from experiment import POST, PRE

from seqlab.build import ConfigError
from seqlab.report import collect
from seqlab.report.figures.lines import Lines
from seqlab.report.figures.profile import Profile
from seqlab.report.values import Names

NAMES = Names([(PRE, "Pre-LN"), (POST, "Post-LN"), ("valid/loss", "validation loss")])
NORM = "train/gradient_norm/decoder"


@pytest.fixture
def frame(workdir):
    points = experiment.plan()
    found = collect.collect(points, workdir / "runs", points[0].config["report"])
    collect.save(found, workdir / "results.csv")
    return collect.load(workdir / "results.csv")


def lines_of(axis):
    """{label: (x, y)} of what the legend explains."""
    handles, labels = axis.get_legend_handles_labels()
    return {
        label: (list(map(float, handle.get_xdata())), list(map(float, handle.get_ydata())))
        for handle, label in zip(handles, labels, strict=True)
    }


def test_lines_show_means_failed_runs_and_the_limit(frame):
    limit = {"y": "baseline/trigram_loss", "label": "3-gram"}
    chart = Lines(x="model.depth", y="valid/loss", hue="model.placement", limit=limit)
    figure = chart.draw(frame, NAMES)
    (axis,) = figure.axes
    drawn = lines_of(axis)
    assert drawn["Pre-LN"][0] == [2.0, 12.0]
    assert drawn["Pre-LN"][1] == pytest.approx([0.975, 0.775])
    assert drawn["Post-LN"][1] == pytest.approx([0.815, 3.01])  # without the diverged run
    assert drawn["3-gram"][1] == [2.5, 2.5]
    assert "failed run (at the top: diverged)" in drawn
    (diverged,) = [line for line in axis.lines if line.get_gid() == "diverged"]
    assert list(diverged.get_xdata()) == [12]
    assert axis.get_xlabel() == "depth"
    assert figure.get_supylabel() == "validation loss"


def test_panels_hues_and_expectations(frame):
    expect = (
        {"label": "doubles", "growth": 2.0, "where": {"model.placement": PRE}},
        {"label": "grows", "power": 1.0, "anchor": "last", "where": {"model.placement": PRE}},
        {"label": "flat", "constant": 3.0},
        {"label": "book", "points": ((1, 2.0), (2, 4.0))},
    )
    chart = Profile(
        series=NORM,
        at="first",
        hue="model.placement",
        panels="model.depth",
        log=True,
        expect=expect,
    )
    figure = chart.draw(frame, NAMES)
    shallow, deep = figure.axes
    assert shallow.get_title("left") == "depth 2"
    assert lines_of(shallow)["Pre-LN"] == ([1.0, 2.0], [2.0, 4.0])
    drawn = lines_of(deep)
    assert drawn["Post-LN"][1] == pytest.approx([2.0**layer for layer in range(1, 13)])
    x, y = drawn["expected: doubles"]
    assert y == pytest.approx([2.0**place for place in x])
    x, y = drawn["expected: grows"]
    assert y == pytest.approx([4096.0 * place / 12 for place in x])
    assert set(drawn["expected: flat"][1]) == {3.0}
    assert drawn["expected: book"] == ([1.0, 2.0], [2.0, 4.0])
    assert not any("failed" in label for label in drawn)  # nothing had failed at the start


def test_a_profile_at_several_steps(frame):
    chart = Profile(series="test/exact", at=(50, "last"), hue="at", where={"model.depth": 2})
    drawn = lines_of(chart.draw(frame, NAMES).axes[0])
    assert drawn["step 50"][0] == [4.0, 8.0, 12.0]
    assert drawn["step 50"][1] == pytest.approx([0.46, 0.42, 0.38])
    assert drawn["at the end"][1] == pytest.approx([0.96, 0.92, 0.88])
    relative = Profile(series="test/exact", relative=True, where={"model.depth": 2})
    assert relative.draw(frame, NAMES).axes[0].lines[0].get_ydata()[0] == 1.0


def test_words_on_the_x_axis_are_not_joined(frame):
    chart = Lines(x="model.placement", y="test/per", hue="model.depth", where={"seed": 0})
    (axis,) = chart.draw(frame, NAMES).axes
    assert [text.get_text() for text in axis.get_xticklabels()] == ["Pre-LN", "Post-LN"]
    handles, _ = axis.get_legend_handles_labels()
    assert {handle.get_linestyle() for handle in handles} == {"None"}


@pytest.mark.parametrize("panels", ["", "model.depth"])
def test_the_legend_covers_no_axes(frame, panels):
    chart = Lines(x="seed", y="test/per", hue=("model.placement", "model.depth"), panels=panels)
    figure = chart.draw(frame, NAMES)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert len(legend.get_texts()) >= 4
    for axis in figure.axes:
        assert not axis.get_tightbbox().overlaps(box)


def test_wrong_options_are_named(frame):
    with pytest.raises(ConfigError, match=r"did you mean `model.placement`"):
        Lines(x="model.depth", y="valid/loss", hue="model.placment").draw(frame, NAMES)
    with pytest.raises(ConfigError, match="did you mean `test/exact`"):
        Profile(series="test/exat").draw(frame, NAMES)
    with pytest.raises(ConfigError, match="no run has"):
        Lines(x="model.depth", y="valid/loss", where={"model.depth": 3}).draw(frame, NAMES)
    with pytest.raises(ConfigError, match="needs one of"):
        Lines(x="model.depth", y="valid/loss", expect=({"label": "?"},)).draw(frame, NAMES)
