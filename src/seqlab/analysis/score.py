"""Score a trained run anew: any split, other decoding options, a user's own file."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from seqlab.build import ConfigError, trust
from seqlab.data import files
from seqlab.data.dataset import Dataset
from seqlab.models.base import Model
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.conventions import conventions
from seqlab.train.devices.mesh import here
from seqlab.train.directory import RunDirectory
from seqlab.train.evaluate import all_scores
from seqlab.train.predictions import Prediction
from seqlab.train.programs import programs


@runtime_checkable
class Trained(Protocol):
    """What is needed of a run (`load_run` gives one)."""

    path: Path
    config: dict[str, Any]
    model: Model
    params: Any
    step: int


@dataclasses.dataclass(frozen=True)
class Scores:
    """metrics: as in the run's "test/..." rows, without the split. conventions: what they mean.
    counts: what reading the whole split met (truncated_source, unknown, ...). step: of the
    checkpoint. predictions: what was generated; [] where decode.method is "none"."""

    metrics: dict[str, float]
    conventions: dict[str, str]
    counts: dict[str, int]
    step: int
    predictions: list[Prediction]


def score(
    run: Trained,
    split: str = "test",
    *,
    source: str = "",
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    trusted: Iterable[str] = (),
    **decode: Any,
) -> Scores:
    """All metrics of the run's task on a split, computed now.

    split: "train", "valid" or "test". source: another corpus, as in `data.source`; of a .tsv or
    .jsonl file all rows are scored, as the test split. columns: its columns, "source", "target"
    and, for several valid targets, "references" (default: those of the run). limit: so many
    examples, 0 for all (default: as many as the run's tests). decode: options of the config's
    `decode` to replace. Raises ConfigError for what does not exist.
    """
    overrides = {f"decode.{key}": value for key, value in decode.items()}
    if limit is not None:
        overrides |= {"data.eval_examples": limit, "evaluate.examples": limit}
    with trust(trusted):
        config = apply_overrides(run.config, overrides)
        if source:
            config = _read_from(config, source, split, columns)
        tokenizers = RunDirectory.open(run.path).tokenizer
        dataset = Dataset.for_prediction(config, tokenizers, run.model.layout)
        if source and dataset.task.generated:
            raise ConfigError(f"source: {config['task']['kind']} makes its own examples")
        chosen = programs(config, dataset.source_vocab, dataset.target_vocab)
        params = here().replicate(run.params)
        metrics, predictions = all_scores(config, chosen, params, dataset, split)
        found = dataset.counts((split,))
        counts = {name.removeprefix(f"{split}_"): count for name, count in found.items()}
        meaning = conventions(config, dataset.task, dataset.records(split))
    return Scores(metrics, meaning, counts, run.step, predictions)


def _read_from(
    config: dict[str, Any], source: str, split: str, columns: Mapping[str, str] | None
) -> dict[str, Any]:
    """The config with another corpus, none of whose examples are filtered out."""
    overrides: dict[str, Any] = {"data.source": source, "data.filter": {}}
    if columns:
        overrides["data.fields"] = {side: columns[side] for side in ("source", "target")}
        if "references" in columns:
            overrides["task.references"] = columns["references"]
    path = Path(source).expanduser()
    if source.endswith(files.KINDS):
        if split != "test":
            raise ConfigError(f"split: {source} is scored whole, as the test split, not {split!r}")
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        # A folder has one file a split: this is its test split.
        overrides |= {"data.source": f"{path.parent}/", "data.splits": {"test": path.stem}}
    return apply_overrides(config, overrides)
