"""Attention weights as a heat map, with the numbers and the caveat that belong to them."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqlab.analysis import fonts
from seqlab.analysis.attention import Attention
from seqlab.build import ConfigError

CAVEAT = (
    "Weights show where a layer reads, not why a token was written "
    "(Jain & Wallace 2019; Wiegreffe & Pinter 2019)."
)
CELL, LABEL, GRID = 0.24, 0.08, 0.12  # inches a token, a letter of a label, a token in a grid
SMALL = 1.8  # inches, the least side of a map
LETTERS = 15  # of the caption in an inch
VISIBLE = {" ": "\u2423", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

Panel = tuple[int, list[int]]  # index of a layer, and the heads whose mean is shown


def draw(
    attention: Attention,
    part: str = "cross",
    layer: int | str = -1,
    head: int | str | None = None,
    renormalise: bool = False,
) -> Figure:
    """Rows: tokens written (in the encoder: of the source); columns: tokens looked at.

    layer: which of the part's layers that attend, from the bottom, or "all". head: its number, None
    for the mean of all heads, or "all". "all" draws a grid, a row a layer and a column a head.
    renormalise: without the source's EOS. Tokens that no installed font has are numbered, with a
    warning. Raises ConfigError for a part, layer or head that there is not.
    """
    heads = [each.shape[0] for each in attention.maps(part)]
    if renormalise and part == "decoder":
        raise ConfigError("renormalise: decoder self-attention has no source EOS to leave out")
    shown = attention.without_eos() if renormalise else attention
    panels = [_panels(index, heads[index], head) for index in _chosen(layer, len(heads), "layer")]
    grid = layer == "all" or head == "all"
    rows, columns, family = _labels(shown.rows(part), shown.columns(part))
    figure = _figure(panels, rows, columns, grid)
    axes = figure.subplots(len(panels), max(map(len, panels)), squeeze=False)
    for line, own in zip(axes, panels, strict=True):
        for axis, panel in zip(line, own, strict=False):
            _map(axis, shown, part, panel)
        for spare in line[len(own) :]:
            spare.remove()
    if grid:
        figure.suptitle(_orientation(part), fontsize=8)
    else:
        _name_tokens(axes[0, 0], rows, columns, family)
    _scale(figure)
    caption = _caption(attention, shown, part, [panel for own in panels for panel in own])
    width = int(figure.get_figwidth() * LETTERS)
    figure.supxlabel(textwrap.fill(caption, width), fontsize=7, x=0.02, ha="left")
    return figure


def _chosen(which: int | str, count: int, name: str) -> list[int]:
    if which == "all":
        return list(range(count))
    if isinstance(which, str) or not -count <= which < count:
        raise ConfigError(f'{name}: there is no {which!r}; choose from 0 to {count - 1}, or "all"')
    return [which % count]


def _panels(layer: int, heads: int, head: int | str | None) -> list[Panel]:
    """The panels of one layer: the mean of its heads, one head, or each of them."""
    if head is None:
        return [(layer, list(range(heads)))]
    return [(layer, [index]) for index in _chosen(head, heads, "head")]


def _map(axis: Axes, attention: Attention, part: str, panel: Panel) -> None:
    layer, heads = panel
    weights = attention.maps(part)[layer][heads].mean(0)
    axis.imshow(weights, cmap="Blues", aspect="auto", interpolation="nearest")
    several = f"mean of {len(heads)} heads" if len(heads) > 1 else f"head {heads[0]}"
    axis.set_title(f"{part}, layer {attention.layers[part][layer]}, {several}", fontsize=8)
    axis.set_xticks([])
    axis.set_yticks([])


def _scale(figure: Figure) -> None:
    """One scale of colours for all panels, from 0."""
    images = [axis.images[0] for axis in figure.axes]
    highest = max(float(np.max(np.asarray(image.get_array()))) for image in images)
    for image in images:
        image.set_clim(0.0, highest)
    bar = figure.colorbar(images[-1], ax=figure.axes, shrink=0.6, pad=0.02, label="weight")
    bar.ax.tick_params(labelsize=7)
    bar.ax.yaxis.label.set_fontsize(7)


def _caption(whole: Attention, shown: Attention, part: str, panels: Sequence[Panel]) -> str:
    """Means over the panels' heads; the share of EOS is that before it was left out."""
    before, after = whole.statistics(part), shown.statistics(part)

    def mean(statistics: list[dict[str, np.ndarray]], name: str) -> float:
        return float(np.mean([statistics[layer][name][h] for layer, own in panels for h in own]))

    heads = "of a head" if sum(len(own) for _, own in panels) > 1 else "of this head"
    left_out = ", which is left out here" if shown is not whole else ""
    return (
        f"Entropy {heads}: {mean(after, 'entropy'):.2f} nats "
        f"({mean(after, 'relative_entropy'):.0%} of ln S). "
        f"Share of {'BOS' if part == 'decoder' else 'the source EOS'}: "
        f"{mean(before, 'sink'):.0%}{left_out}. {CAVEAT}"
    )


def _figure(
    panels: Sequence[Sequence[Panel]], rows: Sequence[str], columns: Sequence[str], grid: bool
) -> Figure:
    """Large enough for the labels: a cell a token, and room for the longest label."""
    cell = GRID if grid else CELL
    across, down = max(map(len, panels)), len(panels)
    width = max(cell * len(columns), SMALL) * across
    height = max(cell * len(rows), SMALL) * down
    if not grid:
        width += LABEL * max(map(len, rows)) + 1.0
        height += LABEL * max(map(len, columns))
    return Figure(figsize=(max(width, 4.0), height + 1.2), layout="constrained")


def _name_tokens(
    axis: Axes, rows: Sequence[str], columns: Sequence[str], family: Sequence[str]
) -> None:
    style = {"fontsize": 8, "family": list(family), "parse_math": False}
    axis.set_xticks(range(len(columns)), columns, rotation=90, **style)
    axis.set_yticks(range(len(rows)), rows, **style)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)


def _orientation(part: str) -> str:
    rows = "source tokens" if part == "encoder" else "tokens written"
    columns = "tokens read so far" if part == "decoder" else "source tokens"
    return f"rows: {rows}, from the top; columns: {columns}"


def _labels(
    rows: Sequence[str], columns: Sequence[str]
) -> tuple[list[str], list[str], Sequence[str]]:
    """Labels that can be drawn, and the font families that have their characters."""
    seen = [
        ["".join(VISIBLE.get(c, c) for c in token) for token in side] for side in (rows, columns)
    ]
    family, missing = fonts.families("".join(token for side in seen for token in side))
    if missing:
        fonts.warn_of(missing, "the tokens with them are numbered")
        seen = [
            [f"#{place}" if missing & set(token) else token for place, token in enumerate(side)]
            for side in seen
        ]
    return seen[0], seen[1], family
