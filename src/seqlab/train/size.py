"""How large is a config's model, and what does a forward pass cost? Counted, not computed."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from seqlab.build import ConfigError, resolve
from seqlab.config import from_json, to_json
from seqlab.models.base import Model
from seqlab.train.flops import flops
from seqlab.train.source import dataset_of

DTYPES = {"fp32": "float32", "bf16": "bfloat16"}
COUNTS = ("parameters", "flops")  # what a budget may set
TABLE = 10_007  # a vocabulary that no other axis is as long as: what has this axis is a table


@dataclasses.dataclass(frozen=True)
class Size:
    """Without embeddings: without the tables of the vocabularies, at the input and the output.

    flops: of a forward pass over one pair of the longest source and target (`data.max_length`).
    """

    width: int
    parameters: int
    parameters_without_embeddings: int
    flops: int


def make_model(config: Mapping[str, Any], source_vocabulary: int, target_vocabulary: int) -> Model:
    """The model of a whole config, for vocabularies of these sizes."""
    kind = resolve(config["model"]["kind"], "model.kind")
    train = config["train"]
    return kind.from_config(
        config["model"],
        source_vocabulary,
        target_vocabulary,
        dtype=DTYPES[train["precision"]],
        remat=train["remat"],
    )


def example_inputs(model: Model, source: int = 2, target: int = 2) -> dict[str, Any]:
    """Arguments of a call on one pair of these lengths, which creates every parameter."""
    pair = model.layout == "pair"
    given = {"inputs": target if pair else source + target} | ({"source": source} if pair else {})
    tokens = {name: jnp.zeros((1, length), jnp.int32) for name, length in given.items()}
    masks = {"inputs": "mask", "source": "source_mask"}
    return tokens | {masks[name]: jnp.ones((1, length), bool) for name, length in given.items()}


def abstract_params(model: Model) -> Any:
    """Shapes and dtypes of a model's parameters."""
    return jax.eval_shape(lambda key: model.init(key, **example_inputs(model)), jax.random.key(0))[
        "params"
    ]


def count(params: Any, without: int | None = None) -> int:
    """Number of parameters in a tree of arrays or shapes, except those with an axis of a length."""
    return sum(leaf.size for leaf in jax.tree.leaves(params) if without not in leaf.shape)


def forward_flops(model: Model, source: int, target: int, without: int | None = None) -> int:
    """Of the logits of one pair of these lengths in tokens; what counts: see flops.py."""

    def logits(params: Any, inputs: Mapping[str, Any]) -> jax.Array:
        return model.apply({"params": params}, **inputs)[0]

    inputs = example_inputs(model, source, target)
    return flops(logits, abstract_params(model), inputs, without=without)


def size(config: Mapping[str, Any]) -> Size:
    """The size of a config's model; the vocabularies are those of its data."""
    return Size(
        width=config["model"]["width"],
        parameters=_counted(config, "parameters", True),
        parameters_without_embeddings=_counted(config, "parameters", False),
        flops=_counted(config, "flops", True),
    )


def wanted(config: Mapping[str, Any]) -> tuple[str, int]:
    """What the config's budget limits, one of COUNTS, and to how many; 0 where it has none."""
    budget = config["budget"]
    return max(((name, budget[name]) for name in COUNTS), key=lambda pair: pair[1])


def budgeted(config: Mapping[str, Any]) -> int:
    """The count that the config's budget is about. Only with embeddings it needs the data."""
    return _counted(config, wanted(config)[0], config["budget"]["embeddings"])


def check_budget(config: Mapping[str, Any]) -> None:
    """Raise ConfigError where the model does not keep to its budget: it was not fitted."""
    name, limit = wanted(config)
    if limit and abs(budgeted(config) - limit) > config["budget"]["tolerance"] * limit:
        raise ConfigError(
            f"config.budget.{name}: asks for {limit:,}, the model of width "
            f"{config['model']['width']} has {budgeted(config):,}; launch.py fits it, in Python "
            "seqlab.sweep.budget.fitted(config)"
        )


def _counted(config: Mapping[str, Any], name: str, embeddings: bool) -> int:
    decides = {
        "model": {**config["model"], "dropout": 0.0},
        "train": {key: config["train"][key] for key in ("precision", "remat")},
        "lengths": config["data"]["max_length"] if name == "flops" else {},
    }
    if not embeddings:
        return _count_for(to_json(decides), name, TABLE, TABLE, without=TABLE)
    dataset = dataset_of(config)
    return _count_for(to_json(decides), name, dataset.source_vocab, dataset.target_vocab)


@functools.lru_cache(maxsize=1024)
def _count_for(
    decides: str,
    name: str,
    source_vocabulary: int,
    target_vocabulary: int,
    without: int | None = None,
) -> int:
    config = from_json(decides)
    model = make_model(config, source_vocabulary, target_vocabulary)
    if name == "flops":
        return forward_flops(model, **config["lengths"], without=without)
    return count(abstract_params(model), without)
