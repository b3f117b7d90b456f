"""Every law on every mixer, position and placement that walking the packages finds."""

import functools

import pytest

from laws.laws import OF_CARRIES, SAME_FOR_ALL
from laws.system import System, is_recurrent, is_valid, label, options
from seqlab.build import parts, resolve


@functools.cache
def system(mixer: str, position: str, placement: str, causal: bool, extra: tuple) -> System:
    return System({"kind": mixer, **dict(extra)}, position, placement, causal)


def found(group, config):
    return list(parts(group, ("seqlab", *config.getoption("--parts"))))


def combinations(config):
    """mixer x position at one placement, placement x mixer at one position; slow: the product."""
    mixers, positions = found("mixers", config), found("positions", config)
    placements = found("placements", config)
    first = "placements.pre.Pre"
    quick = {(m, p, first) for m in mixers for p in positions}
    quick |= {(m, "positions.sinusoidal.Sinusoidal", p) for m in mixers for p in placements}
    for mixer in mixers:
        for position in positions:
            for placement in placements:
                slow = (mixer, position, placement) not in quick
                yield mixer, position, placement, True, (), slow
    for mixer in mixers:
        for extra in options(mixer)[1:]:
            yield mixer, "positions.sinusoidal.Sinusoidal", first, True, tuple(extra.items()), False
        if is_recurrent(mixer):  # one that runs one way is causal wherever it stands
            two_ways = (("bidirectional", True),)
            yield mixer, "positions.sinusoidal.Sinusoidal", first, False, two_ways, False
        elif not resolve(mixer, "law").cross:  # what looks across sees all of the source anyway
            for position in positions:
                yield mixer, position, first, False, (), False


def pytest_generate_tests(metafunc):
    if "law" not in metafunc.fixturenames:
        return
    cases = []
    for *key, slow in combinations(metafunc.config):
        if not is_valid(system(*key)):
            continue
        mixer, position, placement, causal, extra = key
        name = [label({"kind": mixer, **dict(extra)}), label(position), label(placement)]
        name += [] if causal else ["two-sided"]
        for law in SAME_FOR_ALL + (OF_CARRIES if causal else ()):
            marks = [pytest.mark.slow] if slow else []
            cases.append(pytest.param(law, key, id=f"{'-'.join(name)}-{law.__name__}", marks=marks))
    metafunc.parametrize(("law", "key"), cases)


def test_law(law, key):
    law(system(*key))


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("mixers", "attention.MultiHead cross.Cross rnn.Rnn lstm.Lstm gru.Gru"),
        (
            "positions",
            "base.Position sinusoidal.Sinusoidal learned.Learned rope.Rope alibi.Alibi t5.T5 "
            "shaw.Shaw",
        ),
        ("placements", "pre.Pre post.Post no_norm.NoNorm no_residual.NoResidual"),
        ("models", "lm.LM seq2seq.Seq2Seq"),
        ("tasks", "transduction.Transduction"),
    ],
)
def test_the_walk_finds_at_least_these(group, names):
    missing = {f"{group}.{name}" for name in names.split()} - set(parts(group))
    assert not missing
