"""The stream stops anywhere and goes on exactly, whatever the number of workers."""

import itertools
import json

import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.data.dataset import Dataset

REVERSE = {"kind": "tasks.probes.copying.Reverse", "train_max": 5, "epoch_examples": 30}
WORDS = dict.fromkeys(("source", "target"), "data.text.words.Words")


def take(stream, count):
    return [
        (bucket, batch.index.tolist(), batch.inputs.tolist())
        for bucket, batch in itertools.islice(stream, count)
    ]


@pytest.fixture(params=["corpus", "generated"])
def config(request, make_config, corpus):
    if request.param == "corpus":
        return make_config(corpus)
    return make_config(REVERSE, {"tokenizer": WORDS})


def test_resumes_exactly_in_mid_epoch_at_its_end_and_beyond(config):
    data = Dataset.create(config, "prefix")
    length = data.train_stream().per_epoch
    straight = take(data.train_stream(), 2 * length + 9)
    for stop in (0, 1, 7, length, length + 3):
        stream = data.train_stream()
        assert take(stream, stop) == straight[:stop]
        state = json.loads(json.dumps(stream.state()))
        fresh = Dataset.create(config, "prefix").train_stream()
        rest = take(fresh.restore(state), 2 * length + 9 - stop)
        assert rest == straight[stop:]


def test_two_workers_give_the_same_batches_and_states(config):
    straight = take(Dataset.create(config, "pair").train_stream(), 30)
    config["data"]["workers"] = 2
    data = Dataset.create(config, "pair")
    stream = data.train_stream()
    assert take(stream, 7) == straight[:7]
    state = stream.state()
    stream.close()
    config["data"]["workers"] = 0
    fewer = Dataset.create(config, "pair").train_stream().restore(state)
    assert take(fewer, 23) == straight[7:]


def test_restore_rewinds_a_stream_that_was_read(config):
    stream = Dataset.create(config, "pair").train_stream()
    first = stream.state()
    batches = take(stream, 5)
    assert take(stream.restore(first), 5) == batches


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("train.batch", {"train": {"batch": 2, "batch_unit": "examples"}}),
        ("seed", {"seed": 1}),
        ("training examples", {"task": {"train": [("a", "B")], "valid": [], "test": []}}),
    ],
)
def test_a_state_of_other_batches_is_refused(make_config, corpus, key, change):
    state = Dataset.create(make_config(corpus), "pair").train_stream().state()
    config = make_config(**({"task": corpus} | change))
    with pytest.raises(ConfigError, match=f"^{key}: the run was started with"):
        Dataset.create(config, "pair").train_stream().restore(state)


def test_generated_epochs_are_new_and_numbered_on(make_config):
    data = Dataset.create(make_config(REVERSE, {"tokenizer": WORDS}), "pair")
    stream = data.train_stream()
    epochs = [[batch for _, batch in itertools.islice(stream, stream.per_epoch)] for _ in range(2)]
    for number, epoch in enumerate(epochs):
        index = np.concatenate([batch.index for batch in epoch])
        assert sorted(index[index >= 0]) == list(range(30 * number, 30 * number + 30))
    rows = [{row.tobytes() for batch in epoch for row in batch.source} for epoch in epochs]
    assert len(rows[0] - rows[1]) > 10


def test_no_examples_left_is_an_error(make_config, corpus):
    config = make_config(corpus, {"filter": {"source": (50, 60)}})
    with pytest.raises(ConfigError, match=r"no training examples are left; see data\.filter"):
        Dataset.create(config, "pair").train_stream()
