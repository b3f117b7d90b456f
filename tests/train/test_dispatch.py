"""Batches in dispatches: their order is that of the stream, whatever a dispatch holds."""

import numpy as np
import pytest

from seqlab.train.devices.mesh import Meshed
from seqlab.train.dispatch import Dispatches
from seqlab.train.source import dataset_of
from toys import COPY, config

OPTIONS = config(task={**COPY, "epoch_examples": 30}, data__buckets=(6, 10), train__batch=4)
DEVICES = Meshed(local=True)


@pytest.fixture
def stream():
    stream = dataset_of(OPTIONS).train_stream(shard=DEVICES.shard())
    yield stream
    stream.close()


def indices(dispatches, count, limit=99):
    """The example numbers of so many batches."""
    found = []
    while len(found) < count:
        batches, stacked = dispatches.next(min(limit, count - len(found)))
        assert stacked.inputs.shape[0] == dispatches._size
        np.testing.assert_array_equal(stacked.index[0, :4], batches[0].index)
        found += [batch.index.tolist() for batch in batches]
    return found


@pytest.fixture(scope="module")
def alone():
    stream = dataset_of(OPTIONS).train_stream(shard=DEVICES.shard())
    expected = [next(stream)[1].index.tolist() for _ in range(25)]
    stream.close()
    return expected


@pytest.mark.parametrize(("size", "limit"), [(1, 1), (3, 99), (8, 99), (8, 2)])
def test_the_order_does_not_depend_on_the_size(stream, alone, size, limit):
    assert indices(Dispatches(stream, size, DEVICES), 25, limit) == alone


@pytest.mark.parametrize("stop", [1, 4, 7, 8, 13])
def test_it_goes_on_from_its_state_in_the_middle_of_an_epoch(stream, alone, stop):
    """Also where a batch was read ahead that did not fit the dispatch."""
    first = Dispatches(stream, 8, DEVICES)
    assert indices(first, stop) == alone[:stop]
    fresh = dataset_of(OPTIONS).train_stream(shard=DEVICES.shard())
    fresh.restore(first.state())
    assert indices(Dispatches(fresh, 3, DEVICES), 25 - stop) == alone[stop:]
    fresh.close()


def test_a_dispatch_holds_one_bucket(stream):
    dispatches = Dispatches(stream, 8, DEVICES)
    for _ in range(6):
        batches, _ = dispatches.next(8)
        assert len({batch.inputs.shape for batch in batches}) == 1
