"""A user's own corpus: a TSV or JSON Lines file, or a folder with one file a split.

    data.source = "./corpus.tsv"    en<TAB>de            data.fields.source = "en"
                                    the cat<TAB>die Katze    data.fields.target = "de"
    data.source = "./corpus.jsonl"  {"en": "the cat", "de": "die Katze"}
    data.source = "./corpus/"       train.tsv, validation.tsv, test.tsv (or .jsonl)

Files are UTF-8; a line ends at a line feed, and only there (a carriage return before it and a byte
order mark at the start are no text). The first line of a TSV names its columns; there is no
quoting, so a text holds no tab. In JSON Lines a value is a text or, for references, a list of
texts. Empty lines are left out, with a warning that counts them.

The rows of a single file fall into train, validation and test, 90/5/5, by a hash of the source
text: equal sources stay in one split.
"""

import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.data.builders.split import SPLITS, split_of

KINDS = (".tsv", ".jsonl")
OTHERS = (".csv", ".gz", ".json", ".parquet", ".txt")  # surely files, but not read
BOM = b"\xef\xbb\xbf"
SHOWN = 80  # characters of a line in an error

Value = str | tuple[str, ...]
Row = dict[str, Value]


def is_path(name: str) -> bool:
    """Is `data.source` a path, and no name of a data set? By its first or last characters only."""
    return name.startswith((".", "/", "~")) or name.endswith(("/", *KINDS, *OTHERS))


def hint(name: str) -> str:
    """What an error about an unknown data set adds where there is a path of that name."""
    return f" (for the path of that name write './{name}')" if Path(name).exists() else ""


def read(name: str, split: str, columns: Mapping[str, str]) -> list[Row]:
    """The rows of a split: {field: text} of the columns, held in memory.

    name: a path, relative to the working directory or with ~. split: "train", "validation" or
    "test" of a single file; the name of a file in a folder. columns: field -> column. Raises
    ConfigError naming the key, or file and line (from 1), of what is wrong.
    """
    path = Path(name).expanduser()
    if not path.exists():
        here = "" if path.is_absolute() else f" in {Path.cwd()}"
        beside = [each.name for each in path.parent.glob("*") if is_path(each.name)]
        raise ConfigError(
            f"data.source: there is no file or folder {name!r}{here}"
            + (suggest(path.name, beside, "beside it are") if beside else "")
        )
    if path.is_dir():
        return _rows(_file_of(path, split), columns)
    if split not in SPLITS:
        raise ConfigError(f"data.splits: {path} has no split {split!r}" + suggest(split, SPLITS))
    rows = _rows(path, columns)
    chosen = [row for row in rows if split_of(str(row["source"])) == split]
    if not chosen:
        raise ConfigError(
            f"data.source: none of the {len(rows)} rows of {path} falls into {split!r}, which gets "
            f"about {'90' if split == 'train' else '5'} % of them: give more rows, or a folder "
            "with one file a split"
        )
    return chosen


def _file_of(folder: Path, split: str) -> Path:
    """The file of a split, whatever its kind."""
    known = {path.stem for path in folder.iterdir() if path.suffix in KINDS}
    found = [path for kind in KINDS if (path := folder / f"{split}{kind}").exists()]
    if not found:
        if not known:
            raise ConfigError(f"data.source: {folder} holds no {' or '.join(KINDS)} file")
        raise ConfigError(
            f"data.splits: {folder} holds no {split}.tsv or {split}.jsonl"
            + suggest(split, known, "it has")
        )
    if len(found) > 1:
        raise ConfigError(f"data.source: {folder} holds both {found[0].name} and {found[1].name}")
    return found[0]


def _rows(path: Path, columns: Mapping[str, str]) -> list[Row]:
    if path.suffix not in KINDS:
        raise ConfigError(
            f"data.source: {path} is neither {' nor '.join(KINDS)}: columns with tabs between "
            "them, named by the first line, or one JSON object a line"
        )
    parse = _tsv if path.suffix == ".tsv" else _jsonl
    rows = list(parse(path, columns))
    if not rows:
        raise ConfigError(f"data.source: {path} has no rows")
    return rows


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not empty."""
    blank = []
    rows = path.read_bytes().removeprefix(BOM).split(b"\n")
    last = len(rows) - (rows[-1] == b"")  # what follows the last line feed is no line
    for number, row in enumerate(rows[:last], 1):
        try:
            text = row.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}, line {number}: not UTF-8 ({error})") from None
        if text:
            yield number, text
        else:
            blank.append(number)
    if blank:
        warnings.warn(
            f"{path}: {len(blank)} empty lines are left out, the first is line {blank[0]}",
            stacklevel=2,
        )


def _tsv(path: Path, columns: Mapping[str, str]) -> Iterator[Row]:
    lines = _lines(path)
    first, head = next(lines, (1, ""))
    names = head.split("\t")
    for field, column in columns.items():
        times = names.count(column)
        if times != 1:
            raise ConfigError(
                f"data.fields.{field}: {path} has {_times(times)} {column!r} in line "
                f"{first}, which names the columns: {head[:SHOWN]!r}. If that line is an example, "
                f"put a line {chr(9).join(columns.values())!r} above it"
                + suggest(column, names, "otherwise choose from")
            )
    places = {field: names.index(column) for field, column in columns.items()}
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise ConfigError(
                f"{path}, line {number}: {len(cells)} columns, line {first} names {len(names)} "
                f"({', '.join(names)}): {line[:SHOWN]!r}"
            )
        yield {field: cells[place] for field, place in places.items()}


def _jsonl(path: Path, columns: Mapping[str, str]) -> Iterator[Row]:
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{where}: not JSON ({error}): {line[:SHOWN]!r}") from None
        if not isinstance(entry, dict):
            raise ConfigError(f"{where}: not an object with columns: {line[:SHOWN]!r}")
        for field, column in columns.items():
            if column not in entry:
                raise ConfigError(
                    f"{where}: no column {column!r} (data.fields.{field})"
                    + suggest(column, entry, "its columns are")
                )
        yield {
            field: _value(entry[column], f"{where}: column {column!r}", field == "references")
            for field, column in columns.items()
        }


def _value(value: Any, where: str, many: bool) -> Value:
    """A text, or texts where a record may have many."""
    listed = many and isinstance(value, list)
    texts: tuple[Any, ...] = tuple(value) if listed else (value,)
    for text in texts:
        if not isinstance(text, str):
            raise ConfigError(f"{where} holds {text!r}, which is no text")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ConfigError(f"{where} holds half of a surrogate pair: {text[:SHOWN]!r}")
    return texts if listed else texts[0]


def _times(count: int) -> str:
    return f"{count} columns" if count else "no column"
