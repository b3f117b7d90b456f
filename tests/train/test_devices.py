"""One device, a mesh, a mesh with the state cut up, and pmap give the same numbers."""

import jax
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.config import to_json
from seqlab.data.plan import Shard
from seqlab.sweep.overrides import apply_overrides
from seqlab.train.devices.choose import devices_of
from seqlab.train.devices.mesh import Meshed
from seqlab.train.hyper import Hyper
from seqlab.train.programs import programs
from toys import COPY, ROOT, batch, config, pair, python, recurrent

SGD = {"name": "sgd", "b1": 0.9, "b2": 0.98, "eps": 1e-9, "momentum": 0.9}
# Batches of 12 rows, the last of an epoch of 6: on 8 devices some have no real token.
OPTIONS = {
    "task": {**COPY, "epoch_examples": 42, "valid_examples": 14},
    "train__batch": 12,
    "train__optimizer": SGD,
    "train__lr": 0.02,
    "train__clip": 1.0,
    "train__label_smoothing": 0.1,
    "train__steps_per_call": 4,
}
LSTM = {"s": "mixers.lstm.Lstm", "x": "mixers.cross.Cross"}
MODELS = {
    "transformer": config(**OPTIONS, model__depth=1),
    "lstm": config(**OPTIONS, model__depth=1, model__pattern="s", model__mixers=LSTM),
    "pair of transformers": pair(**OPTIONS),
    "pair of lstms": recurrent(
        "s+x",
        "models.bridge.NoBridge",
        encoder={"pattern": "s"},
        **OPTIONS,
        model__mixers=LSTM,
    ),
}
FORMS = {
    "jit": {},
    "fsdp": {"train.fsdp": 4},
    "pmap": {"train.parallel": "pmap"},
}


def train_on(devices, changed, directory):
    """Losses and parameters by 20 steps of each config, in a fresh process with so many devices."""
    files = []
    for name, each in changed.items():
        (directory / f"{name}.json").write_text(to_json(each))
        files += [f"{directory / name}.json", f"{directory / name}.npz"]
    count = f"--xla_force_host_platform_device_count={devices}"
    found = python(str(ROOT / "tests/train/on_devices.py"), *files, XLA_FLAGS=count)
    assert found.returncode == 0, found.stderr
    return {name: dict(np.load(directory / f"{name}.npz")) for name in changed}


def same(one, other):
    assert one.keys() == other.keys()
    for name in one.keys() - {"empty"}:
        np.testing.assert_allclose(other[name], one[name], rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize(
    ("model", "accumulate"),
    [
        ("transformer", 4),
        ("lstm", 1),
        pytest.param("transformer", 1, marks=pytest.mark.slow),
        pytest.param("lstm", 4, marks=pytest.mark.slow),
        pytest.param("pair of transformers", 1, marks=pytest.mark.slow),
        pytest.param("pair of transformers", 4, marks=pytest.mark.slow),
        pytest.param("pair of lstms", 1, marks=pytest.mark.slow),
        pytest.param("pair of lstms", 4, marks=pytest.mark.slow),
    ],
)
def test_eight_devices_give_what_one_does(model, accumulate, tmp_path):
    base = apply_overrides(MODELS[model], {"train.accumulate": accumulate})
    [alone] = train_on(1, {"alone": base}, tmp_path).values()
    forms = {name: apply_overrides(base, keys) for name, keys in FORMS.items()}
    for found in train_on(8, forms, tmp_path).values():
        assert found["empty"] > 0
        same(alone, found)
    assert alone["loss"][-1] < alone["loss"][0] - 0.2


def test_the_state_is_cut_along_fsdp():
    """Every leaf that can be is there once for all devices of the axis."""
    options = config(model__width=16, train__fsdp=4)
    devices = devices_of(options)
    state = programs(options, 11, 11, devices).init(jax.random.key(0), Hyper.of(options))
    cut = 0
    for leaf in jax.tree.leaves(state):
        whole = not any(size % 4 == 0 and size for size in leaf.shape)
        here = leaf.addressable_data(0)
        assert here.size * (1 if whole else 4) == leaf.size
        cut += not whole
    assert cut > len(jax.tree.leaves(state)) / 2
    moments = state.opt_state[1].mu
    for moment, param in zip(jax.tree.leaves(moments), jax.tree.leaves(state.params), strict=True):
        assert moment.sharding == param.sharding


def test_axes_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match=r"train\.fsdp: 3 does not divide .* choose from 1, 2, 4"):
        Meshed(3)


@pytest.mark.parametrize("form", FORMS)
def test_the_state_survives_a_change_of_form(form):
    options = apply_overrides(config(), FORMS[form])
    devices = devices_of(options)
    state = programs(options, 11, 11, devices).init(jax.random.key(0), Hyper.of(options))
    back = devices.unload(devices.load(state))
    for before, after in zip(jax.tree.leaves(state), jax.tree.leaves(back), strict=True):
        assert before.sharding == after.sharding
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("size", [1, 7, 8, 12])
@pytest.mark.parametrize(("count", "multiple"), [(1, 1), (2, 4), (4, 8)])
def test_shards_together_are_the_batch(size, count, multiple):
    whole = batch([3] * size, 5)
    parts = [Shard(index, count, multiple).own(whole) for index in range(count)]
    rows = np.concatenate([part.index for part in parts])
    assert len(rows) % multiple == 0
    assert rows.tolist() == [*range(size), *[-1] * (len(rows) - size)]
    assert sum(part.weights.sum() for part in parts) == whole.weights.sum()
    assert len({len(part.index) for part in parts}) == 1
