"""Transduction: one sequence of symbols into another, e.g. letters into phones.

Letters into phones:

    source "hello"   target "HH AH L OW"   references "HH AH L OW", "HH EH L OW"
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from seqlab.data.encode import Ragged
from seqlab.data.records import Record
from seqlab.tasks import corpus, lengths
from seqlab.tasks.base import Task, check_counts
from seqlab.tasks.distance import edit_distance
from seqlab.tasks.ngram import trigram_loss


@dataclasses.dataclass(frozen=True)
class Transduction(Task):
    """Symbols are what stands between spaces in the target (phones).

    references: column with all valid targets ("": the target is the only one). by_length: score
    and loss by source length (characters), too, at lengths with at least `least` records.
    trained_length: longest source that was trained on, for the extrapolation length (0: none).
    """

    references: str = "references"
    by_length: bool = False
    least: int = 20
    trained_length: int = 0

    abstract: ClassVar[bool] = False

    def load(self, data: Mapping[str, Any], split: str) -> Sequence[Record]:
        return corpus.load(data, split, self.references)

    def bins(self, records: Sequence[Record]) -> list[float | None]:
        """The source length itself."""
        if not (self.by_length or self.trained_length):
            return super().bins(records)
        return lengths.frequent([float(len(record.source)) for record in records], self.least)

    def score(self, hypotheses: Sequence[str], records: Sequence[Record]) -> dict[str, float]:
        """per: 100 * edit distance to the closest reference / length of that reference, summed.

        wer: 100 * share of hypotheses that equal no reference. With by_length, "per@n" and
        "wer@n" at source length n; with trained_length, `extrapolation_length`: the largest n such
        that at every scored length up to n wer@n <= 1.5 * the WER of all sources up to
        trained_length (0 where the shortest fails).
        """
        check_counts(hypotheses, records)
        tallies = [_tally(text, record) for text, record in zip(hypotheses, records, strict=True)]
        metrics = _rates(tallies)
        series = {
            int(length): _rates([tallies[number] for number in numbers])
            for length, numbers in lengths.members(self.bins(records)).items()
        }
        for length, rates in series.items():
            metrics |= {f"{name}@{length}": value for name, value in rates.items()}
        if self.trained_length:
            trained = [
                tally
                for tally, record in zip(tallies, records, strict=True)
                if len(record.source) <= self.trained_length
            ]
            limit = 1.5 * _rates(trained)["wer"] if trained else 0.0
            metrics["extrapolation_length"] = _reach(series, limit)
        return metrics

    def conventions(self, records: Sequence[Record]) -> dict[str, str]:
        del records
        return {
            "per": "100 * edit distance to the closest reference / its length, over all records",
            "wer": "100 * share of records whose prediction equals no reference",
        }

    def baselines(self, train: Ragged, valid: Ragged) -> dict[str, float]:
        """trigram_loss: nats per target token, EOS included, of a trigram model of targets."""
        return {"trigram_loss": trigram_loss(train, valid)}


_Tally = tuple[int, int]  # edits, length of the closest reference


def _tally(hypothesis: str, record: Record) -> _Tally:
    symbols = hypothesis.split()
    references = [reference.split() for reference in record.references]
    # The first of the closest ones.
    return min(
        ((edit_distance(symbols, reference), len(reference)) for reference in references),
        key=lambda tally: tally[0],
    )


def _rates(tallies: Sequence[_Tally]) -> dict[str, float]:
    edits = sum(edits for edits, _ in tallies)
    length = sum(length for _, length in tallies)
    wrong = sum(edits > 0 for edits, _ in tallies)
    return {"per": 100 * edits / max(length, 1), "wer": 100 * wrong / len(tallies)}


def _reach(series: Mapping[int, Mapping[str, float]], limit: float) -> float:
    reach = 0
    for length in sorted(series):
        if series[length]["wer"] > limit:
            break
        reach = length
    return float(reach)
