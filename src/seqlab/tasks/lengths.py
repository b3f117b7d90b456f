"""Bins of source length: how a score, or the loss, changes with the length of the source.

Bins of width w are [0, w), [w, 2w), ...; the number of a bin in a series is its middle:
"bleu@15" is BLEU over sources of 10 to 19 words where w = 10 (Bahdanau et al. 2015, Fig. 2).
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Bin = TypeVar("Bin", bound=Hashable)


def source_length(text: str) -> int:
    """Length of a source as its user sees it: words between white space.

    Characters, without white space, where most letters are Chinese or Japanese, which are written
    without spaces.
    """
    letters = [letter for letter in text if letter.isalpha()]
    if 2 * sum(map(is_unspaced, letters)) > len(letters):
        return sum(not letter.isspace() for letter in text)
    return len(text.split())


def is_unspaced(letter: str) -> bool:
    """Whether it is a Chinese character or Japanese kana."""
    return is_chinese(letter) or "\u3040" <= letter <= "\u30ff"


def is_chinese(letter: str) -> bool:
    """Whether it is a Chinese character."""
    return "\u4e00" <= letter <= "\u9fff"


def middle(length: int, width: int) -> float:
    """The middle of the bin of this width that a length falls into."""
    return (length // width + 0.5) * width


def frequent(bins: Sequence[Bin], least: int) -> list[Bin | None]:
    """The bins that hold at least `least` examples; None for the examples of the others."""
    counts = Counter(bins)
    return [each if counts[each] >= least else None for each in bins]


def members(bins: Sequence[float | None]) -> dict[float, list[int]]:
    """Numbers of the examples in each bin, bins ascending; examples of no bin are left out."""
    found: dict[float, list[int]] = {}
    for number, each in enumerate(bins):
        if each is not None:
            found.setdefault(each, []).append(number)
    return dict(sorted(found.items()))
