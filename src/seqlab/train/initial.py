"""Parameters to start from, out of another run."""

from pathlib import Path
from typing import Any

import jax

from seqlab.build import ConfigError
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.directory import RunDirectory


def initial_params(path: str, like: Any) -> Any:
    """The best weights of the run at `path`, which must have the shapes of `like`.

    Raises ConfigError naming `init_from` where there is no such run or its shapes differ.
    """
    try:
        run = RunDirectory.open(Path(path))
        best = run.config["train"]["best"]
        checkpoints = Checkpoints.read_only(run.checkpoints, best["metric"], best["direction"])
        params, _ = checkpoints.weights(like)
        checkpoints.close()
    except (FileNotFoundError, ValueError) as error:
        raise ConfigError(f"init_from: cannot start from {path!r}: {error}") from error
    for (where, new), old in zip(
        jax.tree_util.tree_leaves_with_path(params), jax.tree.leaves(like), strict=True
    ):
        if new.shape != old.shape:
            name = jax.tree_util.keystr(where)
            raise ConfigError(f"init_from: {name} has shape {new.shape}, the model {old.shape}")
    return params
