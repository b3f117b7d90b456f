"""How many parameters does a config have? Counted without computing any."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from seqlab.build import resolve
from seqlab.models.base import Model
from seqlab.train.source import dataset_of

DTYPES = {"fp32": "float32", "bf16": "bfloat16"}


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


def example_inputs(model: Model) -> dict[str, Any]:
    """Arguments of the smallest call that creates every parameter."""
    tokens, mask = jnp.zeros((1, 2), jnp.int32), jnp.ones((1, 2), bool)
    arguments: dict[str, Any] = {"inputs": tokens, "mask": mask}
    return arguments | ({"source": tokens, "source_mask": mask} if model.layout == "pair" else {})


def abstract_params(model: Model) -> Any:
    """Shapes and dtypes of a model's parameters."""
    return jax.eval_shape(lambda key: model.init(key, **example_inputs(model)), jax.random.key(0))[
        "params"
    ]


def count(params: Any) -> int:
    """Number of parameters in a tree of arrays or shapes."""
    return sum(leaf.size for leaf in jax.tree.leaves(params))


def parameters(config: Mapping[str, Any]) -> int:
    """Number of parameters of a config; the vocabulary is that of its data."""
    dataset = dataset_of(config)
    return count(abstract_params(make_model(config, dataset.source_vocab, dataset.target_vocab)))
