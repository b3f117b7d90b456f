"""What a run is on the devices of this process: restored to train on, and loaded to predict with.

    python restored.py CONFIG.json RUN OUT.npz [train]

With `train` it is trained here first.
"""

import sys
import warnings
from pathlib import Path

import jax
import numpy as np

import seqlab
from seqlab.config import from_json
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.loop import run
from seqlab.train.source import dataset_of
from seqlab.train.training import Training

TEXTS = ["a b", "c d a", "b", "", "d d d"]


def restored(config, directory):
    """{path in the state: values, "tokens": of predictions, "score": theirs, "step": the step}"""
    checkpoints = Checkpoints(Path(directory) / "checkpoints", writes=False)
    training = Training(config, dataset_of(config), checkpoints)
    step = training.restore()
    training.stream.close()
    checkpoints.close()
    devices = training.devices
    state = devices.host(devices.unload(training.state))
    named = {jax.tree_util.keystr(k): v for k, v in jax.tree_util.tree_leaves_with_path(state)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model that has learnt nothing does not end its outputs
        found = [best for [best] in seqlab.load_run(directory).hypotheses(TEXTS)]
    tokens = np.concatenate([each.tokens for each in found])
    scores = np.array([each.score for each in found])
    return {"step": step, "tokens": tokens, "scores": scores, **named}


def main(config, directory, out, *train):
    config = from_json(Path(config).read_text("utf-8"))
    if train:
        run(config, Path(directory), "saved")
    np.savez(out, **restored(config, directory))


if __name__ == "__main__":
    main(*sys.argv[1:])
