"""Levenshtein distance."""

from collections.abc import Sequence


def edit_distance(a: Sequence, b: Sequence) -> int:
    """Fewest insertions, deletions and substitutions that turn a into b (Levenshtein 1966).

    d[i, j] = min(d[i-1, j] + 1, d[i, j-1] + 1, d[i-1, j-1] + (a_i != b_j))
    """
    if a == b:
        return 0
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b):
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + (x != y)))
        previous = current
    return previous[-1]
