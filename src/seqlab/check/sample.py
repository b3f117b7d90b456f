"""A small sample of a config's data: of the corpus itself, or made up where it is not here.

A generated task needs none. A corpus that is on this machine gives its first rows, so that columns,
splits and tokenizers are those of the real run. One that would have to be downloaded is replaced by
random words under the same columns.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.build import build
from seqlab.data import sources
from seqlab.data.fetch import FetchError
from seqlab.data.text.base import SPECIALS
from seqlab.sweep.overrides import apply_overrides

ROWS = {"train": 200, "validation": 16, "test": 16}
NAMES = {"train": "train", "valid": "validation", "test": "test"}  # of the sample's files
WORDS = tuple(letter * 3 for letter in "abcdefghijkl")
SPARE = 8  # pieces of a learnt vocabulary besides characters
BYTES = 256  # pieces of `byte_fallback`

Row = Mapping[str, Any]


def sampled(config: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], str]:
    """The config with a sample of its data in `folder`, and what the sample is, in words.

    Raises ConfigError for data that is here and does not fit the config.
    """
    task, data = build(config["task"], "task"), config["data"]
    if task.generated:
        return dict(config), "generated"
    references = getattr(task, "references", "")
    try:
        rows = _real(data, references)
    except (FetchError, OSError) as error:
        return made_up(config, folder), f"a stand-in ({str(error).splitlines()[0]})"
    return reading(config, rows, folder), f"{len(rows['train'])} rows of {data['source']}"


def made_up(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The config with random words for its corpus."""
    references = getattr(build(config["task"], "task"), "references", "")
    rows = stand_in(config["data"]["fields"].values(), references)
    return reading(config, rows, folder)


def reading(
    config: Mapping[str, Any], rows: Mapping[str, list[Row]], folder: Path
) -> dict[str, Any]:
    """The config with these rows, written into `folder`, as its corpus."""
    folder.mkdir(parents=True)
    for split, chosen in rows.items():
        lines = [json.dumps(dict(row), ensure_ascii=False) for row in chosen]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    data = config["data"]
    texts = {
        side: [str(row[column]) for row in rows["train"]]
        for side, column in data["fields"].items()
        if side in data["tokenizer"]
    }
    both = [text for each in texts.values() for text in each]
    learnt = {
        side: small_vocabulary(spec, both if data["shared_vocabulary"] else texts.get(side, both))
        for side, spec in data["tokenizer"].items()
    }
    changes = {"data.source": str(folder), "data.splits": NAMES, "data.tokenizer": learnt}
    return apply_overrides(config, changes)


def small_vocabulary(spec: Any, texts: Iterable[str]) -> Any:
    """A tokenizer that learns `vocab_size` pieces, with as few as these texts need."""
    if not (isinstance(spec, Mapping) and "vocab_size" in spec):
        return spec
    written = " ".join(texts)
    characters = {*written, *unicodedata.normalize("NFKC", written)}
    needed = SPECIALS + len(characters) + SPARE + BYTES * bool(spec.get("byte_fallback"))
    return {**spec, "vocab_size": min(spec["vocab_size"], needed)}


def stand_in(columns: Iterable[str], references: str = "") -> dict[str, list[Row]]:
    """Rows of two to four random words a column, by split; `references` holds a list of texts."""
    random = np.random.default_rng(0)

    def row() -> Row:
        found: dict[str, Any] = {
            column: " ".join(random.choice(WORDS, random.integers(2, 5))) for column in columns
        }
        return {**found, references: [next(reversed(found.values()))]} if references else found

    columns = list(columns)
    return {split: [row() for _ in range(count)] for split, count in ROWS.items()}


def _real(data: Mapping[str, Any], references: str) -> dict[str, list[Row]]:
    """The first rows of each split. Raises FetchError where they would have to be downloaded."""
    if not sources.is_here(data["source"], data["directory"]):
        raise FetchError(f"{data['source']} is not on this machine")
    columns = {column: column for column in data["fields"].values()}
    columns |= {references: references} if references else {}
    fields = {**data["fields"], **({"references": references} if references else {})}
    rows = {}
    for split, name in NAMES.items():
        found = sources.records(data["source"], data["splits"][split], data["directory"], fields)
        rows[name] = [
            {fields[field]: value for field, value in row.items()} for row in found[: ROWS[name]]
        ]
    return rows
