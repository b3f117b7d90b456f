"""What a run generates, with scores: one hypothesis a prompt, or the N best."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from seqlab.data.dataset import Dataset
from seqlab.data.text.base import EOS, PAD
from seqlab.decoding.method import n_best
from seqlab.models.base import Model
from seqlab.train.compiled import Compiled
from seqlab.train.devices.mesh import here
from seqlab.train.programs import read_by_decoding


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """One output. tokens: the model's ids, EOS included. truncated: it has no EOS.

    score: sum of the log probabilities of its tokens, of a beam search divided by its length
    penalty; -inf (and no text) where the search found fewer hypotheses than were asked for.
    """

    text: str
    score: float
    tokens: tuple[int, ...]
    truncated: bool


EMPTY = Hypothesis("", 0.0, (), False)  # the output for an empty text, which is not decoded


def compile_n_best(model: Model, options: Mapping[str, Any], count: int) -> Compiled:
    """decode(params, prompts) -> Beams, the `count` best. Raises ConfigError as `n_best` does."""
    search = n_best(options, EOS, PAD, count)

    def decode(params: Any, prompts: Any) -> Any:
        return search(model, params, *read_by_decoding(prompts))

    return here().read(decode)


def generate(
    decode: Callable[..., Any], params: Any, dataset: Dataset, prompts: list
) -> dict[int, list[Hypothesis]]:
    """Hypotheses of every prompt, best first, by its number.

    decode(params, prompts) -> Decoded (one a prompt) or Beams (several).
    """
    found: dict[int, list[Hypothesis]] = {}
    for _, batch in prompts:
        out = jax.device_get(decode(params, here().put(batch)))
        for row, number in enumerate(np.asarray(batch.index)):
            if number < 0:
                continue
            ranked = zip(
                np.atleast_2d(out.tokens[row]),
                np.atleast_1d(out.score[row]),
                np.atleast_1d(out.truncated[row]),
                strict=True,
            )
            found[int(number)] = [_hypothesis(dataset, *each) for each in ranked]
    return found


def _hypothesis(dataset: Dataset, tokens: np.ndarray, score: Any, truncated: Any) -> Hypothesis:
    ids = tokens.tolist()
    if not np.isfinite(score):
        return Hypothesis("", float("-inf"), (), False)
    if EOS in ids:
        ids = ids[: ids.index(EOS) + 1]
    return Hypothesis(dataset.decode(ids), float(score), tuple(ids), bool(truncated))
