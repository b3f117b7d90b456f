"""A finished run, opened from its directory alone."""

import functools
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from seqlab.build import resolve, trust
from seqlab.config import complete
from seqlab.data.dataset import Dataset
from seqlab.models.base import Model
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.directory import RunDirectory
from seqlab.train.evaluate import generate
from seqlab.train.parallel import put_replicated
from seqlab.train.programs import programs
from seqlab.train.size import abstract_params
from seqlab.train.writer import history, read


class Run:
    """What `load_run` gives back.

    config: the whole config. model, params: Flax module and float32 parameters (the moving average
    where one was kept). step: of the checkpoint they are from. status, environment, conventions:
    the run's files of these names.
    """

    def __init__(self, directory: RunDirectory, step: int | None, trusted: Iterable[str]) -> None:
        self._directory = directory
        self._trusted = tuple(trusted)
        self.path: Path = directory.path
        self.config: dict[str, Any] = complete(directory.config)
        self.status = directory.status
        self.environment = directory.environment
        self.conventions = directory.conventions
        with trust(self._trusted):
            layout = resolve(self.config["model"]["kind"], "model.kind").layout
            self._dataset = Dataset.for_prediction(self.config, directory.tokenizer, layout)
            vocabularies = self._dataset.source_vocab, self._dataset.target_vocab
            self.model: Model = programs(self.config, *vocabularies).model
        best = self.config["train"]["best"]
        checkpoints = Checkpoints.read_only(
            directory.checkpoints, best["metric"], best["direction"]
        )
        self.params, self.step = checkpoints.weights(abstract_params(self.model), step)

    @functools.cached_property
    def metrics(self) -> dict[str, dict[int, float]]:
        """Every metric by its full name: {"valid/loss": {100: 1.9, 200: 1.4}, ...}."""
        return history(read(self._directory.metrics))

    def predict(self, texts: Sequence[str], **decode: Any) -> list[str]:
        """What the model generates for each text, one for one and in order.

        An empty text gives an empty one. A text that is too long is cut, and an output that
        reaches `decode.max_length` without its end is cut: both are warned of, by number.
        decode: options of the config's `decode` to replace, such as method="beam", beam=8,
        length_penalty="gnmt:0.6". Raises ConfigError for others.
        """
        if isinstance(texts, str):
            raise TypeError("predict takes a list of texts; write predict([text])")
        wanted = {number for number, text in enumerate(texts) if text.strip()}
        prompts = self._dataset.prompts(list(texts))  # all of them: a warning names its line
        params = put_replicated(self.params)
        config = apply_overrides(self.config, {f"decode.{k}": v for k, v in decode.items()})
        with trust(self._trusted):
            chosen = programs(config, self._dataset.source_vocab, self._dataset.target_vocab)
            found, truncated = generate(chosen, params, self._dataset, prompts)
        cut = [number + 1 for number in sorted(wanted) if truncated[number]]
        if cut:
            warnings.warn(
                f"outputs {cut} have no end within decode.max_length = "
                f"{config['decode']['max_length']} tokens and are cut there",
                stacklevel=2,
            )
        return [found[number] if number in wanted else "" for number in range(len(texts))]

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, step {self.step})"


def load_run(path: str | Path, step: int | None = None, trusted: Iterable[str] = ()) -> Run:
    """Open the run in `path`: works in a fresh process, on any device, from the directory alone.

    step: which checkpoint (default: the best by the config's `train.best`). trusted: packages
    outside seqlab whose parts the run may import; a run directory may come from a stranger, so
    nothing else is imported and nothing is unpickled. Raises FileNotFoundError for a directory
    that is no run or has no such checkpoint, ConfigError for parts that cannot be built.
    """
    return Run(RunDirectory.open(path), step, trusted)
