"""A run saved on eight devices, its state cut in four, restores on any number of them."""

import shutil

import numpy as np
import pytest

from seqlab.config import to_json
from seqlab.sweep.overrides import apply_overrides
from toys import ROOT, config, python
from train.restored import restored

OPTIONS = config(train__fsdp=4, train__ema=0.9, model__depth=1)


def on(devices, options, run, directory, *arguments):
    """The state and the predictions of the run in a fresh process with so many devices."""
    (directory / "config.json").write_text(to_json(options))
    script = str(ROOT / "tests/train/restored.py")
    files = [str(directory / "config.json"), str(run), str(directory / "out.npz")]
    count = f"--xla_force_host_platform_device_count={devices}"
    found = python(script, *files, *arguments, XLA_FLAGS=count)
    assert found.returncode == 0, found.stderr
    return dict(np.load(directory / "out.npz"))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    directory = tmp_path_factory.mktemp("saved")
    return directory / "run", on(8, OPTIONS, directory / "run", directory, "train")


def check(found, expected):
    assert found.keys() == expected.keys()
    assert found["step"] == 6
    for name in expected.keys() - {"scores"}:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    np.testing.assert_allclose(found["scores"], expected["scores"], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "keys", [{"train.fsdp": 2}, {"train.fsdp": 1}, {"train.fsdp": 1, "train.parallel": "pmap"}]
)
def test_on_the_four_devices_of_the_tests(saved, keys):
    run, expected = saved
    check(restored(apply_overrides(OPTIONS, keys), run), expected)


@pytest.mark.parametrize("devices", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_in_a_fresh_process(saved, devices, tmp_path):
    run, expected = saved
    options = apply_overrides(OPTIONS, {"train.fsdp": devices})
    check(on(devices, options, run, tmp_path), expected)


def test_training_goes_on_elsewhere(saved, tmp_path):
    """Two more steps on one device."""
    run, before = saved
    copy = tmp_path / "moved"
    shutil.copytree(run, copy)
    options = apply_overrides(OPTIONS, {"train.fsdp": 1, "train.steps": 8})
    after = on(1, options, copy, tmp_path, "train")
    assert after["step"] == 8
    assert after.keys() == before.keys()
