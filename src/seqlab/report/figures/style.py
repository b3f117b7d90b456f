"""How figures look: colour by the first hue, line style by the second, nothing on top of data."""

import itertools
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

# Okabe and Ito's palette, told apart by colour-blind readers, ordered by contrast; the last four
# are of Tol's "muted" scheme and told from the others by their markers too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
COLOURS += ("#882255", "#332288", "#999933", "#AA4499")
LINES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "*", "<", ">", "p", "h", "d")
GREY = "#555555"
PANEL = (3.1, 2.5)  # inches, of one of several panels
SINGLE = (5.0, 3.0)


class PlainLog(LogFormatter):
    """Numbers at the minor ticks of a short logarithmic axis: 0.2, not 2e-01."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def styles(groups: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Colour, line and marker of each group of hue values.

    Groups that share the first value share the colour; a first value that is a number and takes
    more than two values is coloured along a dark-to-light scale.
    """
    firsts = list(dict.fromkeys(group[:1] for group in groups))
    seconds = list(dict.fromkeys(group[1:] for group in groups))
    numbers = [first[0] for first in firsts if first and not isinstance(first[0], str)]
    if len(numbers) == len(firsts) > 2:
        scale = matplotlib.colormaps["viridis"]
        ranks = {value: rank for rank, value in enumerate(sorted(numbers))}
        colours = [scale(0.88 * ranks[first[0]] / (len(firsts) - 1)) for first in firsts]
    else:
        colours = list(itertools.islice(itertools.cycle(COLOURS), len(firsts)))
    return [
        {
            "color": colours[firsts.index(group[:1])],
            "linestyle": LINES[seconds.index(group[1:]) % len(LINES)],
            "marker": MARKERS[firsts.index(group[:1]) % len(MARKERS)],
        }
        for group in groups
    ]


def grid(panels: int, columns: int, size: Sequence[float] = ()) -> tuple[Figure, list[Axes]]:
    """A figure of small multiples with one y axis, unused panels removed.

    size: width and height of a panel in inches (default: PANEL, or SINGLE for one).
    """
    columns = min(columns, panels)
    rows = -(-panels // columns)
    width, height = size or (PANEL if panels > 1 else SINGLE)
    figure = Figure(figsize=(width * columns, height * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for spare in list(axes.flat)[panels:]:
        spare.remove()
    used = list(axes.flat)[:panels]
    for axis in used:
        plain(axis)
    return figure, used


def plain(axis: Axes) -> None:
    """No box, a light grid below the data."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(color="#DDDDDD", linewidth=0.6)
    axis.set_axisbelow(True)


def legend(figure: Figure, axes: Sequence[Axes], panels: int, fewest: int = 2) -> None:
    """One legend for all panels: above small multiples, to the right of a single panel.

    None for less than `fewest` entries: a single curve needs no name.
    """
    entries: dict[str, Any] = {}
    for axis in axes:
        handles, labels = axis.get_legend_handles_labels()
        for handle, text in zip(handles, labels, strict=True):
            entries.setdefault(text, handle)
    if len(entries) < fewest:
        return
    place: dict[str, Any] = {"loc": "outside upper left"}
    place["ncols"] = max(1, int(figure.get_figwidth() / 2.1))
    if panels == 1:
        place = {"loc": "outside right upper"}
        figure.set_figwidth(figure.get_figwidth() + 2.2)
    place |= {"frameon": False, "fontsize": 8, "handlelength": 2.8}
    figure.legend(entries.values(), entries.keys(), **place)
