"""Sentence pairs without repetition: what keeps a test sentence out of the training split."""

from collections.abc import Iterable, Iterator


def distinct(pairs: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """The (key, source, target) of which neither the source nor the target was seen before.

    What stands in one split then stands in no other, on either side, however the keys are split.
    """
    sources: set[str] = set()
    targets: set[str] = set()
    for key, source, target in pairs:
        if source not in sources and target not in targets:
            yield key, source, target
        sources.add(source)
        targets.add(target)
