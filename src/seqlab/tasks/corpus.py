"""Records of a task from the columns of a TFDS data set."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.data import sources
from seqlab.data.records import Mapped, Record


def load(data: Mapping[str, Any], split: str, references: str = "") -> Sequence[Record]:
    """Records of a split, read when asked for.

    data: the config's `data` (source, splits, fields, directory). references: column with all
    valid targets of a record, "" where the target is the only one.
    """
    if split not in data["splits"]:
        raise ConfigError(f"data.splits: there is no {split!r}" + suggest(split, data["splits"]))
    columns = {side: data["fields"][side] for side in ("source", "target")}
    if references:
        columns["references"] = references
    rows = sources.records(data["source"], data["splits"][split], data["directory"], columns)
    return Mapped(rows, _record)


def _record(row: Mapping[str, Any]) -> Record:
    references = row.get("references", row["target"])
    if isinstance(references, str):
        references = (references,)
    return Record(row["source"], row["target"], references)
