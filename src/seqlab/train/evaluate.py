"""Teacher-forced loss and free-running scores of a split."""

import math
from typing import Any

import jax
import numpy as np

from seqlab.data.dataset import Dataset
from seqlab.train.parallel import put_batch
from seqlab.train.programs import Programs


def teacher_forced(
    programs: Programs, params: Any, dataset: Dataset, split: str, limit: int | None = None
) -> dict[str, float]:
    """Mean loss a target token (nats, no smoothing), its exp, and token accuracy given the true
    prefix. Sums over the whole split divided once: batches and buckets do not matter."""
    total = np.zeros(4)
    for _, batch in dataset.evaluation(split, limit):
        total += np.asarray(programs.evaluate(params, put_batch(batch, rows=0)), np.float64)
    _, nll, right, tokens = total
    loss = nll / max(tokens, 1.0)
    return {
        "loss": loss,
        "perplexity": math.exp(min(loss, 700.0)),
        "token_accuracy": right / max(tokens, 1.0),
        "tokens": tokens,
    }


def free_running(
    programs: Programs, params: Any, dataset: Dataset, split: str, limit: int | None = None
) -> dict[str, float]:
    """The task's metrics on what the model generates by itself, and how much of it was cut off."""
    records = dataset.records(split, limit)
    texts, truncated = generate(programs, params, dataset, dataset.prompts(split, limit))
    hypotheses = [texts[index] for index in range(len(records))]
    scores = dataset.task.score(hypotheses, records)
    return {**scores, "examples": float(len(records)), "truncated": float(sum(truncated.values()))}


def generate(
    programs: Programs, params: Any, dataset: Dataset, prompts: list
) -> tuple[dict[int, str], dict[int, bool]]:
    """Text and "was it cut at decode.max_length?" for every prompt, by its number."""
    texts: dict[int, str] = {}
    truncated: dict[int, bool] = {}
    for _, batch in prompts:
        out = jax.device_get(programs.decode(params, put_batch(batch, rows=0)))
        for row, index in enumerate(np.asarray(batch.index)):
            if index >= 0:
                texts[int(index)] = dataset.decode(out.tokens[row])
                truncated[int(index)] = bool(out.truncated[row])
    return texts, truncated
