"""Translation: a sentence into another language.

English into Chinese:

    source "The cat climbed up the tree."   target "猫爬到了树上。"
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sacrebleu.metrics.bleu import BLEU, BLEUScore
from sacrebleu.metrics.chrf import CHRF

from seqlab.build import ConfigError, suggest
from seqlab.data.records import Record
from seqlab.tasks import corpus, lengths
from seqlab.tasks.base import Task, check_counts
from seqlab.tasks.coverage import Coverage, coverage, rates

TOKENIZERS = ("auto", "13a", "zh", "char", "intl", "none")


@dataclasses.dataclass(frozen=True)
class Translation(Task):
    """Scored by sacreBLEU (Post 2018) and chrF (Popovic 2015) on raw text.

    tokenize: of BLEU; "auto" is "zh" where most letters of the references are Chinese, else "13a".
    references: column with all valid targets ("": the target is the only one). length_bins: width
    of the bins of source length (`tasks.lengths`), in words of the source as its user wrote it, in
    characters where it is Chinese or Japanese; 0: no bins. least: sentences that a bin must have.
    """

    tokenize: str = "auto"
    references: str = ""
    length_bins: int = 10
    least: int = 20

    abstract: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.tokenize not in TOKENIZERS:
            raise ConfigError(
                f"task.tokenize: {self.tokenize!r}" + suggest(self.tokenize, TOKENIZERS)
            )
        if self.length_bins < 0:
            raise ConfigError(
                f"task.length_bins: {self.length_bins} is no width; use 10, or 0 for no bins"
            )

    def load(self, data: Mapping[str, Any], split: str) -> Sequence[Record]:
        return corpus.load(data, split, self.references)

    def bins(self, records: Sequence[Record]) -> list[float | None]:
        if not self.length_bins:
            return super().bins(records)
        found = [lengths.source_length(record.source) for record in records]
        middles = [lengths.middle(length, self.length_bins) for length in found]
        return lengths.frequent(middles, self.least)

    def score(self, hypotheses: Sequence[str], records: Sequence[Record]) -> dict[str, float]:
        """bleu and chrf of the corpus, 0 to 100; repeated and dropped tokens per 100 reference
        tokens (`tasks.coverage`); length_ratio: tokens per reference token. By source length too,
        "bleu@15", with the number of sentences as "sentences@15"; outside_bins: sentences in bins
        that have fewer than `least`.
        """
        check_counts(hypotheses, records)
        counted = self._count(hypotheses, records)
        metrics = _corpus(counted)
        if not self.length_bins:
            return metrics
        bins = self.bins(records)
        for middle, numbers in lengths.members(bins).items():
            scores = _corpus([counted[number] for number in numbers])
            scores["sentences"] = float(len(numbers))
            metrics |= {f"{name}@{middle:g}": value for name, value in scores.items()}
        return {**metrics, "outside_bins": float(bins.count(None))}

    def example_scores(self, hypotheses: Sequence[str], records: Sequence[Record]) -> list[float]:
        """BLEU of each sentence, over as many n-gram orders as it has."""
        check_counts(hypotheses, records)
        return [each.bleu.score for each in self._count(hypotheses, records)]

    def conventions(self, records: Sequence[Record]) -> dict[str, str]:
        """The signatures of sacreBLEU for the language of these records, the rest in words."""
        found = {}
        for name, metric in (("bleu", self._bleu(records)), ("chrf", CHRF())):
            # A signature counts the references, so something must have been scored.
            metric.corpus_score([records[0].target], [[records[0].target]])
            found[name] = str(metric.get_signature())
        found |= {
            "repeated": "bigrams that occur twice or more and oftener than in the reference, + 2 * "
            "words said twice in a row oftener than there, per 100 reference tokens (REP-score)",
            "dropped": "tokens of the reference that are missing, per 100 of them",
            "length_ratio": "tokens of the output / of the reference (the closest in length)",
            "score": "of one example: BLEU of the sentence with effective order",
        }
        if self.length_bins:
            found["bins"] = (
                "name@middle, loss@middle (nats a target token): by words of the raw source "
                "(characters in Chinese and Japanese), in bins of "
                f"{self.length_bins} from 0 on with at least {self.least} sentences"
            )
        return found

    def _bleu(self, records: Sequence[Record], effective_order: bool = False) -> BLEU:
        tokenize = self.tokenize
        if tokenize == "auto":
            tokenize = "zh" if _is_chinese(records) else "13a"
        return BLEU(tokenize=tokenize, effective_order=effective_order)

    def _count(self, hypotheses: Sequence[str], records: Sequence[Record]) -> list["_Counted"]:
        bleu = self._bleu(records, effective_order=True)  # counts are the same, and warns of none
        return [
            _Counted(
                text,
                record.references,
                bleu.sentence_score(text, record.references),
                coverage(
                    bleu.tokenizer(text.rstrip()).split(),
                    [bleu.tokenizer(each.rstrip()).split() for each in record.references],
                ),
            )
            for text, record in zip(hypotheses, records, strict=True)
        ]


@dataclasses.dataclass(frozen=True)
class _Counted:
    """A sentence and what was counted in it, once for all the corpora it belongs to."""

    text: str
    references: tuple[str, ...]
    bleu: BLEUScore
    coverage: Coverage


def _corpus(counted: Sequence[_Counted]) -> dict[str, float]:
    scores = [each.bleu for each in counted]
    # References the way sacreBLEU wants them: reference i of every sentence, or None.
    columns = itertools.zip_longest(*(each.references for each in counted))
    streams: list[Any] = [list(column) for column in columns]
    written, wanted = sum(each.sys_len for each in scores), sum(each.ref_len for each in scores)
    bleu = BLEU.compute_bleu(
        [sum(column) for column in zip(*(each.counts for each in scores), strict=True)],
        [sum(column) for column in zip(*(each.totals for each in scores), strict=True)],
        written,
        wanted,
        smooth_method="exp",
    )
    return {
        "bleu": bleu.score,
        "chrf": CHRF().corpus_score([each.text for each in counted], streams).score,
        **rates([each.coverage for each in counted]),
        "length_ratio": written / max(wanted, 1),
    }


def _is_chinese(records: Sequence[Record]) -> bool:
    letters = [c for record in records for c in record.target if c.isalpha()]
    return 2 * sum(map(lengths.is_chinese, letters)) > len(letters)
