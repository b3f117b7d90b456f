"""What a task is: records to learn from, a score for what was predicted."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from seqlab.data.encode import Ragged
from seqlab.data.records import Record


@dataclasses.dataclass(frozen=True)
class Task(abc.ABC):
    """A sequence-to-sequence task; its options are its fields.

    Metrics are numbers by name; "exact@12" is the value at 12 of a series over length.
    """

    abstract: ClassVar[bool] = True
    generated: ClassVar[bool] = False  # True: see `Generated`
    aligned: ClassVar[bool] = False  # True: `alignment` is known

    @abc.abstractmethod
    def load(self, data: Mapping[str, Any], split: str) -> Sequence[Record]:
        """Records of a split ("train", "valid", "test"); data: the config's `data`."""

    @abc.abstractmethod
    def score(self, hypotheses: Sequence[str], records: Sequence[Record]) -> dict[str, float]:
        """Metrics of the predicted texts. Raises ValueError when the counts differ."""

    @abc.abstractmethod
    def conventions(self, records: Sequence[Record]) -> dict[str, str]:
        """How each metric is computed, in words or as a signature; records: some to be scored."""

    def alignment(self, record: Record) -> Sequence[int]:
        """The source position, from 0, that each target position of an `aligned` task stands for.

        In the words of the record, one token each; there is none for EOS.
        """
        raise NotImplementedError(f"{type(self).__name__} has no gold alignments")

    def bins(self, records: Sequence[Record]) -> list[float | None]:
        """The bin of each record in series over source length, None: in none; of scores and of
        the loss, "loss@15". No bins by default."""
        return [None] * len(records)

    def example_scores(self, hypotheses: Sequence[str], records: Sequence[Record]) -> list[float]:
        """A score for each predicted text, larger is better; by default 1 where it equals a
        reference and 0 elsewhere. Raises ValueError when the counts differ."""
        check_counts(hypotheses, records)
        pairs = zip(hypotheses, records, strict=True)
        return [float(text in record.references) for text, record in pairs]

    def baselines(self, train: Ragged, valid: Ragged) -> dict[str, float]:
        """What simple models reach, from the encoded targets of two splits; none by default."""
        del train, valid
        return {}


@dataclasses.dataclass(frozen=True)
class Generated(Task):
    """A task whose training examples are made on the fly, new ones every epoch."""

    abstract: ClassVar[bool] = True
    generated: ClassVar[bool] = True

    @abc.abstractmethod
    def alphabet(self) -> Sequence[str]:
        """Texts that hold every symbol, in a fixed order: what tokenizers are fitted on."""

    @abc.abstractmethod
    def generate(self, seed: int, epoch: int) -> Sequence[Record]:
        """The examples of an epoch, a pure function of (seed, epoch).

        Every epoch has as many examples of every length as any other.
        """


def check_counts(hypotheses: Sequence[str], records: Sequence[Record]) -> None:
    """Raise ValueError unless there is one hypothesis a record, and at least one."""
    if len(hypotheses) != len(records) or not records:
        raise ValueError(
            f"{len(hypotheses)} hypotheses for {len(records)} records: needs one for each"
        )
