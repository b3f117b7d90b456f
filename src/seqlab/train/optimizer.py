"""Optax chains whose numbers are traced."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax

from seqlab.build import ConfigError, suggest
from seqlab.train.hyper import Hyper
from seqlab.train.schedule import Schedule

NAMES = ("adam", "adamw", "sgd")


def optimizer(
    options: Mapping[str, Any], schedule: Schedule, hyper: Hyper
) -> optax.GradientTransformation:
    """clip -> adam / momentum -> weight decay (decoupled, matrices only) -> -schedule(step).

    options: `name` and b1, b2, eps (adam, adamw) or momentum (sgd). Only adamw decays. The state
    does not depend on `hyper`, so a new chain may be made at every trace. Raises ConfigError.
    """
    name = options["name"]
    if name not in NAMES:
        raise ConfigError(f"train.optimizer.name: {name!r} is unknown" + suggest(name, NAMES))
    parts = [optax.clip_by_global_norm(hyper.clip)]
    if name == "sgd":
        parts.append(optax.trace(decay=options["momentum"]))
    else:
        parts.append(optax.scale_by_adam(options["b1"], options["b2"], options["eps"]))
    if name == "adamw":
        parts.append(optax.add_decayed_weights(hyper.weight_decay, mask=matrices))
    parts.append(optax.scale_by_schedule(lambda count: -schedule(jnp.asarray(count) + 1.0, hyper)))
    return optax.chain(*parts)


def matrices(params: Any) -> Any:
    """True at weight matrices and embedding tables; False at biases, norms and other vectors.

    The parameters of scanned layers carry an axis of layers in front, which does not count.
    """

    def is_matrix(path: tuple, leaf: jax.Array) -> bool:
        stacked = any(getattr(key, "key", "").startswith("run_") for key in path)
        return leaf.ndim - stacked >= 2

    return jax.tree_util.tree_map_with_path(is_matrix, params)
