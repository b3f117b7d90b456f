"""A checkpoint read back by Orbax, onto whatever devices there are now."""

import contextlib
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import orbax.checkpoint.experimental.v1 as ocp
from absl import logging as absl_logging

from seqlab.train import processes
from seqlab.train.saved import DamagedError
from seqlab.train.state import TrainState


class WeightsAloneError(FileNotFoundError):
    """A checkpoint to load and to start from, but not to resume."""


def load_state(path: Path, like: TrainState) -> tuple[TrainState, dict[str, Any]]:
    """The state in a step's directory on the devices of `like`, and where the data stood.

    Raises WeightsAloneError for a checkpoint that holds no more, and Orbax's errors.
    """
    with quiet():
        metadata: Any = ocp.checkpointables_metadata(str(path))
    if "weights" in metadata.metadata and "training" not in metadata.metadata:
        raise WeightsAloneError(
            f"the checkpoint of step {path.name} in {path.parent} holds weights alone, from which "
            "training cannot be resumed; start a new run with init_from"
        )
    abstract = jax.tree.map(
        lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), like
    )
    weights: dict[str, Any] = {"params": abstract.params}
    if like.ema is not None:
        weights["ema"] = abstract.ema
    training = {"opt_state": abstract.opt_state, "step": abstract.step, "key": abstract.key}
    with quiet():
        items = ocp.load_checkpointables(str(path), {"weights": weights, "training": training})
    state = TrainState(
        step=items["training"]["step"],
        params=items["weights"]["params"],
        opt_state=items["training"]["opt_state"],
        ema=items["weights"].get("ema"),
        key=items["training"]["key"],
    )
    return state, metadata.custom_metadata["data"]


def load_weights(path: Path, params: Any) -> Any:
    """Parameters in a step's directory (the moving average where kept), on one device.

    params: a tree of the shapes and dtypes that are expected; weights that were saved in another
    dtype are cast. Raises Orbax's errors.
    """
    place = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    abstract = jax.tree.map(
        lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=place), params
    )
    with quiet():
        metadata: Any = ocp.checkpointables_metadata(str(path))
        wanted = dict.fromkeys(_names(metadata.metadata["weights"]), abstract)
        weights = ocp.load_checkpointables(str(path), {"weights": wanted})["weights"]
    return weights.get("ema", weights["params"])


def readable(sealed: bool, load: Callable[[], Any], step: int) -> Any:
    """What `load` gives. Where no checksums tell, a step that cannot be loaded is damaged."""
    try:
        return load()
    except WeightsAloneError:
        raise
    except Exception as error:
        if sealed:
            raise
        reason = textwrap.shorten(str(error), 200)  # Orbax has logged all of it
        raise DamagedError(f"step {step}: {type(error).__name__}: {reason}") from error


def agreed(read: Callable[[], Any]) -> Any:
    """What `read` gives, unless this process or another one of the run finds damage."""
    found, problem = None, ""
    try:
        found = read()
    except DamagedError as error:
        problem = str(error)
    if processes.any_of(bool(problem)):
        raise DamagedError(problem or "another process cannot read it")
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Orbax logs every file it touches; only its warnings are of interest here."""
    level = absl_logging.get_verbosity()
    absl_logging.set_verbosity(min(level, absl_logging.WARNING))
    try:
        yield
    finally:
        absl_logging.set_verbosity(level)


def _names(tree: Any) -> list[str]:
    return list(tree.keys() if hasattr(tree, "keys") else tree.tree.keys())
