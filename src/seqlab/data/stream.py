"""The training stream: an endless sequence of batches that stops and resumes anywhere.

Batch number i is a pure function of (seed, i), so the state of the stream is one number, whatever
the workers do: a run may go on with another number of workers and gets the same batches. Grain
reads ahead, in a thread or in worker processes.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import grain
from absl import flags

from seqlab.build import ConfigError
from seqlab.data import plan
from seqlab.data.encode import Examples
from seqlab.data.layout import Layout
from seqlab.types import Batch

END = 2**31 - 1  # batches a stream can give
READ_AHEAD = 16  # batches


class Batches:
    """Batch i of a run as a pure function. examples: epoch -> its examples, all epochs alike.

    Alike: as many examples in every bucket, so that every epoch has as many batches. shard: the
    rows of each batch that are made here; numbers and order are the same for all shards.
    """

    def __init__(
        self,
        examples: Callable[[int], Examples],
        layout: Layout,
        buckets: Sequence[int],
        batch: int,
        unit: str,
        seed: int,
        shard: plan.Shard = plan.WHOLE,
    ):
        self._examples = examples
        self._layout = layout
        self._buckets = tuple(buckets)
        self._batch = batch
        self._unit = unit
        self._seed = seed
        self._shard = shard
        self._epochs: dict[int, tuple[Examples, list[plan.Planned]]] = {}
        self.per_epoch = len(self._epoch(0)[1])
        if not self.per_epoch:
            raise ConfigError("data: no training examples are left; see data.filter")

    def __getitem__(self, number: int) -> tuple[int, Batch]:
        """(bucket, batch) number i."""
        epoch, place = divmod(number, self.per_epoch)
        examples, batches = self._epoch(epoch)
        planned = batches[place]
        size, unit = self._batch, self._unit
        return planned[0], plan.lay_out(self._layout, examples, planned, size, unit, self._shard)

    def fingerprint(self) -> dict[str, Any]:
        """What the meaning of a batch number depends on."""
        examples, _ = self._epoch(0)
        content = hashlib.sha256()
        for ragged in (examples.source, examples.target):
            content.update(ragged.tokens.tobytes())
            content.update(ragged.offsets.tobytes())
        return {
            "seed": self._seed,
            "train.batch": self._batch,
            "train.batch_unit": self._unit,
            "data.buckets": list(self._buckets),
            "training examples": f"{len(examples)}, sha256 {content.hexdigest()[:16]}",
        }

    def _epoch(self, number: int) -> tuple[Examples, list[plan.Planned]]:
        if number not in self._epochs:
            examples = self._examples(number)
            buckets = plan.buckets_of(self._layout.lengths(examples), self._buckets)
            batches = plan.epoch(buckets, self._batch, self._unit, (self._seed, number))
            if number and len(batches) != self.per_epoch:
                raise ConfigError(
                    f"data.tokenizer: generated epoch {number} has {len(batches)} batches, the "
                    f"first one {self.per_epoch}; use a tokenizer that gives a symbol one token"
                )
            # Read-ahead crosses the end of an epoch: the one before may still be asked for.
            kept = {old: epoch for old, epoch in self._epochs.items() if old == number - 1}
            self._epochs = {**kept, number: (examples, batches)}
        return self._epochs[number]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_epochs": {}}  # a worker process plans for itself


class Stream(Iterator[tuple[int, Batch]]):
    """Iterator over (bucket, numpy Batch) with an exact, JSON-able state.

    workers: processes that make batches (0: a thread). With workers, scripts need the usual
    `if __name__ == "__main__"` guard.
    """

    def __init__(self, batches: Batches, workers: int = 0):
        self._batches = batches
        self._workers = workers
        self._fingerprint = batches.fingerprint()
        self._next = 0
        self._iterator: Any = None

    def __next__(self) -> tuple[int, Batch]:
        if self._iterator is None:
            self._iterator = self._read_from(self._next)
        bucket, batch = next(self._iterator)
        self._next += 1
        return int(bucket), batch

    @property
    def per_epoch(self) -> int:
        """Batches of an epoch."""
        return self._batches.per_epoch

    def state(self) -> dict[str, Any]:
        """What `restore` needs to go on with the next batch."""
        return {"next": self._next, "of": self._fingerprint}

    def restore(self, state: dict[str, Any]) -> "Stream":
        """Go on where a stream of this state would.

        Raises ConfigError naming what has changed since: another batch size, seed or corpus gives
        other batches under the same numbers.
        """
        for key, value in self._fingerprint.items():
            if state["of"][key] != value:
                raise ConfigError(
                    f"{key}: the run was started with {state['of'][key]} and cannot go on with "
                    f"{value}; set it back, or start a new run"
                )
        self.close()
        self._next = state["next"]
        return self

    def close(self) -> None:
        """Stop reading ahead."""
        if self._iterator is not None:
            self._iterator.close()
            self._iterator = None

    def _read_from(self, start: int) -> Any:
        numbers = grain.MapDataset.range(start, END)
        options = grain.ReadOptions(num_threads=1, prefetch_buffer_size=READ_AHEAD)
        dataset = numbers.map(self._batches.__getitem__).to_iter_dataset(options)
        if self._workers:
            if not flags.FLAGS.is_parsed():  # Grain reads flags, which a notebook never parses
                flags.FLAGS.mark_as_parsed()
            dataset = dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers=self._workers))
        return iter(dataset)
