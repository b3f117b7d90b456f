"""Learning rates, step by step. The first update is step 1: none is lost at rate 0."""

import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.train.hyper import Hyper
from seqlab.train.schedule import schedule
from toys import config


def rates(name, at, **train):
    changes = {f"train__{key}": value for key, value in train.items()}
    hyper = Hyper.of(config(**changes))
    return [float(schedule(name)(jnp.float32(step), hyper)) for step in at]


def test_cosine_with_warmup():
    found = rates("cosine", range(1, 11), lr=1.0, warmup=4, steps=10)
    table = [0.25, 0.5, 0.75, 1, 0.9330, 0.75, 0.5, 0.25, 0.0670, 0]
    np.testing.assert_allclose(found, table, atol=1e-4)


def test_cosine_stays_at_zero_beyond_its_end():
    np.testing.assert_allclose(rates("cosine", (10, 11, 50), lr=1.0, steps=10), 0, atol=1e-7)


@pytest.mark.parametrize(
    ("warmup", "steps", "table"),
    [(0, 4, [0.8536, 0.5, 0.1464, 0]), (4, 4, [0.25, 0.5, 0.75, 1])],
)
def test_no_warmup_and_nothing_but_warmup(warmup, steps, table):
    found = rates("cosine", range(1, 5), lr=1.0, warmup=warmup, steps=steps)
    np.testing.assert_allclose(found, table, atol=1e-4)


def test_constant():
    assert rates("constant", (1, 2, 99), lr=0.5) == [0.5] * 3
    np.testing.assert_allclose(rates("constant", (1, 2, 3), lr=1.0, warmup=2), [0.5, 1, 1])


def test_noam_peaks_where_warmup_ends():
    model = {"model__width": 512, "model__heads": 8}
    hyper = Hyper.of(config(train__lr=1.0, train__warmup=4000, **model))
    found = [float(schedule("noam")(jnp.float32(s), hyper)) for s in (1, 2000, 4000, 16000)]
    np.testing.assert_allclose(found, [1.7469e-7, 3.4939e-4, 6.9877e-4, 3.4939e-4], rtol=1e-4)


def test_noam_without_warmup_falls_from_the_first_step():
    found = rates("noam", (1, 4), lr=1.0, warmup=0)
    np.testing.assert_allclose(found, [0.25, 0.125], rtol=1e-6)  # width 16


def test_a_misspelt_schedule_is_named():
    with pytest.raises(ConfigError, match="'cosin' is unknown; did you mean `cosine`"):
        schedule("cosin")
