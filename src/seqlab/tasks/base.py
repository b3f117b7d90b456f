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

    @abc.abstractmethod
    def load(self, data: Mapping[str, Any], split: str) -> Sequence[Record]:
        """Records of a split ("train", "valid", "test"); data: the config's `data`."""

    @abc.abstractmethod
    def score(self, hypotheses: Sequence[str], records: Sequence[Record]) -> dict[str, float]:
        """Metrics of the predicted texts. Raises ValueError when the counts differ."""

    @abc.abstractmethod
    def conventions(self, records: Sequence[Record]) -> dict[str, str]:
        """How each metric is computed, in words or as a signature; records: some to be scored."""

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
