"""A config names parts and nothing else, since it may come from a stranger."""

import sys

import pytest

from seqlab.build import ConfigError, build, resolve, trust


@pytest.mark.parametrize(
    "kind",
    [
        "train.writer.MetricsWriter",  # would truncate a file
        "train.directory.write_atomically",  # would write one
        "seqlab.train.directory.RunDirectory",
        "nn.norms.jax",  # what a module of parts imports is no part
        "positions.rope.ConfigError",
        "nn.precision.wide",  # a function
        "positions.rope.Rop",
        "positions.rop.Rope",
    ],
)
def test_only_parts_can_be_named(kind):
    for trusted in ((), ("seqlab",)):
        with trust(trusted), pytest.raises(ConfigError, match=r"there is no part|outside seqlab"):
            resolve(kind, "model.norm")
    with pytest.raises(ConfigError, match=r"model\.norm: there is no part"):
        build({"kind": kind, "path": "x", "text": "y"}, "model.norm")


def test_a_package_that_is_not_trusted_is_not_even_imported(tmp_path, monkeypatch):
    package = tmp_path / "strange"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "inner.py").write_text("class Part: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with trust(()), pytest.raises(ConfigError, match=r"code outside seqlab \(strange.inner\)"):
        resolve("strange.inner.Part", "model.norm")
    assert "strange" not in sys.modules


def test_a_trusted_package_is():
    with trust(("collections",)):
        assert resolve("collections.OrderedDict", "model.norm").__name__ == "OrderedDict"
