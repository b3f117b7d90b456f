"""Fonts that have the characters of a text: matplotlib's own has no Chinese.

No font comes with seqlab: an installed one is taken, and where none has a character the caller is
told, so that it can draw something else.
"""

import functools
import warnings
from collections.abc import Iterable, Sequence

from matplotlib import font_manager, rcParams

# Tried first: fonts known for many scripts. The order of others is that of matplotlib's list.
PREFERRED = (
    "Noto Sans CJK",
    "Source Han Sans",
    "WenQuanYi",
    "PingFang",
    "Hiragino",
    "Microsoft YaHei",
)
INSTALL = (
    "install one, e.g. `apt-get install fonts-noto-cjk` or `fonts-wqy-zenhei`, and remove "
    "matplotlib's font cache (matplotlib.get_cachedir()) so that it is found"
)


def families(text: str) -> tuple[list[str], set[str]]:
    """Font families that together have the text's characters, and the characters that none has.

    The usual font comes first; matplotlib takes the next one for what it lacks.
    """
    usual = font_manager.get_font(_file(rcParams["font.family"])).family_name
    chosen: list[str] = []
    missing = set(text)
    for family in (usual, *_others()):
        found = {c for c in missing if ord(c) in _characters(family)}
        if found or not chosen:
            chosen.append(family)
            missing -= found
        if not missing:
            break
    return chosen, missing


def warn_of(missing: Iterable[str], shown: str) -> None:
    """Say which characters no font has, what is shown instead, and what helps."""
    several = sorted(missing)
    listed = "".join(several[:20]) + (" ..." if len(several) > 20 else "")
    warnings.warn(
        f"no installed font has {len(several)} of the characters ({listed}); {shown}; {INSTALL}",
        stacklevel=4,
    )


def _others() -> list[str]:
    """Installed families, the preferred ones first, without the one that has only boxes."""
    names = dict.fromkeys(font.name for font in font_manager.fontManager.ttflist)

    def rank(family: str) -> int:
        return next((n for n, name in enumerate(PREFERRED) if family.startswith(name)), 99)

    return sorted((name for name in names if not name.startswith("Last Resort")), key=rank)


def _file(family: str | Sequence[str]) -> str:
    """The file that matplotlib would draw this family with."""
    return font_manager.findfont(font_manager.FontProperties(family=family))


@functools.cache
def _characters(family: str) -> frozenset[int]:
    """Code points of a font's characters; none where matplotlib cannot draw with it."""
    try:
        return frozenset(font_manager.get_font(_file(family)).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
