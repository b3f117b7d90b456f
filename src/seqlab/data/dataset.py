"""All the data of a run: the task's records, tokenizers, batches, and text again from ids."""

import functools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from seqlab.build import ConfigError, build, suggest
from seqlab.data import plan
from seqlab.data.encode import Examples, encode
from seqlab.data.layout import LAYOUTS, Layout
from seqlab.data.records import Record, choose
from seqlab.data.stream import Batches, Stream
from seqlab.data.text.base import EOS
from seqlab.data.vocabulary import Vocabularies
from seqlab.types import Batch, HostArray

SPLITS = ("train", "valid", "test")
HELD = 1 << 18  # records that are held in memory; more are read again when they are needed


class Dataset:
    """The three splits of a task in the layout of a model.

    config: the whole config as plain data. layout: "pair" (encoder-decoder) or "prefix"
    (decoder-only). Splits are read and encoded when first asked for.
    """

    def __init__(self, config: Mapping[str, Any], layout: str, vocabularies: Vocabularies):
        self._config = config
        self._data = config["data"]
        self._layout = _layout(layout)
        self._vocabularies = vocabularies
        self._records: dict[str, Sequence[Record]] = {}
        self._encoded: dict[str, Examples] = {}
        self.task = build(config["task"], "task")

    @classmethod
    def create(
        cls, config: Mapping[str, Any], layout: str, tokenizer_directory: Path | None = None
    ) -> "Dataset":
        """The data of a run. Tokenizers are fitted on the training texts, or loaded when given.

        Raises ConfigError naming the key for a config that does not fit, FetchError for data that
        cannot be had.
        """
        if tokenizer_directory is not None:
            return cls.for_prediction(config, tokenizer_directory, layout)
        task, data = build(config["task"], "task"), config["data"]
        records = _load(task, data, "train", config["seed"])
        texts = functools.partial(_texts, task, records)
        vocabularies = Vocabularies.fit(data, texts, _layout(layout).joint)
        dataset = cls(config, layout, vocabularies)
        dataset._records["train"] = records  # read once
        return dataset

    @classmethod
    def for_prediction(cls, config: Mapping[str, Any], directory: Path, layout: str) -> "Dataset":
        """With the saved tokenizers; reads no corpus until a split is asked for."""
        joint = _layout(layout).joint
        vocabularies = Vocabularies.load(Path(directory), config["data"], joint)
        return cls(config, layout, vocabularies)

    def save(self, directory: Path) -> None:
        """Write the tokenizers."""
        self._vocabularies.save(Path(directory))

    @property
    def source_vocab(self) -> int:
        """Number of ids of the source side (of the joint vocabulary in the prefix layout)."""
        return self._vocabularies.sizes[0]

    @property
    def target_vocab(self) -> int:
        """Number of ids of the target side (of the joint vocabulary in the prefix layout)."""
        return self._vocabularies.sizes[1]

    def records(self, split: str, limit: int | None = None) -> list[Record]:
        """Raw text of a split's examples (those that `data.filter` keeps).

        limit: so many of them, chosen once for all seeds; None: `data.eval_examples`; 0: all.
        """
        rows = self._examples(split).index[self._chosen(split, limit)]
        records = list(self._split(split))  # much faster than one by one
        return [records[row] for row in rows]

    def train_stream(
        self, batch: int = 0, unit: str = "", shard: plan.Shard = plan.WHOLE
    ) -> Stream:
        """Endless training batches, or a shard of each; batch and unit default to `train.batch`
        and `batch_unit`.

        Batch.index is the example's number in its split; generated examples are counted on from
        epoch to epoch.
        """
        size, unit = self._size(batch, unit)
        epochs = functools.partial(_same, self._examples("train"))
        if self.task.generated:
            epochs = functools.partial(
                _generated,
                self.task,
                self._vocabularies,
                self._data["max_length"],
                self._config["seed"],
            )
        seed, buckets = self._config["seed"], self._data["buckets"]
        batches = Batches(epochs, self._layout, buckets, size, unit, seed, shard)
        return Stream(batches, self._data["workers"])

    def evaluation(
        self, split: str, limit: int | None = None, batch: int = 0, unit: str = ""
    ) -> list[tuple[int, Batch]]:
        """(bucket, batch) pairs that hold each of `records(split, limit)` once.

        Batch.index is the number in that list.
        """
        examples = self._examples(split).select(self._chosen(split, limit))
        size, unit = self._size(batch, unit)
        buckets = plan.buckets_of(self._layout.lengths(examples), self._data["buckets"])
        return [
            (planned[0], plan.lay_out(self._layout, examples, planned, size, unit))
            for planned in plan.once(buckets, size, unit)
        ]

    def prompts(
        self,
        split_or_texts: str | Sequence[str],
        limit: int | None = None,
        batch: int = 0,
        unit: str = "",
    ) -> list[tuple[int, Batch]]:
        """What decoding starts from, for `records(split, limit)` or for a list of texts.

        Batch.index is the number in that list. A text that does not fit is cut, with a warning
        that names its line (counted from 1).
        """
        if isinstance(split_or_texts, str):
            chosen = self._chosen(split_or_texts, limit)
            examples = self._examples(split_or_texts).select(chosen)
        else:
            examples = self._read(split_or_texts)
        size, unit = self._size(batch, unit)
        buckets = plan.buckets_of(self._layout.prompt_lengths(examples), self._data["buckets"])
        return [
            (bucket, self._layout.prompt(examples, rows, bucket, plan.rows_in(bucket, size, unit)))
            for bucket, rows in plan.once(buckets, size, unit)
        ]

    def decode(self, ids: Iterable[int] | Int[HostArray, " T"]) -> str:
        """Text of one row of predicted ids, up to the first EOS."""
        return self._vocabularies.decode(ids)

    def target(self, text: str) -> list[int]:
        """The ids that the model should write for a text, EOS included.

        A text that does not fit is cut, without EOS, with a warning.
        """
        ids = [*self._vocabularies.target.encode(text), EOS]
        limit = self._data["max_length"]["target"]
        if len(ids) > limit:
            warnings.warn(
                f"the target has {len(ids)} tokens, only the first {limit} are read "
                "(data.max_length.target)",
                stacklevel=3,
            )
        return self._vocabularies.place(np.array(ids[:limit])).tolist()

    def pieces(self, ids: Iterable[int], side: str) -> list[str]:
        """How ids of the "source" or "target" are shown, one for one."""
        return self._vocabularies.pieces(ids, side)

    def reads_as(self, other: "Dataset") -> bool:
        """Has the other the same tokenizers, so that ids mean the same?"""
        return self._vocabularies == other._vocabularies

    def counts(self, splits: Sequence[str] = SPLITS) -> dict[str, int]:
        """What encoding met, by split: "train_truncated_target", "test_unknown", ..."""
        return {
            f"{split}_{name}": count
            for split in splits
            for name, count in self._examples(split).counts.items()
        }

    def longest(self) -> dict[str, int]:
        """Longest source and target (tokens, EOS included) and row of the layout, of any split."""
        splits = [self._examples(split) for split in SPLITS]
        return {
            "source": max(int(each.source.lengths.max(initial=0)) for each in splits),
            "target": max(int(each.target.lengths.max(initial=0)) for each in splits),
            "row": max(int(self._layout.lengths(each).max(initial=0)) for each in splits),
        }

    @functools.cache  # noqa: B019
    def baselines(self) -> dict[str, float]:
        """What simple models reach on the whole validation split."""
        return self.task.baselines(self._examples("train").target, self._examples("valid").target)

    def _size(self, batch: int, unit: str) -> tuple[int, str]:
        train = self._config["train"]
        return batch or train["batch"], unit or train["batch_unit"]

    def _chosen(self, split: str, limit: int | None) -> np.ndarray:
        count = self._data["eval_examples"] if limit is None else limit
        return choose(len(self._examples(split)), count)

    def _split(self, split: str) -> Sequence[Record]:
        if split not in SPLITS:
            raise ConfigError(f"split {split!r}" + suggest(split, SPLITS))
        if split not in self._records:
            self._records[split] = _load(self.task, self._data, split, self._config["seed"])
        return self._records[split]

    def _examples(self, split: str) -> Examples:
        keep = self._data["filter"]
        if keep and self.task.generated:
            raise ConfigError("data.filter: a generated task has its own lengths (task options)")
        if split not in self._encoded:
            self._encoded[split] = encode(
                self._split(split),
                self._vocabularies,
                self._data["max_length"],
                keep if split != "test" else {},
                training=split == "train",
            )
        return self._encoded[split]

    def _read(self, texts: Sequence[str]) -> Examples:
        limit = self._data["max_length"]["source"]
        for line, text in enumerate(texts, 1):
            length = len(self._vocabularies.source.encode(text)) + 1
            if length > limit:
                warnings.warn(
                    f"line {line} has {length} tokens, only the first {limit - 1} are read "
                    "(data.max_length.source)",
                    stacklevel=3,
                )
        records = (Record(text, "", ("",)) for text in texts)
        return encode(records, self._vocabularies, self._data["max_length"], {})


def _layout(name: str) -> Layout:
    if name not in LAYOUTS:
        raise ConfigError(f"layout {name!r}" + suggest(name, LAYOUTS))
    return LAYOUTS[name]


def _load(task: Any, data: Mapping[str, Any], split: str, seed: int) -> Sequence[Record]:
    """A split's records, in memory unless there are many."""
    if split == "train" and task.generated:
        return task.generate(seed, 0)
    records = task.load(data, split)
    return list(records) if len(records) <= HELD else records


def _texts(task: Any, records: Sequence[Record], side: str) -> Iterator[str]:
    """What the tokenizer of a side is fitted on."""
    if task.generated:
        return iter(task.alphabet())
    return (getattr(record, side) for record in records)


def _same(examples: Examples, epoch: int) -> Examples:
    """A corpus: every epoch has the same examples."""
    del epoch
    return examples


def _generated(
    task: Any, vocabularies: Vocabularies, max_length: Mapping[str, int], seed: int, epoch: int
) -> Examples:
    """A generated task: new examples every epoch."""
    records = task.generate(seed, epoch)
    first = epoch * len(records)
    return encode(records, vocabularies, max_length, {}, first=first, training=True)
