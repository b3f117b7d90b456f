"""jit = pmap: both ways of spreading a batch over the devices train to the same numbers."""

import jax

from seqlab.check.law import Found, Law, at_most
from seqlab.check.trial import Trial, largest_difference, losses

LIMIT = 1e-5
# Adam would blow up the rounding of gradients that are 0 in theory, such as those of a key's bias;
# with dropout every device of a pmap drops other units.
SETTINGS = {
    "train.optimizer": {"name": "sgd", "momentum": 0.9},
    "train.steps": 4,
    "train.lr": 0.1,
    "train.precision": "fp32",
    "train.eval_every": 4,
    "train.checkpoint_every": 4,
    "model.dropout": 0.0,
    "decode.method": "none",
}


def agree(trial: Trial) -> Found:
    """Four steps of SGD in float32, without dropout, on all devices: losses and parameters."""
    runs = {
        how: trial.train(trial.folder / how, {**SETTINGS, "train.parallel": how})
        for how in ("jit", "pmap")
    }
    one, other = losses(runs["jit"]), losses(runs["pmap"])
    off = max(abs(one[step] - other[step]) for step in one)
    moved = largest_difference(trial.load(runs["jit"]), trial.load(runs["pmap"]))
    found = at_most(max(off, moved), LIMIT)
    count = jax.device_count()
    return Found(found.holds, f"{found.measured}, {count} device{'s' * (count > 1)}")


LAW = Law(
    "jit = pmap",
    agree,
    "The loss or its gradient depends on how rows fall on devices. Something mixes the rows of a "
    "batch (batch statistics, a mean over axis 0), or a mean is taken where the step sums: "
    "losses are sums over target tokens, divided once (train/loss.py, train/step.py).",
)
