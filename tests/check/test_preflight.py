"""The preflight: sound configs pass, and each kind of fault fails under its own law."""

import re

import jax
import pytest

from seqlab.check.preflight import preflight
from seqlab.sweep.plan import points
from toys import ROOT, config, python

ARGUMENTS = {"road": ("quick", "full", "example"), "pre_vs_post_ln": ("full",)}
NAMES = sorted(path.stem for path in (ROOT / "configs").glob("*.py"))
SPECS = [f"{name}.py{a and ':'}{a}" for name in NAMES for a in ("", *ARGUMENTS.get(name, ()))]
ROW = re.compile(r"(\S.*?) {2,}(\S.*?) {2,}(ok|FAILED) ")
LAWS = [
    "data",
    "causality",
    "padding",
    "chunks",
    "overfits one batch",
    "checkpoint round trip",
    "resume = straight",
    "jit = pmap",
]


def rows(printed):
    """(system, law, result) of every line of the table."""
    return [found.groups() for line in printed.splitlines() if (found := ROW.match(line))]


def failed(printed):
    return {(system, law) for system, law, result in rows(printed) if result == "FAILED"}


def mixers(*names):
    """A sweep over mixers of tests/check/broken.py."""
    plain = {"model__position": "positions.base.Position", "model__depth": 1}
    base = config(**plain, model__dropout=0.1)
    return points(base, [{"model.mixers": {"a": f"check.broken.{name}"}} for name in names])


def test_each_fault_fails_under_its_own_law(capsys):
    """The first system has all laws, the others those of the model."""
    assert preflight(mixers("TracedNoise", "Mean", "Peeks", "CountsPadding")) == 1
    printed = capsys.readouterr().out
    assert failed(printed) == {
        ("mixers-TracedNoise", "resume = straight"),
        ("mixers-Peeks", "causality"),
        ("mixers-Peeks", "chunks"),  # what comes in a later chunk cannot be seen
        ("mixers-CountsPadding", "padding"),
    }
    assert len(rows(printed)) == len(LAWS) + 3 * 3
    assert "An output depends on a later input" in printed
    assert printed.count("mixers-CountsPadding") == 3 + 1  # and in the remedy of padding


@pytest.mark.slow
def test_noise_of_a_callback_fails_to_resume(capsys):
    assert preflight(mixers("CalledNoise")) == 1
    assert {law for _, law in failed(capsys.readouterr().out)} == {"resume = straight"}


def test_a_part_that_raises_fails_its_checks_alone(capsys, monkeypatch):
    """The other systems, and the other laws, go on."""
    monkeypatch.setattr("seqlab.check.preflight.TRAINING_LAWS", ())
    assert preflight(mixers("Mean", "Forgetful")) == 1
    printed = capsys.readouterr().out
    assert failed(printed) == {("mixers-Forgetful", "chunks")}
    assert "NotImplementedError: no carry yet (broken.py, line" in printed


def test_it_leaves_no_trace(tmp_path, monkeypatch):
    """Neither files nor settings of JAX."""
    names = ("jax_disable_most_optimizations", "jax_compilation_cache_dir")
    before = {name: jax.config.values[name] for name in names}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("seqlab.check.preflight.TRAINING_LAWS", ())
    assert preflight(mixers("Mean")) == 0
    assert not list(tmp_path.iterdir())
    assert before == {name: jax.config.values[name] for name in names}


@pytest.mark.parametrize(
    ("name", "only", "system"),
    [
        ("position_encodings", ("task=Copy", "model.position=Rope"), "LM"),
        ("pre_vs_post_ln", ("model.placement=Post", "model.kind=LM"), "LM"),
        ("alignment", ("model.decoder.pattern=c+r",), "GRU, one vector"),
    ],
)
def test_the_flag_passes_a_config_and_writes_nothing(name, only, system, tmp_path):
    flags = [f"--only={each}" for each in only]
    where = f"--workdir={tmp_path / 'work'}"
    found = python("launch.py", f"--config=configs/{name}.py", "--check", where, *flags)
    assert found.returncode == 0, found.stdout + found.stderr
    assert [law for _, law, _ in rows(found.stdout)] == LAWS
    assert {each for each, law, _ in rows(found.stdout) if law != "data"} == {system}
    assert "all checks passed" in found.stdout
    assert not (tmp_path / "work").exists()


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_every_config_passes(spec):
    found = python("launch.py", f"--config=configs/{spec}", "--check")
    assert found.returncode == 0, found.stdout + found.stderr
    assert {law for _, law, _ in rows(found.stdout)} == set(LAWS)
