"""Checkpoints of a run: the latest and the best, by Orbax."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import orbax.checkpoint.experimental.v1 as ocp
from absl import logging as absl_logging

from seqlab.train.state import TrainState

Policies = ocp.training.preservation_policies


class Checkpoints:
    """Saved states of a run under `directory/<step>`.

    Two items a step, so that inference loads only its own: `weights` (params, and ema where kept)
    and `training` (optimizer state, step, key); where the data stream stands is in the metadata.
    keep: how many of the latest to keep, 0 or less: all; the one with the best `metric` is kept
    besides. Saving goes on in the background; `close` waits for it and raises what went wrong.
    """

    def __init__(
        self,
        directory: Path,
        keep: int = 1,
        metric: str = "",
        direction: str = "min",
        writes: bool = True,
    ) -> None:
        self.metric, self.direction = metric, direction
        best = Policies.BestN(
            get_metric_fn=lambda metrics: metrics[metric],
            reverse=direction == "min",
            n=1,
            keep_checkpoints_without_metrics=False,
        )
        latest = Policies.LatestN(keep if keep > 0 else None)
        either: Any = Policies.AnyPreservationPolicy([latest, best])
        with _quiet():
            self._orbax = ocp.training.Checkpointer(
                str(Path(directory).expanduser().resolve()),
                preservation_policy=either,
                cleanup_tmp_directories=writes,
            )

    @classmethod
    def read_only(cls, directory: Path, metric: str, direction: str) -> "Checkpoints":
        """Checkpoints to load from; raises FileNotFoundError where there are none."""
        if not Path(directory).expanduser().is_dir():
            raise FileNotFoundError(f"{directory}: the run has no checkpoints")
        return cls(directory, 0, metric, direction, writes=False)

    def steps(self) -> list[int]:
        """Steps that can be loaded, ascending."""
        return sorted(checkpoint.step for checkpoint in self._orbax.checkpoints)

    def best_step(self) -> int | None:
        """The step with the best metric; without metrics the latest; None where there is none."""
        saved: Any = self._orbax.checkpoints
        scored = [
            (checkpoint.metrics[self.metric], checkpoint.step)
            for checkpoint in saved
            if checkpoint.metrics and self.metric in checkpoint.metrics
        ]
        if not scored:
            return max(self.steps(), default=None)
        choose = min if self.direction == "min" else max
        best = choose(value for value, _ in scored)
        return max(step for value, step in scored if value == best)

    def save(
        self, state: TrainState, data: Mapping[str, Any], metrics: Mapping[str, float]
    ) -> None:
        """Save the state at its step; nothing is done when that step is there already."""
        step = int(state.step)
        if step in self.steps():
            return
        # A copy: training goes on and donates these very buffers to its next step.
        state = jax.tree.map(jnp.copy, state)
        weights = {"params": state.params}
        if state.ema is not None:
            weights["ema"] = state.ema
        items = {
            "weights": weights,
            "training": {"opt_state": state.opt_state, "step": state.step, "key": state.key},
        }
        known: Any = {self.metric: metrics[self.metric]} if self.metric in metrics else None
        with _quiet():
            self._orbax.save_checkpointables_async(
                step, items, metrics=known, custom_metadata={"data": dict(data)}, force=True
            )

    def save_weights(self, params: Any, step: int) -> None:
        """Save parameters alone, to load and to start from but not to resume."""
        with _quiet():
            self._orbax.save_checkpointables(step, {"weights": {"params": params}}, force=True)
        # Orbax looks whether these are there; their text only names the path they were saved to.
        for mark in Path(str(self._orbax.directory)).rglob("commit_success.txt"):
            mark.write_text("Checkpoint commit was successful\n", "utf-8")

    def restore(self, like: TrainState, step: int | None = None) -> tuple[TrainState, dict]:
        """The state saved at `step` (default: the latest) on the devices of `like`, and the data's.

        Raises FileNotFoundError naming the steps there are, or for a checkpoint of weights alone.
        """
        step = self._existing(step)
        with _quiet():
            metadata: Any = self._orbax.checkpointables_metadata(step)
        if "training" not in metadata.metadata:
            raise FileNotFoundError(
                f"the checkpoint of step {step} in {self._orbax.directory} holds weights alone, "
                "from which training cannot be resumed; start a new run with init_from"
            )
        abstract = jax.tree.map(
            lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), like
        )
        weights: dict[str, Any] = {"params": abstract.params}
        if like.ema is not None:
            weights["ema"] = abstract.ema
        training = {
            "opt_state": abstract.opt_state,
            "step": abstract.step,
            "key": abstract.key,
        }
        with _quiet():
            items = self._orbax.load_checkpointables(
                step, {"weights": weights, "training": training}
            )
        state = TrainState(
            step=items["training"]["step"],
            params=items["weights"]["params"],
            opt_state=items["training"]["opt_state"],
            ema=items["weights"].get("ema"),
            key=items["training"]["key"],
        )
        return state, metadata.custom_metadata["data"]

    def weights(self, params: Any, step: int | None = None) -> tuple[Any, int]:
        """Parameters for inference (the moving average where kept) and their step, on one device.

        params: a tree of the shapes and dtypes that are expected; weights that were saved in
        another dtype are cast. step: default the best.
        """
        step = self._existing(self.best_step() if step is None else step)
        place = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
        abstract = jax.tree.map(
            lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=place), params
        )
        with _quiet():
            saved = self._orbax.checkpointables_metadata(step).metadata["weights"]
            wanted = dict.fromkeys(_names(saved), abstract)
            items = self._orbax.load_checkpointables(step, {"weights": wanted})
        weights = items["weights"]
        return weights.get("ema", weights["params"]), step

    def wait(self) -> None:
        """Until nothing is being saved any more; raises what went wrong in the background."""
        with _quiet():
            self._orbax.wait()

    def close(self) -> None:
        """Wait, and let go of the directory."""
        with _quiet():
            self._orbax.close()

    def _existing(self, step: int | None) -> int:
        self.wait()  # a step is listed from the moment its saving begins
        steps = self.steps()
        wanted = steps[-1] if step is None and steps else step
        if wanted not in steps:
            raise FileNotFoundError(
                f"no checkpoint of step {step} in {self._orbax.directory}; there are: {steps}"
            )
        return int(wanted)


def _names(tree: Any) -> list[str]:
    return list(tree.keys() if hasattr(tree, "keys") else tree.tree.keys())


@contextlib.contextmanager
def _quiet():
    """Orbax logs every file it touches; only its warnings are of interest here."""
    level = absl_logging.get_verbosity()
    absl_logging.set_verbosity(min(level, absl_logging.WARNING))
    try:
        yield
    finally:
        absl_logging.set_verbosity(level)
