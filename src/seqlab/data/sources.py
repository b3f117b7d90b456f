"""Records of a corpus: a TFDS data set, read at random without TensorFlow, or a user's own file.

Own builders (data/builders) and every data set of TFDS go the same way: array_record files, read
through `as_data_source`. Plain text columns are taken straight out of the stored example, which is
several times faster than decoding all features.
"""

import contextlib
import fcntl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow_datasets as tfds
from tensorflow_datasets.core.data_sources.base import BaseDataSource
from tensorflow_datasets.core.registered import DatasetNotFoundError, list_imported_builders
from tensorflow_datasets.proto import tf_example_pb2

from seqlab.build import ConfigError, suggest
from seqlab.data import files
from seqlab.data.builders import BUILDERS, is_own, make
from seqlab.data.fetch import FetchError

CHUNK = 1024  # records read in one call
STORAGE = "https://storage.googleapis.com"  # where TFDS keeps its metadata and many data sets

Value = str | tuple[str, ...]
_Example: Any = getattr(tf_example_pb2, "Example")  # noqa: B009 - made when it is imported


class Records(Sequence):
    """Text columns of one split: index -> {field: text, or texts where the column holds many}.

    columns: field -> name of the column ("de", or "answers/text" for a nested one).
    """

    def __init__(self, source: Any, columns: Mapping[str, str]):
        self._source = source
        self._columns = dict(columns)
        stored = getattr(source, "data_source", None)
        # tfds.testing.mock_data puts a source without stored examples in this place.
        self._stored = stored if isinstance(source, BaseDataSource) and _is_stored(stored) else None
        self._many = {
            column: _is_list(_feature(source.dataset_info.features, column))
            for column in self._columns.values()
        }

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._read(range(len(self))[index])
        return self._read([range(len(self))[index]])[0]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), CHUNK):
            yield from self[start : start + CHUNK]

    def _read(self, indices: Sequence[int]) -> list[dict[str, Value]]:
        if self._stored is None:
            return [self._decoded(self._source[index]) for index in indices]
        return [self._parsed(raw) for raw in self._stored.__getitems__(list(indices))]

    def _parsed(self, raw: bytes) -> dict[str, Value]:
        features = _Example.FromString(raw).features.feature
        record: dict[str, Value] = {}
        for field, column in self._columns.items():
            texts = features[column].bytes_list.value
            record[field] = tuple(map(_text, texts)) if self._many[column] else _text(texts[0])
        return record

    def _decoded(self, example: Any) -> dict[str, Value]:
        record: dict[str, Value] = {}
        for field, column in self._columns.items():
            value = example
            for part in column.split("/"):
                value = value[part]
            record[field] = tuple(map(_text, value)) if self._many[column] else _text(value)
        return record


def records(
    name: str, split: str, directory: str, columns: Mapping[str, str]
) -> Sequence[dict[str, Value]]:
    """The text columns of a split, the data set fetched and prepared if it is not there yet.

    name: "cmudict", "ding/sentences" or any TFDS name ("wmt14_translate/de-en"), or the path of a
    file (see `data.files`). split: as TFDS writes it, "train[:10%]" included. directory: of the
    TFDS data sets, "" for TFDS's default. columns: field -> column. Raises ConfigError for a name,
    split or column that does not exist and FetchError when the data cannot be fetched.
    """
    if files.is_path(name):
        return files.read(name, split, columns)
    builder = _builder(name, directory)
    features = builder.info.features
    for field, column in columns.items():
        if not _is_text(_feature(features, column)):
            raise ConfigError(
                f"data.fields.{field}: {name} has no text column {column!r}"
                + suggest(column, _text_columns(features), "its text columns are")
            )
    if not builder.info.splits:  # not on disk when the builder looked
        _prepare(builder, name, directory)
        builder = _builder(name, directory)
    known = list(builder.info.splits)
    if known and split.partition("[")[0] not in known and "+" not in split:
        raise ConfigError(
            f"data.splits: {name} has no split {split!r}" + suggest(split, known, "it has")
        )
    return Records(builder.as_data_source(split=split), columns)


def is_here(name: str, directory: str) -> bool:
    """Is the data set on this machine, so that `records` downloads nothing? A path always is.

    Raises ConfigError for a name that does not exist.
    """
    return files.is_path(name) or _builder(name, directory).is_prepared()


def _builder(name: str, directory: str) -> Any:
    options: dict[str, Any] = {"file_format": "array_record"}
    if directory:
        options["data_dir"] = str(Path(directory).expanduser())
    if is_own(name):
        return make(name, **options)
    # Older data sets are registered only when their subpackage is imported.
    import tensorflow_datasets.summarization
    import tensorflow_datasets.text
    import tensorflow_datasets.translate  # noqa: F401

    try:
        tfds.builder_cls(name.partition("/")[0])
    except DatasetNotFoundError:
        known = {*BUILDERS, *list_imported_builders()}
        raise ConfigError(
            f"data.source: there is no data set {name!r}"
            + files.hint(name)
            + suggest(name, known, "for example")
        ) from None
    return tfds.builder(name, **options)


def _prepare(builder: Any, name: str, directory: str) -> None:
    with _locked(Path(builder.data_dir_root), name):
        builder = _builder(name, directory)
        if builder.is_prepared():  # meanwhile, by another process
            return
        if not is_own(name):
            _check_network(name)
        builder.download_and_prepare(file_format="array_record")


def _check_network(name: str) -> None:
    """Without a network TFDS retries for minutes; say so at once instead."""
    try:
        urllib.request.urlopen(STORAGE, timeout=10).close()
    except urllib.error.HTTPError:
        pass  # an answer, if not a page: the network is there
    except OSError as error:
        raise FetchError(
            f"data.source: {name} is not on this machine and cannot be downloaded ({error}). "
            f"Choose a corpus that comes in a package ({', '.join(BUILDERS)}), or copy a prepared "
            "data set into the TFDS data directory (data.directory)."
        ) from None


@contextlib.contextmanager
def _locked(root: Path, name: str) -> Iterator[None]:
    """One process prepares a data set, the others wait for it."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / f".{name.replace('/', '-')}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_stored(stored: Any) -> bool:
    return type(stored).__module__.startswith("array_record")


def _feature(features: Any, column: str) -> Any:
    for part in column.split("/"):
        try:
            features = features[part]
        except (KeyError, TypeError):
            return None
    return features


def _text_columns(features: Any) -> list[str]:
    return [name for name in features if _is_text(features[name])]


def _is_text(feature: Any) -> bool:
    return isinstance(feature, tfds.features.Text) or _is_list(feature)


def _is_list(feature: Any) -> bool:
    """A column with any number of texts."""
    lists = isinstance(feature, tfds.features.Sequence)
    return lists and isinstance(feature.feature, tfds.features.Text)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
