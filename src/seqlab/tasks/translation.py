"""Translation: a sentence into another language.

English into Chinese:

    source "The cat climbed up the tree."   target "猫爬到了树上。"
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from seqlab.build import ConfigError, suggest
from seqlab.data.records import Record
from seqlab.tasks import corpus
from seqlab.tasks.base import Task, check_counts

TOKENIZERS = ("auto", "13a", "zh", "char", "intl", "none")


@dataclasses.dataclass(frozen=True)
class Translation(Task):
    """Scored by sacreBLEU (Post 2018) and chrF (Popovic 2015) on raw text.

    tokenize: of BLEU; "auto" is "zh" where most letters of the references are Chinese, else "13a".
    references: column with all valid targets ("": the target is the only one).
    """

    tokenize: str = "auto"
    references: str = ""

    abstract: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.tokenize not in TOKENIZERS:
            raise ConfigError(
                f"task.tokenize: {self.tokenize!r}" + suggest(self.tokenize, TOKENIZERS)
            )

    def load(self, data: Mapping[str, Any], split: str) -> Sequence[Record]:
        return corpus.load(data, split, self.references)

    def score(self, hypotheses: Sequence[str], records: Sequence[Record]) -> dict[str, float]:
        """bleu and chrf of the corpus, 0 to 100."""
        check_counts(hypotheses, records)
        streams = _streams(records)
        return {
            "bleu": self._bleu(records).corpus_score(list(hypotheses), streams).score,
            "chrf": CHRF().corpus_score(list(hypotheses), streams).score,
        }

    def conventions(self, records: Sequence[Record]) -> dict[str, str]:
        """The signatures of sacreBLEU for the language of these records."""
        signatures = {}
        for name, metric in (("bleu", self._bleu(records)), ("chrf", CHRF())):
            # A signature counts the references, so something must have been scored.
            metric.corpus_score([records[0].target], [[records[0].target]])
            signatures[name] = str(metric.get_signature())
        return signatures

    def _bleu(self, records: Sequence[Record]) -> BLEU:
        tokenize = self.tokenize
        if tokenize == "auto":
            tokenize = "zh" if _is_chinese(records) else "13a"
        return BLEU(tokenize=tokenize)


def _streams(records: Sequence[Record]) -> list[list[Any]]:
    """References the way sacreBLEU wants them: reference i of every record, or None."""
    streams = itertools.zip_longest(*(record.references for record in records))
    return [list(stream) for stream in streams]


def _is_chinese(records: Sequence[Record]) -> bool:
    letters = [c for record in records for c in record.target if c.isalpha()]
    return 2 * sum("\u4e00" <= letter <= "\u9fff" for letter in letters) > len(letters)
