"""The compiled programs of a config, shared by all runs that need the same ones."""

import dataclasses
import functools
import json
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from seqlab.data.text.base import EOS, PAD
from seqlab.decoding.greedy import Decoded
from seqlab.decoding.method import method
from seqlab.models.attention import attention_maps
from seqlab.models.base import Model
from seqlab.train.compiled import Compiled
from seqlab.train.devices.base import Devices
from seqlab.train.devices.mesh import here
from seqlab.train.hyper import Hyper
from seqlab.train.size import abstract_params, example_inputs, make_model
from seqlab.train.state import TrainState
from seqlab.train.step import Recipe, row_sums, train_step, train_steps
from seqlab.types import Batch


@dataclasses.dataclass(frozen=True)
class Programs:
    """A model, and its functions compiled for some devices.

    init(key, hyper) -> TrainState. train(state, batches, count, hyper) -> (state, metrics), the
    state donated. evaluate(params, batch) -> [B, 3], summed nll, correct tokens and tokens of each
    row. decode(params, prompts) -> Decoded. attention(params, batch) -> [L, B, T, S], the weights
    of every attention to the source, bottom first, averaged over heads; only where the model
    `attends`.
    """

    model: Model
    devices: Devices
    init: Compiled
    train: Compiled
    evaluate: Compiled
    decode: Compiled
    attention: Compiled

    @functools.cached_property
    def attends(self) -> bool:
        """Does the decoder attend to the source? Found without computing anything."""
        maps = functools.partial(attention_maps, self.model)
        found = jax.eval_shape(maps, abstract_params(self.model), **example_inputs(self.model))
        return any(each.part == "cross" for each in found)

    def compilations(self) -> tuple[int, float]:
        """How many there have been, and the seconds they took."""
        all_of_them = (self.init, self.train, self.evaluate, self.decode, self.attention)
        return sum(p.count for p in all_of_them), sum(p.seconds for p in all_of_them)


def programs(
    config: Mapping[str, Any],
    source_vocabulary: int,
    target_vocabulary: int,
    devices: Devices | None = None,
) -> Programs:
    """Those of a config; configs that differ only in traced numbers get the same object.

    devices: default those of this process, each with a copy of the parameters.
    """
    train = config["train"]
    decides = {
        "model": {**config["model"], "dropout": bool(config["model"]["dropout"])},
        "train": {
            **{key: train[key] for key in ("optimizer", "schedule", "accumulate", "precision")},
            "remat": train["remat"],
            "ema": bool(train["ema"]),
        },
        "vocabularies": [source_vocabulary, target_vocabulary],
        "decode": config["decode"],
    }
    return _programs(json.dumps(decides, sort_keys=True), devices or here())


@functools.lru_cache(maxsize=8)
def _programs(decides: str, devices: Devices) -> Programs:
    config = json.loads(decides)
    train = config["train"]
    model = make_model(config, *config["vocabularies"])
    recipe = Recipe(
        train["optimizer"], train["schedule"], train["accumulate"], train["ema"], devices.rows
    )
    step = functools.partial(train_step, model, recipe)

    def init(key: jax.Array, hyper: Hyper) -> TrainState:
        params_key, run_key = jax.random.split(key)
        params = model.init(params_key, **example_inputs(model))["params"]
        return TrainState.create(params, recipe.optimizer_for(hyper), run_key, recipe.ema)

    def evaluate(params: Any, batch: Batch) -> jax.Array:
        return row_sums(model, params, batch)

    generate = method(config["decode"], EOS, PAD)

    def decode(params: Any, prompts: Batch) -> Decoded:
        return generate(model, params, *read_by_decoding(prompts))

    def attention(params: Any, batch: Batch) -> jax.Array:
        maps = attention_maps(
            model,
            params,
            batch.inputs,
            batch.mask,
            source=batch.source,
            source_mask=batch.source_mask,
        )
        return jnp.stack([each.weights.mean(axis=1) for each in maps if each.part == "cross"])

    return Programs(
        model,
        devices,
        devices.init(init),
        devices.train(functools.partial(train_steps, step)),
        devices.read(evaluate),
        devices.read(decode),
        devices.read(attention, rows=1),
    )


def forget() -> None:
    """From now on every program is traced and compiled anew."""
    _programs.cache_clear()


def read_by_decoding(prompts: Batch) -> tuple[Any, ...]:
    """The fields of a prompt batch in the order in which `decoding.method` takes them."""
    pair = prompts.inputs, prompts.mask, prompts.source, prompts.source_mask
    return (*pair, prompts.index)
