"""Does attention look at the word that is translated? Measured against gold alignments.

As in alignment evaluation (Och & Ney 2003), but with one gold position a word and the weights as
they are: no threshold, no symmetrisation.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.build import ConfigError
from seqlab.data.dataset import Dataset
from seqlab.tasks.base import Task
from seqlab.train.programs import Programs
from seqlab.types import Batch, HostArray


def alignment(
    programs: Programs, params: Any, dataset: Dataset, split: str, by_length: bool = False
) -> dict[str, float]:
    """Where cross-attention looked while the true target was predicted word by word (no EOS).

    alignment_accuracy: share of target words whose largest weight, averaged over heads, is at the
    gold source position. alignment_mass: mean weight there. Both of the layer with the highest
    accuracy; with several layers "alignment_accuracy@n" is that of layer n (from 1, bottom first),
    with by_length that of sources of n words in the best layer. {} for a task without gold
    alignments and for a model without attention to the source. Raises ConfigError where words and
    tokens differ.
    """
    if not (dataset.task.aligned and programs.attends):
        return {}
    golds = [dataset.task.alignment(record) for record in dataset.records(split)]
    tallies: dict[int, np.ndarray] = {}
    for _, batch in dataset.evaluation(split):
        weights = np.asarray(programs.attention(params, programs.devices.put(batch)))
        for row, number in enumerate(np.asarray(batch.index).tolist()):
            if number >= 0:
                check(golds[number], batch, row, f"{split} example {number}")
                tallies[number] = tally(weights[:, row], golds[number])
    return rates([tallies[number] for number in range(len(golds))], by_length)


def conventions(task: Task) -> dict[str, str]:
    """What the scores of `alignment` mean; {} for a task that has none."""
    if not task.aligned:
        return {}
    return {
        "alignment_accuracy": "share of target words (no EOS) whose largest attention weight, "
        "averaged over heads, is at the gold source position; teacher-forced, best layer",
        "alignment_mass": "mean attention weight at the gold source position, in the same layer",
    }


def tally(weights: Float[HostArray, "L T S"], gold: Sequence[int]) -> Float[np.ndarray, "L 3"]:
    """Right argmaxes, weight at the gold positions and words of one sentence, layer by layer."""
    words = np.arange(len(gold))
    rows = np.asarray(weights, np.float64)[:, : len(gold)]
    right = (rows.argmax(-1) == np.asarray(gold, int)).sum(-1)
    mass = rows[:, words, list(gold)].sum(-1)
    return np.stack([right, mass, np.full(len(rows), len(gold))], axis=-1).astype(np.float64)


def rates(tallies: Sequence[np.ndarray], by_length: bool = False) -> dict[str, float]:
    """The metrics of the tallies of all sentences."""
    right, mass, words = np.sum(tallies, axis=0).T
    accuracy, mass = right / np.maximum(words, 1), mass / np.maximum(words, 1)
    best = int(accuracy.argmax())
    found = {"alignment_accuracy": accuracy[best], "alignment_mass": mass[best]}
    if by_length:
        groups: dict[int, np.ndarray] = {}
        for each in tallies:
            length = int(each[best, 2])
            groups[length] = groups.get(length, np.zeros(3)) + each[best]
        series = {n: groups[n][0] / groups[n][2] for n in sorted(groups) if n}
    else:
        series = dict(enumerate(accuracy, 1)) if len(accuracy) > 1 else {}
    found |= {f"alignment_accuracy@{number}": value for number, value in series.items()}
    return {name: float(value) for name, value in found.items()}


def check(gold: Sequence[int], batch: Batch, row: int, where: str) -> None:
    """Raise ConfigError unless every word of the gold alignment is one token and EOS follows."""
    source = int(batch.source_mask[row].sum()) - 1
    target = int(batch.weights[row].sum()) - 1
    if len(gold) != target or max(gold, default=-1) >= source:
        raise ConfigError(
            f"task: {where} has gold alignments for {len(gold)} target words up to source word "
            f"{max(gold, default=-1) + 1}, but {target} target and {source} source tokens; use "
            "data.text.words.Words in data.tokenizer and a data.max_length that cuts nothing"
        )
