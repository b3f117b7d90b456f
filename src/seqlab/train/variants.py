"""The trained parameters in a changed model, e.g. with attention weights made uniform.

    evaluate.variants = (("uniform", "model.mixers.x.weights", "nn.weights.Uniform"),)

Scores are those of the split "test_uniform". Nothing is trained, so what is lost is what the
trained model used (the test of Wiegreffe & Pinter 2019 trains anew: that is a run of its own).
"""

import copy
from collections.abc import Mapping
from typing import Any

import jax

from seqlab.build import ConfigError
from seqlab.data.dataset import Dataset
from seqlab.train.assign import assign
from seqlab.train.devices.base import Devices
from seqlab.train.evaluate import all_scores
from seqlab.train.lengths import check_lengths
from seqlab.train.programs import programs
from seqlab.train.size import abstract_params, make_model


def variants(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The config of each variant by its name; several triples may share one."""
    found: dict[str, dict[str, Any]] = {}
    for name, key, value in config["evaluate"]["variants"]:
        changed = found.setdefault(name, copy.deepcopy(dict(config)))
        assign(changed, key, value)
    return found


def conventions(config: Mapping[str, Any]) -> dict[str, str]:
    """What was changed in each variant, in words."""
    changes: dict[str, list[str]] = {}
    for name, key, value in config["evaluate"]["variants"]:
        changes.setdefault(f"test_{name}", []).append(f"{key} = {value!r}")
    return {
        split: f"the trained parameters with {', '.join(each)}; nothing trained again"
        for split, each in changes.items()
    }


def check_variants(config: Mapping[str, Any], dataset: Dataset) -> None:
    """Raise ConfigError for a variant that needs parameters which the model does not have, or
    whose position encoding is too short."""
    vocabularies = dataset.source_vocab, dataset.target_vocab
    own: Any = None
    for name, changed in variants(config).items():
        own = own or abstract_params(make_model(config, *vocabularies))
        model = make_model(changed, *vocabularies)
        try:
            check_lengths(changed, model)
        except ConfigError as error:
            raise ConfigError(f"evaluate.variants: {name!r}: {error}") from None
        carried(own, abstract_params(model), name)


def variant_scores(
    config: Mapping[str, Any], params: Any, dataset: Dataset, devices: Devices
) -> dict[str, dict[str, float]]:
    """Test scores of `params` (global arrays) in every variant, by split ("test_uniform")."""
    found = {}
    for name, changed in variants(config).items():
        chosen = programs(changed, dataset.source_vocab, dataset.target_vocab, devices)
        own = devices.load(carried(params, abstract_params(chosen.model), name))
        found[f"test_{name}"] = all_scores(changed, chosen, own, dataset, "test")[0]
    return found


def carried(params: Any, wanted: Any, name: str) -> Any:
    """The parameters of the shapes `wanted`, taken by their names out of `params`; the others of
    `params` are ignored. Raises ConfigError for one that is missing or has another shape."""
    there = dict(jax.tree_util.tree_leaves_with_path(params))

    def take(path: tuple, leaf: Any) -> Any:
        found = there.get(path)
        if found is None or found.shape != leaf.shape:
            shape = "no such parameter" if found is None else f"shape {found.shape}"
            where = "/".join(str(key.key) for key in path)
            raise ConfigError(
                f"evaluate.variants: {name!r} needs the parameter {where} of shape {leaf.shape}; "
                f"the trained model has {shape}. Change only what has no parameters"
            )
        return found

    return jax.tree_util.tree_map_with_path(take, wanted)
