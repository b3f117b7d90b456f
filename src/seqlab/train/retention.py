"""Which checkpoints are the best, and which of them stay."""

import dataclasses
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from seqlab.train.saved import DamagedError, Saved


@dataclasses.dataclass
class Scores:
    """Scores of saved steps.

    direction: "min" or "max" is best. known: step -> score. lost: steps whose score was saved but
    cannot be read any more.
    """

    direction: str
    known: dict[int, float]
    lost: set[int]

    @classmethod
    def read(cls, saved: Saved, metric: str, direction: str) -> "Scores":
        """Of the steps on disk; warns of those that are lost."""
        scores = cls(direction, {}, set())
        for step in saved.steps():
            try:
                scores.note(step, saved.score(step, metric))
            except DamagedError as error:
                scores.lost.add(step)
                told = saved.tell({step: str(error)})
                warnings.warn(f"{told}; it does not count as the best", stacklevel=3)
        return scores

    def note(self, step: int, score: Any) -> float | None:
        """Remember the score of a new step; returns it as a float, None where none or nan."""
        self.lost.discard(step)
        self.known.pop(step, None)
        if score is None or math.isnan(score):
            return None
        self.known[step] = float(score)
        return self.known[step]

    def ranked(self, steps: Iterable[int]) -> list[int]:
        """Best first, of equals the later; then those without a score, latest first."""
        sign = 1 if self.direction == "min" else -1
        last = (2, 0.0)
        return sorted(
            steps,
            key=lambda step: ((1, sign * self.known[step]) if step in self.known else last, -step),
        )


@dataclasses.dataclass
class Retention:
    """Orbax's preservation policy: the latest `keep` (0 or less: all) and the best stay.

    So does one whose score is lost: it may have been the best.
    """

    keep: int
    scores: Scores

    def should_preserve(self, checkpoints: Sequence[Any], *, context: Any) -> list[bool]:
        """For every checkpoint, in order of steps: does it stay?"""
        del context
        steps = [checkpoint.step for checkpoint in checkpoints]
        staying = set(steps[-self.keep :] if self.keep > 0 else steps) | self.scores.lost
        best = [step for step in self.scores.ranked(steps) if step in self.scores.known]
        return [step in staying or step in best[:1] for step in steps]
