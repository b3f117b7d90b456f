"""Checkpoints of a run: the latest and the best, by Orbax."""

import contextlib
import logging
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import orbax.checkpoint.experimental.v1 as ocp

from seqlab.train import processes
from seqlab.train.atomic import write_atomically
from seqlab.train.restoring import agreed, load_state, load_weights, quiet, readable
from seqlab.train.retention import Retention, Scores
from seqlab.train.saved import MARK, Saved
from seqlab.train.state import TrainState

log = logging.getLogger("seqlab")


class SaveError(RuntimeError):
    """A checkpoint could not be saved; the message names its step and directory."""


class Checkpoints:
    """Saved states of a run under `directory/<step>`.

    Two items a step, so that inference loads only its own: `weights` (params, and ema where kept)
    and `training` (optimizer state, step, key); where the data stream stands is in the metadata.
    keep: how many of the latest to keep, 0 or less: all; the one with the best `metric` is kept
    besides. Saving goes on in the background; the next `save`, `wait` or `close` raises SaveError
    when it went wrong. writes: only the process with True tidies the directory up; where several
    train a run, all of them call every method.
    """

    def __init__(
        self,
        directory: Path,
        keep: int = 1,
        metric: str = "",
        direction: str = "min",
        writes: bool = True,
    ) -> None:
        self.metric, self.writes = metric, writes
        self._saved = Saved(Path(directory).expanduser().resolve())
        self._saving, self._record = 0, {}
        self._scores = Scores.read(self._saved, metric, direction)
        self._retention = Retention(keep, self._scores)
        self._orbax = self._open()

    @classmethod
    def read_only(cls, directory: Path, metric: str, direction: str) -> "Checkpoints":
        """Checkpoints to load from; raises FileNotFoundError where there are none."""
        if not Path(directory).expanduser().is_dir():
            raise FileNotFoundError(f"{directory}: the run has no checkpoints")
        return cls(directory, 0, metric, direction, writes=False)

    def steps(self) -> list[int]:
        """Steps that are saved, ascending; one that is still being saved counts."""
        return sorted(checkpoint.step for checkpoint in self._orbax.checkpoints)

    def committed(self) -> int:
        """The latest step whose saving is complete, 0 where there is none; does not wait."""
        return max(self._saved.steps(), default=0)

    def best_step(self) -> int | None:
        """The step with the best metric; without metrics the latest; None where there is none."""
        return next(iter(self._scores.ranked(self.steps())), None)

    def save(
        self, state: TrainState, data: Mapping[str, Any], metrics: Mapping[str, float]
    ) -> None:
        """Save the state at its step; nothing is done when that step is there already."""
        self.wait()
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
        score = self._scores.note(step, metrics.get(self.metric))
        known = {} if score is None else {self.metric: score}
        self._saving, self._record = step, {"data": dict(data), "metrics": known}
        with self._loud():
            self._orbax.save_checkpointables_async(
                step, items, custom_metadata=self._record, force=True
            )

    def save_weights(self, params: Any, step: int) -> None:
        """Save parameters alone, to load and to start from but not to resume."""
        self._saving, self._record = step, {}
        with self._loud():
            self._orbax.save_checkpointables(step, {"weights": {"params": params}}, force=True)
        for mark in self._saved.directory.rglob(MARK):  # they name the path they were saved to
            write_atomically(mark, "Checkpoint commit was successful\n")

    def restore(self, like: TrainState, step: int | None = None) -> tuple[TrainState, dict]:
        """The state saved at `step` on the devices of `like`, and where the data stood.

        step: default the latest that can be read; damaged ones after it are told of and, where
        this process writes, renamed to `damaged-<step>`. Raises FileNotFoundError naming the steps
        there are, or for a checkpoint of weights alone; DamagedError where none can be read.
        """
        found = self._existing(step)
        if step is not None:
            return self._restore(like, found)
        latest = reversed(self.steps())
        found, restored, problems = self._saved.first(
            latest, lambda each: self._restore(like, each)
        )
        if problems:
            for damaged in problems if self.writes else ():
                self._saved.set_aside(damaged)
            processes.any_of(False)  # nobody looks before they are gone
            self._orbax.close()
            self._orbax = self._open()
            log.warning("%s; going on from step %d", self._saved.tell(problems), found)
        return restored

    def weights(self, params: Any, step: int | None = None) -> tuple[Any, int]:
        """Parameters for inference (the moving average where kept) and their step, on one device.

        params: a tree of the shapes and dtypes that are expected; weights that were saved in
        another dtype are cast. step: default the best that can be read, with a warning when that
        is not the best one. Raises FileNotFoundError as `restore`, and DamagedError.
        """
        found = self._existing(step)
        if step is not None:
            return self._weights(params, found), found
        ranked = self._scores.ranked(self.steps())
        found, weights, problems = self._saved.first(
            ranked, lambda each: self._weights(params, each)
        )
        if problems:
            warnings.warn(f"{self._saved.tell(problems)}; reading step {found}", stacklevel=2)
        return weights, found

    def wait(self) -> None:
        """Until nothing is being saved any more; raises SaveError for what went wrong."""
        with self._loud():
            self._orbax.wait()

    def close(self) -> None:
        """Wait, and let go of the directory."""
        with self._loud():
            self._orbax.close()

    def _open(self) -> Any:
        context = ocp.Context()
        # In the background, what cannot be created is only noticed after minutes.
        context.async_options.create_directories_asynchronously = False
        # Called in the background before the step gets its name, in spite of what it is called.
        context.async_options.post_finalization_callback = lambda: self._saved.seal(
            self._saving, self._record
        )
        with quiet():
            return ocp.training.Checkpointer(
                str(self._saved.directory),
                context=context,
                preservation_policy=self._retention,
                cleanup_tmp_directories=self.writes,
            )

    def _existing(self, step: int | None) -> int:
        self.wait()  # a step is listed from the moment its saving begins
        steps = self.steps()
        wanted = steps[-1] if step is None and steps else step
        if wanted not in steps:
            raise FileNotFoundError(
                f"no checkpoint of step {step} in {self._orbax.directory}; there are: {steps}"
            )
        return int(wanted)

    def _restore(self, like: TrainState, step: int) -> tuple[TrainState, dict[str, Any]]:
        path = self._saved.directory / str(step)
        sealed = agreed(lambda: self._saved.check(step))
        return agreed(lambda: readable(sealed, lambda: load_state(path, like), step))

    def _weights(self, params: Any, step: int) -> Any:
        path = self._saved.directory / str(step)
        sealed = self._saved.check(step, "weights")
        return readable(sealed, lambda: load_weights(path, params), step)

    @contextlib.contextmanager
    def _loud(self) -> Iterator[None]:
        """What goes wrong while saving names the step."""
        try:
            with quiet():
                yield
        except Exception as error:
            if self.writes:
                self._saved.drop_unfinished(self._saving)
            raise SaveError(
                f"step {self._saving} could not be saved to {self._saved.directory}: {error}"
            ) from error
