"""Over- and under-translation: what is said again, and what is left out.

Attention without a memory of what it has covered repeats and drops words (Tu et al. 2016). Both
are counted here against the reference, which needs no word alignment.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Coverage:
    """Counts of tokens in one translation; they add up over a corpus."""

    repeated: int
    dropped: int
    reference: int  # tokens of the reference


def coverage(hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> Coverage:
    """Repeated and dropped tokens of a translation; with several references, of the kindest one.

    With t(g) and r(g) the counts of an n-gram g in translation and reference,

        repeated = sum over bigrams g with t(g) >= 2 of max(0, t(g) - r(g))
                   + 2 * sum over words w of max(0, t(w w) - r(w w))
        dropped  = sum over words w of max(0, r(w) - t(w))

    `repeated` is in the manner of the REP-score of Malaviya et al. 2018, with n = 2 and weights 1
    and 2. Their DROP-score needs alignments; `dropped` is 1 - clipped recall.
    """
    words, pairs = Counter(hypothesis), _pairs(hypothesis)
    found = [
        Coverage(_repeated(pairs, _pairs(each)), (Counter(each) - words).total(), len(each))
        for each in references
    ]
    return min(found, key=lambda one: (one.repeated + one.dropped) / max(one.reference, 1))


def rates(counts: Sequence[Coverage]) -> dict[str, float]:
    """repeated and dropped tokens per 100 reference tokens."""
    tokens = max(sum(each.reference for each in counts), 1)
    return {
        "repeated": 100 * sum(each.repeated for each in counts) / tokens,
        "dropped": 100 * sum(each.dropped for each in counts) / tokens,
    }


def _pairs(tokens: Sequence[str]) -> Counter[tuple[str, str]]:
    return Counter(itertools.pairwise(tokens))


def _repeated(pairs: Counter[tuple[str, str]], reference: Counter[tuple[str, str]]) -> int:
    more = {pair: max(0, count - reference[pair]) for pair, count in pairs.items()}
    again = sum(more[pair] for pair, count in pairs.items() if count >= 2)
    doubled = sum(number for (first, second), number in more.items() if first == second)
    return again + 2 * doubled
