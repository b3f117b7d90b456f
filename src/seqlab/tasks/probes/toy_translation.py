"""Toy translation: a dictionary and a word order, whose alignment is known.

    source "a b c d e"   target "U B R Q S"   where U, B, ... translate b, a, ...

Every symbol has one translation (a fixed random permutation, in upper case) and neighbours change
places in pairs, so that a target word stands for a source word one place before or after it. What
Bahdanau et al. 2015 (Figures 2 and 3) showed for sentences can be measured on it: scores by length,
and attention against the true alignment.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from seqlab.data.records import Record
from seqlab.tasks.probes.copying import Copy

DICTIONARY = 24  # the permutation's seed: all runs translate alike


@dataclasses.dataclass(frozen=True)
class ToyTranslation(Copy):
    """Translate word by word and swap neighbours; the last of an odd number stays where it is.

    Options as in `Copy`.
    """

    symbols: int = 21
    test_lengths: tuple[int, ...] = (3, 5, 8, 10, 12, 15, 18, 20, 24, 30)

    aligned: ClassVar[bool] = True

    def alphabet(self) -> Sequence[str]:
        """The symbols of both languages."""
        return (*self.names(), *self.dictionary.values())

    @functools.cached_property
    def dictionary(self) -> dict[str, str]:
        """Source symbol -> target symbol."""
        names = self.names()
        order = np.random.default_rng(DICTIONARY).permutation(len(names))
        return {name: names[int(place)].upper() for name, place in zip(names, order, strict=True)}

    def answer(self, symbols: Sequence[str]) -> Sequence[str]:
        return [self.dictionary[symbols[place]] for place in swapped(len(symbols))]

    def alignment(self, record: Record) -> Sequence[int]:
        return swapped(len(record.source.split()))


def swapped(length: int) -> list[int]:
    """1, 0, 3, 2, ...: each place of a pair looks at the other; an odd last one at itself."""
    return [min(place ^ 1, length - 1) for place in range(length)]
