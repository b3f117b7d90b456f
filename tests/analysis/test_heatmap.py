"""Heat maps: labels, caption, and no missing glyph."""

import itertools

import numpy as np
import pytest
from matplotlib import font_manager

from seqlab.analysis import fonts
from seqlab.analysis.attention import Attention
from seqlab.analysis.heatmap import draw
from seqlab.build import ConfigError


def attention(source=("the", "$5", "cat_x", "</s>"), target=("le", "chat", "</s>"), heads=2):
    random = np.random.default_rng(0)
    source, target = list(source), list(target)

    def weights(T, S):
        return random.dirichlet(np.ones(S), (heads, T)).astype(np.float32)

    S, T = len(source), len(target)
    parts = {
        "cross": [weights(T, S), weights(T, S)],
        "encoder": [weights(S, S), weights(S, S)],
        "decoder": [weights(T, T), weights(T, T)],
    }
    layers = {"cross": [2, 5], "encoder": [0, 1], "decoder": [2, 5]}
    return Attention(parts, layers, source, target, ["<s>", *target[:-1]], target)


def render(figure):
    figure.canvas.draw()  # warns of a glyph that is missing, which is an error here
    return figure


def labels(figure):
    axis = figure.axes[0]
    sides = axis.get_yticklabels(), axis.get_xticklabels()
    return [[label.get_text() for label in side] for side in sides]


def test_tokens_are_the_labels_and_the_caption_tells_the_numbers():
    whole = attention()
    figure = render(draw(whole, layer=0))
    assert labels(figure) == [["le", "chat", "</s>"], ["the", "$5", "cat_x", "</s>"]]
    axis = figure.axes[0]
    assert axis.get_title() == "cross, layer 2, mean of 2 heads"
    np.testing.assert_allclose(axis.images[0].get_array(), whole["cross"][0].mean(0), rtol=1e-6)
    caption = " ".join(figure.get_supxlabel().split())
    statistics = whole.statistics()[0]
    assert f"Entropy of a head: {statistics['entropy'].mean():.2f} nats" in caption
    assert f"Share of the source EOS: {statistics['sink'].mean():.0%}." in caption
    assert "not why a token was written (Jain & Wallace 2019; Wiegreffe & Pinter 2019)" in caption


def test_one_head_and_without_eos():
    whole = attention()
    figure = render(draw(whole, head=1, renormalise=True))
    assert figure.axes[0].get_title() == "cross, layer 5, head 1"
    assert labels(figure)[1] == ["the", "$5", "cat_x"]
    np.testing.assert_allclose(
        figure.axes[0].images[0].get_array(), whole.without_eos()["cross"][1, 1], rtol=1e-6
    )
    caption = " ".join(figure.get_supxlabel().split())
    assert f"{whole.statistics()[1]['sink'][1]:.0%}, which is left out here" in caption


@pytest.mark.parametrize(
    ("options", "panels"),
    [({"layer": "all"}, 2), ({"head": "all"}, 2), ({"layer": "all", "head": "all"}, 4)],
)
def test_all_is_a_grid(options, panels):
    figure = render(draw(attention(), part="encoder", **options))
    assert len(figure.axes) == panels + 1  # and the scale
    scales = {image.get_clim() for axis in figure.axes[:-1] for image in axis.images}
    assert len(scales) == 1
    assert "rows: source tokens" in figure.get_suptitle()


def test_thirty_tokens_have_room():
    many = [f"token{number}" for number in range(30)]
    figure = render(draw(attention(many, many)))
    axis = figure.axes[0]
    rows = [label.get_window_extent() for label in axis.get_yticklabels()]
    apart([(box.y0, box.y1) for box in rows])
    columns = [label.get_window_extent() for label in axis.get_xticklabels()]
    apart([(box.x0, box.x1) for box in columns])


def apart(spans):
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(sorted(spans)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": "crss"}, "no 'crss' attention; did you mean `cross`"),
        ({"layer": 2}, r"layer: there is no 2; choose from 0 to 1, or \"all\""),
        ({"head": -3}, "head: there is no -3"),
        ({"head": "mean"}, "head: there is no 'mean'"),
        ({"part": "decoder", "renormalise": True}, "no source EOS"),
    ],
)
def test_what_there_is_not_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        draw(attention(), **options)


def only_matplotlib(monkeypatch):
    own = [f for f in font_manager.fontManager.ttflist if "mpl-data" in f.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)


def test_characters_of_no_font_are_numbered_with_one_warning(monkeypatch):
    only_matplotlib(monkeypatch)
    with pytest.warns(
        UserWarning, match=r"3 of the characters \(坐猫着\).*fonts-noto-cjk"
    ) as caught:
        figure = draw(attention(target=("猫", "a", "坐着", "</s>")))
    assert len(caught) == 1
    render(figure)
    assert labels(figure)[0] == ["#0", "a", "#2", "</s>"]


def test_white_space_is_shown():
    figure = render(draw(attention(source=(" ", "\n", "a\tb", "\u2581x"))))
    assert labels(figure)[1] == ["\u2423", "\\n", "a\\tb", "\u2581x"]


def test_an_installed_font_is_found_by_its_characters(monkeypatch):
    only_matplotlib(monkeypatch)
    assert fonts.families("abc") == (["DejaVu Sans"], set())
    assert fonts.families("a猫") == (["DejaVu Sans"], {"猫"})
    small = "\u1d15"  # of matplotlib's own fonts only a serif has it
    families, missing = fonts.families(f"a{small}")
    assert (families[0], len(families), missing) == ("DejaVu Sans", 2, set())
    figure = render(draw(attention(source=("a", small, "</s>"))))
    assert labels(figure)[1] == ["a", small, "</s>"]
