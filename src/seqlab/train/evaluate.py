"""Teacher-forced loss and free-running scores of a split."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from seqlab.data.dataset import Dataset
from seqlab.tasks.lengths import members
from seqlab.train.alignment import alignment
from seqlab.train.predictions import Prediction
from seqlab.train.programs import Programs


def teacher_forced(
    programs: Programs, params: Any, dataset: Dataset, split: str, limit: int | None = None
) -> dict[str, float]:
    """Mean loss a target token (nats, no smoothing), its exp, and token accuracy given the true
    prefix. Sums over the whole split divided once: batches and buckets do not matter."""
    return _means(example_sums(programs, params, dataset, split, limit))


def example_sums(
    programs: Programs, params: Any, dataset: Dataset, split: str, limit: int | None = None
) -> Float[np.ndarray, "R 3"]:
    """Summed loss (nats, no smoothing), correct tokens and tokens of every example of
    `dataset.records(split, limit)`, given the true prefix."""
    numbers, sums = [np.zeros(0, int)], [np.zeros((0, 3))]
    for _, batch in dataset.evaluation(split, limit):
        rows = np.asarray(programs.evaluate(params, programs.devices.put(batch)), np.float64)
        index = np.asarray(batch.index)
        numbers.append(index[index >= 0])
        sums.append(rows[: len(index)][index >= 0])
    return np.concatenate(sums)[np.argsort(np.concatenate(numbers))]


def loss_by_bin(sums: Float[np.ndarray, "R 3"], bins: Sequence[float | None]) -> dict[str, float]:
    """ "loss@15": nats a target token over the examples of each bin of `Task.bins`."""
    found = {middle: sums[numbers].sum(axis=0) for middle, numbers in members(bins).items()}
    return {f"loss@{middle:g}": nll / max(count, 1.0) for middle, (nll, _, count) in found.items()}


def free_running(
    programs: Programs, params: Any, dataset: Dataset, split: str, limit: int | None = None
) -> tuple[dict[str, float], list[Prediction]]:
    """The task's metrics on what the model generates by itself, how much of it was cut off, and
    the texts."""
    records = dataset.records(split, limit)
    texts, truncated = generate(programs, params, dataset, dataset.prompts(split, limit))
    hypotheses = [texts[index] for index in range(len(records))]
    scores = dataset.task.score(hypotheses, records)
    each = dataset.task.example_scores(hypotheses, records)
    predictions = [
        Prediction(number, record.source, text, tuple(record.references), truncated[number], score)
        for number, (record, text, score) in enumerate(zip(records, hypotheses, each, strict=True))
    ]
    counts = {"examples": float(len(records)), "truncated": float(sum(truncated.values()))}
    return {**scores, **counts}, predictions


def all_scores(
    config: Mapping[str, Any], programs: Programs, params: Any, dataset: Dataset, split: str
) -> tuple[dict[str, float], list[Prediction]]:
    """Everything that is known of a split, and the texts that were generated.

    Teacher-forced loss, by bin too, and alignment, over `data.eval_examples`; the free-running
    scores over `evaluate.examples`, unless `decode.method` is "none".
    """
    sums = example_sums(programs, params, dataset, split)
    scores = _means(sums) | loss_by_bin(sums, dataset.task.bins(dataset.records(split)))
    scores |= alignment(programs, params, dataset, split, by_length=True)
    if config["decode"]["method"] == "none":
        return scores, []
    limit = config["evaluate"]["examples"]
    found, predictions = free_running(programs, params, dataset, split, limit)
    return scores | found, predictions


def generate(
    programs: Programs, params: Any, dataset: Dataset, prompts: list
) -> tuple[dict[int, str], dict[int, bool]]:
    """Text and "was it cut at decode.max_length?" for every prompt, by its number."""
    texts: dict[int, str] = {}
    truncated: dict[int, bool] = {}
    for _, batch in prompts:
        out = jax.device_get(programs.decode(params, programs.devices.put(batch)))
        for row, index in enumerate(np.asarray(batch.index)):
            if index >= 0:
                texts[int(index)] = dataset.decode(out.tokens[row])
                truncated[int(index)] = bool(out.truncated[row])
    return texts, truncated


def _means(sums: Float[np.ndarray, "R 3"]) -> dict[str, float]:
    nll, right, tokens = sums.sum(axis=0).tolist()
    loss = nll / max(tokens, 1.0)
    return {
        "loss": loss,
        "perplexity": math.exp(min(loss, 700.0)),
        "token_accuracy": right / max(tokens, 1.0),
        "tokens": tokens,
    }
