"""A finished run, opened from its directory alone."""

import functools
import importlib.metadata
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import pandas as pd
from matplotlib.figure import Figure

from seqlab.analysis import curves
from seqlab.analysis.attention import Attention, Reader
from seqlab.analysis.compare import Summary, compare, short_names
from seqlab.analysis.continuation import continued
from seqlab.analysis.generation import EMPTY, Hypothesis, compile_n_best, generate
from seqlab.analysis.heatmap import draw
from seqlab.analysis.score import Scores, score
from seqlab.build import resolve, trust
from seqlab.config import complete, to_json
from seqlab.data.dataset import Dataset
from seqlab.models.base import Model
from seqlab.sweep.overrides import apply_overrides
from seqlab.train import predictions
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.compiled import Compiled
from seqlab.train.devices.mesh import here
from seqlab.train.directory import RunDirectory
from seqlab.train.programs import programs
from seqlab.train.size import abstract_params
from seqlab.train.writer import history, read


class Run:
    """What `load_run` gives back.

    config: the whole config. model, params: Flax module and float32 parameters (the moving average
    where one was kept). step: of the checkpoint they are from. status, environment, conventions:
    the run's files of these names. trusted: packages outside seqlab that it may import.
    """

    def __init__(self, directory: RunDirectory, step: int | None, trusted: Iterable[str]) -> None:
        self._directory = directory
        self.trusted = tuple(trusted)
        self.path: Path = directory.path
        self.config: dict[str, Any] = complete(directory.config)
        self.status = directory.status
        self.environment = directory.environment
        self.conventions = directory.conventions
        with trust(self.trusted):
            layout = resolve(self.config["model"]["kind"], "model.kind").layout
            self._dataset = Dataset.for_prediction(self.config, directory.tokenizer, layout)
            vocabularies = self._dataset.source_vocab, self._dataset.target_vocab
            self.model: Model = programs(self.config, *vocabularies).model
        self._searches: dict[Any, Compiled] = {}
        best = self.config["train"]["best"]
        checkpoints = Checkpoints.read_only(
            directory.checkpoints, best["metric"], best["direction"]
        )
        self.params, self.step = checkpoints.weights(abstract_params(self.model), step)

    @functools.cached_property
    def metrics(self) -> dict[str, dict[int, float]]:
        """Every metric by its full name: {"valid/loss": {100: 1.9, 200: 1.4}, ...}."""
        return history(read(self._directory.metrics))

    @functools.cached_property
    def predictions(self) -> list[dict[str, Any]]:
        """What the run wrote at its last test, a dict an example: see `train/predictions.py`."""
        return predictions.load(self._directory.predictions)

    def score(self, split: str = "test", **options: Any) -> Scores:
        """All metrics of a split, computed now: see `seqlab.analysis.score.score`."""
        return score(self, split, trusted=self.trusted, **options)

    @overload
    def predict(self, texts: Sequence[str], *, batch: int = 0, **decode: Any) -> list[str]: ...

    @overload
    def predict(
        self, texts: Sequence[str], *, nbest: int, batch: int = 0, **decode: Any
    ) -> list[list[str]]: ...

    def predict(
        self, texts: Sequence[str], *, nbest: int | None = None, batch: int = 0, **decode: Any
    ) -> list[str] | list[list[str]]:
        """What the model generates for each text, one for one and in order.

        An empty text gives an empty one. A text that is too long is cut, and an output that
        reaches `decode.max_length` without its end is cut: both are warned of, by number.
        nbest: so many outputs of each text in a list, best first (of a beam search). batch: texts
        decoded at a time (0: `train.batch`). decode: options of the config's `decode` to replace,
        such as method="beam", beam=8, length_penalty="gnmt:0.6". Raises ConfigError for others.
        """
        count = 1 if nbest is None else nbest
        found = self.hypotheses(texts, nbest=count, batch=batch, **decode)
        if nbest is None:
            return [best.text for best, *_ in found]
        return [[each.text for each in ranked] for ranked in found]

    def hypotheses(
        self, texts: Sequence[str], *, nbest: int = 1, batch: int = 0, **decode: Any
    ) -> list[list[Hypothesis]]:
        """As `predict`, with scores and tokens: `nbest` hypotheses of each text, best first."""
        if isinstance(texts, str):
            raise TypeError("predict takes a list of texts; write predict([text])")
        wanted = {number for number, text in enumerate(texts) if text.strip()}
        config = apply_overrides(self.config, {f"decode.{k}": v for k, v in decode.items()})
        search = self._search(config, nbest)
        # All of them: a warning names its line.
        prompts = self._dataset.prompts(list(texts), batch=batch, unit="examples" if batch else "")
        found = generate(search, self._everywhere, self._dataset, prompts)
        cut = [n + 1 for n in sorted(wanted) if any(each.truncated for each in found[n])]
        if cut:
            warnings.warn(
                f"outputs {cut} have no end within decode.max_length = "
                f"{config['decode']['max_length']} tokens and are cut there",
                stacklevel=3,
            )
        return [found[n] if n in wanted else [EMPTY] * nbest for n in range(len(texts))]

    def sources(self, split: str, limit: int = 0) -> list[str]:
        """Source texts of a split of the run's data (0: all of them)."""
        with trust(self.trusted):
            return [record.source for record in self._dataset.records(split, limit)]

    def attention(self, source: str, target: str | None = None) -> Attention:
        """Where the model looks while it writes `target` (default: its own prediction).

        See `seqlab.analysis.attention`. Texts that are too long are cut, with a warning. Raises
        ConfigError for a model without attention.
        """
        if not source.strip():
            raise ValueError("attention: the source is empty")
        if target is None:
            [[best]] = self.hypotheses([source])
            ids = list(best.tokens)
            with warnings.catch_warnings():  # of a long source, which has just been told
                warnings.simplefilter("ignore")
                [(_, prompt)] = self._dataset.prompts([source], batch=1, unit="examples")
        else:
            ids = self._dataset.target(target)
            [(_, prompt)] = self._dataset.prompts([source], batch=1, unit="examples")
        return self._reader.read(self.params, prompt, ids)

    def plot_attention(
        self,
        source: str,
        target: str | None = None,
        part: str = "cross",
        layer: int | str = -1,
        head: int | str | None = None,
        renormalise: bool = False,
    ) -> Figure:
        """A heat map of `attention`: see `seqlab.analysis.heatmap.draw`."""
        return draw(self.attention(source, target), part, layer, head, renormalise)

    def plot_curves(
        self, *others: "Run", metrics: Sequence[str] = ("train/loss", "valid/loss")
    ) -> Figure:
        """Metrics by step, a panel each, of this run and others."""
        return curves.plot(self._named(others), metrics)

    def compare(self, *others: "Run") -> pd.DataFrame:
        """Config keys that differ, and last scores, side by side: a column a run."""
        return compare(self._named(others))

    def continue_training(
        self, steps: int, directory: str | Path, overrides: Mapping[str, Any] | None = None
    ) -> "Run":
        """Train `steps` more from these parameters, in a directory of its own: a new run.

        The optimiser, the schedule and the data stream start afresh. overrides: dotted config keys
        to change. The same call goes on where an interrupted one stopped. Raises ConfigError for a
        directory that holds anything else, or data whose tokenizers would differ from this run's.
        """
        with trust(self.trusted):
            path = continued(self.path, self.config, self._dataset, steps, directory, overrides)
        return load_run(path, trusted=self.trusted)

    @functools.cached_property
    def _reader(self) -> Reader:
        return Reader(self.model, self._dataset)

    @functools.cached_property
    def _everywhere(self) -> Any:
        return here().replicate(self.params)

    def _search(self, config: Mapping[str, Any], nbest: int) -> Compiled:
        with trust(self.trusted):
            if nbest == 1:  # greedy and samples, too
                chosen = programs(config, self._dataset.source_vocab, self._dataset.target_vocab)
                return chosen.decode
            key = to_json(config["decode"]), nbest
            if key not in self._searches:
                self._searches[key] = compile_n_best(self.model, config["decode"], nbest)
            return self._searches[key]

    def _named(self, others: Sequence["Run"]) -> dict[str, Summary]:
        """Runs by the shortest ends of their paths that tell them apart."""
        runs = [self, *others]
        names = short_names([run.path for run in runs])
        found = [Summary(run.config, run.step, run.metrics) for run in runs]
        return dict(zip(names, found, strict=True))

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, step {self.step})"


def load_run(path: str | Path, step: int | None = None, trusted: Iterable[str] = ()) -> Run:
    """Open the run in `path`: works in a fresh process, on any device, from the directory alone.

    step: which checkpoint (default: the best by the config's `train.best`). trusted: packages
    outside seqlab whose parts the run may import; a run directory may come from a stranger, so
    nothing else is imported and nothing is unpickled. Warns where JAX or Flax are of another minor
    version than the run's. Raises FileNotFoundError for a directory that is no run or has no such
    checkpoint, ConfigError for parts that cannot be built.
    """
    directory = RunDirectory.open(path)
    _compare_versions(directory.environment.get("versions", {}))
    return Run(directory, step, trusted)


def _compare_versions(recorded: Mapping[str, str]) -> None:
    for package in ("jax", "flax"):
        there, here = recorded.get(package), importlib.metadata.version(package)
        if there and there.split(".")[:2] != here.split(".")[:2]:
            warnings.warn(
                f"the run was trained with {package} {there}, {here} is installed: results may "
                "differ",
                stacklevel=3,
            )
