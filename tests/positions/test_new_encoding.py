"""A new position encoding is one file: a config line trains it, and the laws cover it."""

import json

import pytest

from toys import python

SPIRAL = '''
"""A sine of the position, one frequency for all channels."""

import dataclasses

import jax.numpy as jnp

from seqlab.positions.base import Position


@dataclasses.dataclass(frozen=True)
class Spiral(Position):
    """x + sin(pitch * position + channel)."""

    pitch: float = 0.5

    def embed(self, table, x, positions):
        phase = self.pitch * positions[..., None].astype(jnp.float32)
        channels = jnp.arange(x.shape[-1], dtype=jnp.float32)
        return x + jnp.sin(phase + channels[None, None]).astype(x.dtype)
'''


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A directory with a package `mylab` that holds the encoding."""
    root = tmp_path_factory.mktemp("lab")
    (root / "mylab").mkdir()
    (root / "mylab" / "__init__.py").touch()
    (root / "mylab" / "spiral.py").write_text(SPIRAL)
    return root


def test_one_config_line_trains_it(lab):
    found = python(
        "launch.py",
        "--config=tests/fixtures/copying.py",
        "--config.model.position=mylab.spiral.Spiral",
        "--config.train.steps=4",
        f"--workdir={lab / 'out'}",
        PYTHONPATH=str(lab),
    )
    assert found.returncode == 0, found.stderr
    (run,) = (lab / "out" / "runs").iterdir()
    assert json.loads((run / "status.json").read_text())["state"] == "done"
    assert json.loads((run / "config.json").read_text())["model"]["position"] == (
        "mylab.spiral.Spiral"
    )


def test_the_laws_cover_it(lab):
    found = python(
        *("-m", "pytest", "tests/laws", "--parts=mylab", "-p", "no:cacheprovider"),
        *("-k", "MultiHead-Spiral-Pre and (causal or chunks)", "-m", "not slow", "-v"),
        PYTHONPATH=str(lab),
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )
    assert found.returncode == 0, found.stdout
    assert "MultiHead-Spiral-Pre-chunks_equal_whole] PASSED" in found.stdout
    assert "MultiHead-Spiral-Pre-causal] PASSED" in found.stdout


def test_a_misspelt_one_is_named(lab):
    found = python(
        "launch.py",
        "--config=tests/fixtures/copying.py",
        "--config.model.position=mylab.spiral.Spirale",
        f"--workdir={lab / 'none'}",
        PYTHONPATH=str(lab),
    )
    assert found.returncode == 2
    assert "model.position" in found.stderr
    assert "mylab.spiral.Spirale" in found.stderr
    assert "Traceback" not in found.stderr
