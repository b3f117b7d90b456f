"""What the scores of a run mean, in words and signatures."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqlab.data.records import Record
from seqlab.decoding.method import convention
from seqlab.tasks.base import Task
from seqlab.train import alignment


def conventions(config: Mapping[str, Any], task: Task, records: Sequence[Record]) -> dict[str, str]:
    """By metric; records: some of those that are scored, which tell the language."""
    return {
        "score": "of one example: 1 where the output equals a reference, else 0",
        **task.conventions(records),
        **alignment.conventions(task),
        "decoding": convention(config["decode"]),
    }
