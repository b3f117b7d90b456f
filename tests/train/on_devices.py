"""Trains configs for 20 steps on the devices of this process, and saves losses and parameters.

python on_devices.py CONFIG.json OUT.npz [CONFIG.json OUT.npz ...]
"""

import sys
from pathlib import Path

import jax
import numpy as np

from seqlab.config import from_json
from seqlab.train.devices.choose import devices_of
from seqlab.train.dispatch import Dispatches
from seqlab.train.evaluate import teacher_forced
from seqlab.train.hyper import Hyper
from seqlab.train.programs import programs
from seqlab.train.source import dataset_of

STEPS = 20


def trained(config):
    """{"loss": [20], "empty": shards without a real token, "valid": loss, and the parameters}."""
    dataset = dataset_of(config)
    devices = devices_of(config)
    chosen = programs(config, dataset.source_vocab, dataset.target_vocab, devices)
    hyper = Hyper.of(config)
    state = devices.load(chosen.init(jax.random.key(config["seed"]), hyper))
    shard = devices.shard(config["train"]["accumulate"])
    stream = dataset.train_stream(shard=shard)
    dispatches = Dispatches(stream, config["train"]["steps_per_call"], devices)
    losses, empty = [], 0
    while len(losses) < STEPS:
        batches, stacked = dispatches.next(STEPS - len(losses))
        for batch in batches:
            parts = np.asarray(batch.weights).reshape(devices.count // devices.processes, -1)
            empty += int((parts.sum(axis=1) == 0).sum())
        state, metrics = chosen.train(state, stacked, np.int32(len(batches)), hyper)
        losses += np.asarray(metrics["loss"])[: len(batches)].tolist()
    stream.close()
    valid = teacher_forced(chosen, state.params, dataset, "valid")["loss"]
    params = devices.host(devices.unload(state.params))
    named = {jax.tree_util.keystr(k): v for k, v in jax.tree_util.tree_leaves_with_path(params)}
    return {"loss": losses, "empty": empty, "valid": valid, **named}


if __name__ == "__main__":
    for source, result in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        np.savez(result, **trained(from_json(Path(source).read_text("utf-8"))))
