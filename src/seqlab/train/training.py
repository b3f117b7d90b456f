"""The training loop: dispatches, evaluations and checkpoints in their order."""

import dataclasses
import os
import statistics
import time
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from seqlab.data.dataset import Dataset
from seqlab.train import interrupt, processes
from seqlab.train.alignment import alignment
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.devices.choose import devices_of
from seqlab.train.diagnose import first_nonfinite
from seqlab.train.directory import RunDirectory
from seqlab.train.dispatch import Dispatches
from seqlab.train.evaluate import all_scores, teacher_forced
from seqlab.train.gradient_norms import rows
from seqlab.train.hyper import Hyper
from seqlab.train.initial import initial_params
from seqlab.train.predictions import Prediction, save
from seqlab.train.programs import programs
from seqlab.train.state import TrainState
from seqlab.train.variants import variant_scores
from seqlab.train.writer import MetricsWriter, history, read
from seqlab.types import Batch

TELL_EVERY = 5.0  # seconds between two notes of progress in the status
PER_STEP = ("loss", "objective", "accuracy", "gradient_norm", "lr")


class Training:
    """The loop of one run. Its whole state is `state`, where the data stands, and `tokens`.

    With several processes each has one of these, and all do the same.
    """

    def __init__(self, config: dict[str, Any], dataset: Dataset, checkpoints: Checkpoints) -> None:
        self.config, self.dataset, self.checkpoints = config, dataset, checkpoints
        self.devices = devices_of(config)
        vocabularies = dataset.source_vocab, dataset.target_vocab
        self.programs = programs(config, *vocabularies, self.devices)
        self.compiled_before = self.programs.compilations()
        self.hyper = Hyper.of(config)
        state: TrainState = self.programs.init(jax.random.key(config["seed"]), self.hyper)
        if config["init_from"]:
            params = initial_params(config["init_from"], state.params)
            params = self.devices.place(params, state.params)
            state = dataclasses.replace(state, params=params)
        self.state = self.devices.load(state)
        self.stream = dataset.train_stream(shard=self.devices.shard(config["train"]["accumulate"]))
        self.step = 0
        self.tokens = 0.0  # target tokens trained on
        self.step_times: list[float] = []  # seconds, of dispatches that compiled nothing
        self.told = 0.0  # when the status was last told of the progress
        self.evaluated: dict[str, float] = {}  # of the current step

    def restore(self) -> int:
        """Go on from the latest checkpoint; returns its step, 0 where there is none."""
        if self.checkpoints.steps():
            state, data = self.checkpoints.restore(self.devices.unload(self.state))
            self.step = int(state.step)
            self.state = self.devices.load(state)
            self.stream.restore(data["stream"])
            self.tokens = data["tokens"]
        return self.step

    def run(self, directory: RunDirectory, writer: MetricsWriter, name: str) -> None:
        """Train to the end, or to the first step that is not finite.

        Raises Stopped, after saving, when this process or another one of the run was asked to stop.
        """
        train = self.config["train"]
        self.dispatches = Dispatches(self.stream, train["steps_per_call"], self.devices)
        bar = tqdm(
            total=train["steps"],
            initial=self.step,
            desc=name,
            unit="step",
            # The bars of the workers of a sweep would write over each other: they are told so.
            disable=not (train["progress"] and processes.writes()) or "TQDM_DISABLE" in os.environ,
            dynamic_ncols=True,
        )
        try:
            with bar:
                while self.step < train["steps"]:
                    failed = self._dispatch(writer, bar)
                    if failed is not None:
                        self._diverged(directory, writer, failed)
                        break
                    self._pause(directory, writer)
                    self._tell(directory)
                    if self._stops_early(directory):
                        directory.update(stopped_early=True)
                        break
                    if processes.any_of(interrupt.asked()):
                        self._stop(directory)
            self._finish(directory, writer)
        finally:
            self.stream.close()

    def _dispatch(self, writer: MetricsWriter, bar: tqdm) -> Batch | None:
        """Train up to the next pause; returns the batch whose step was not finite, if any."""
        batches, stacked = self.dispatches.next(self._next_pause() - self.step)
        count = np.int32(len(batches))
        warm = self.programs.train.ready(self.state, stacked, count, self.hyper)
        start = time.perf_counter()
        self.state, metrics = self.programs.train(self.state, stacked, count, self.hyper)
        metrics = jax.device_get(metrics)
        seconds = (time.perf_counter() - start) / len(batches)
        if warm:
            self.step_times.append(seconds)
        done = int(metrics["finite"][: len(batches)].sum())
        layers = {key: value for key, value in metrics.items() if key.startswith("gradient_norm/")}
        for index in range(done):
            self.step += 1
            row = {key: float(metrics[key][index]) for key in PER_STEP}
            if self.step == 1 or self._is_evaluation(self.step):
                for key, value in layers.items():
                    row |= rows(key, value[index])
            writer.write(self.step, "train", row)
        self.tokens += float(metrics["tokens"][:done].sum())
        bar.update(done)
        rate = metrics["tokens"][: len(batches)].mean() / seconds
        bar.set_postfix_str(f"loss {metrics['loss'][max(done - 1, 0)]:.3f}, {rate:,.0f} tokens/s")
        return batches[done] if done < len(batches) else None

    def _next_pause(self) -> int:
        """The next step after which something else than training is to be done."""
        train = self.config["train"]
        ends = [train["steps"], *(at for at in self.config["evaluate"]["at"] if at > self.step)]
        for every in (train["eval_every"], train["checkpoint_every"]):
            if every:
                ends.append((self.step // every + 1) * every)
        return min(ends)

    def _is_evaluation(self, step: int) -> bool:
        every = self.config["train"]["eval_every"]
        return step == self.config["train"]["steps"] or bool(every and step % every == 0)

    def _pause(self, directory: RunDirectory, writer: MetricsWriter) -> None:
        """Evaluate and save, where this step is one for it."""
        train, step = self.config["train"], self.step
        self.evaluated = {}
        if self._is_evaluation(step):
            scores = teacher_forced(self.programs, self.weights, self.dataset, "valid")
            scores |= alignment(self.programs, self.weights, self.dataset, "valid")
            writer.write(step, "valid", scores)
            self.evaluated = {f"valid/{key}": value for key, value in scores.items()}
        if step in self.config["evaluate"]["at"] and step != train["steps"]:
            self._test(writer)
        every = train["checkpoint_every"]
        if step == train["steps"] or (every and step % every == 0):
            self._save()
            directory.update(step=step, saved=self.checkpoints.committed())

    def _save(self) -> None:
        data = {"stream": self.dispatches.state(), "tokens": self.tokens}
        self.checkpoints.save(self.devices.unload(self.state), data, self.evaluated)

    def _stop(self, directory: RunDirectory) -> None:
        self._save()  # nothing to do where this step has been saved
        self.checkpoints.wait()
        directory.update(step=self.step, saved=self.checkpoints.committed())
        raise interrupt.Stopped

    def _tell(self, directory: RunDirectory) -> None:
        """Note how far the run is, for whoever watches, but not so often that it costs time."""
        if time.monotonic() - self.told > TELL_EVERY and self.step_times:
            self.told = time.monotonic()
            median = statistics.median(self.step_times[-20:])
            directory.update(step=self.step, progress={"time": time.time(), "step_time": median})

    @property
    def weights(self) -> Any:
        """What is evaluated: the moving average where one is kept."""
        return self.state.params if self.state.ema is None else self.state.ema

    def _test(self, writer: MetricsWriter) -> list[Prediction]:
        """Write the test scores; returns the texts they are of."""
        scores, predictions = all_scores(
            self.config, self.programs, self.weights, self.dataset, "test"
        )
        writer.write(self.step, "test", scores)
        return predictions

    def _finish(self, directory: RunDirectory, writer: MetricsWriter) -> None:
        """Test scores of the last step and of the variants, the texts, and what the run cost."""
        predictions = self._test(writer)
        if predictions and processes.writes():
            save(directory.predictions, predictions)
        weights = self.devices.unload(self.weights)
        changed = variant_scores(self.config, weights, self.dataset, self.devices)
        for split, scores in changed.items():
            writer.write(self.step, split, scores)
        count, seconds = self.programs.compilations()
        cost = {
            "tokens": self.tokens,
            "compilations": count - self.compiled_before[0],
            "compile_time": seconds - self.compiled_before[1],
        }
        if self.step_times:
            cost["step_time"] = statistics.median(self.step_times)
        writer.write(self.step, "train", cost)

    def _stops_early(self, directory: RunDirectory) -> bool:
        """Has the best metric not improved for `early_stop` evaluations?"""
        patience, best = self.config["train"]["early_stop"], self.config["train"]["best"]
        if not patience or not self.evaluated:
            return False
        ends = False
        if processes.writes():
            values = list(history(read(directory.metrics)).get(best["metric"], {}).values())
            sign = 1 if best["direction"] == "min" else -1
            scores = [sign * value for value in values]
            ends = len(scores) > patience and min(scores[-patience:]) >= min(scores[:-patience])
        return processes.any_of(ends)

    def _diverged(self, directory: RunDirectory, writer: MetricsWriter, batch: Batch) -> None:
        """Say which step and layer; the state is still the one before that step."""
        step = self.step + 1
        params = self.devices.host(self.devices.unload(self.state.params))
        layer = first_nonfinite(self.programs.model, params, self.devices.gather(batch))
        writer.write(step, "train", {"loss": float("nan")})
        directory.update(step=self.step, diverged={"step": step, "layer": layer})
        if processes.writes():
            tqdm.write(f"{directory.path.name}: not finite at step {step}, first in: {layer}")
