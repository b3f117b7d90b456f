"""Every law on every mixer, position and placement that walking the packages finds."""

import functools

import pytest

from laws.laws import OF_CARRIES, SAME_FOR_ALL, segments_do_not_see_each_other
from laws.system import System, is_recurrent, is_valid, label, options
from seqlab.build import parts, resolve

GRU = "mixers.gru.Gru"  # stands for the recurrences where they share their code
ATTENTION = "mixers.attention.MultiHead"
VARIED = (ATTENTION, GRU, "mixers.cross.Cross")  # whose options are tried at once


@functools.cache
def system(mixer: str, position: str, placement: str, causal: bool, extra: tuple) -> System:
    return System({"kind": mixer, **dict(extra)}, position, placement, causal)


def found(group, config):
    return list(parts(group, ("seqlab", *config.getoption("--parts"))))


def combinations(config):
    """Every mixer and every position at one placement, every placement around attention and, where
    there is neither norm nor residual, a recurrence; slow: the product."""
    mixers, positions = found("mixers", config), found("positions", config)
    placements = found("placements", config)
    first, usual = "placements.pre.Pre", "positions.sinusoidal.Sinusoidal"
    inside = [mixer for mixer in mixers if resolve(mixer, "law").positional]
    quick = {(m, p, first) for m in inside for p in positions}
    quick |= {(m, usual, first) for m in mixers}
    quick |= {(ATTENTION, usual, p) for p in placements}
    quick.add((GRU, usual, "placements.plain.Plain"))
    quick.add(("mixers.bahdanau.Bahdanau", usual, "placements.plain.Plain"))
    for mixer in mixers:
        for position in positions:
            for placement in placements:
                slow = (mixer, position, placement) not in quick
                yield mixer, position, placement, True, (), slow
    for mixer in mixers:
        slow = mixer not in VARIED
        for extra in options(mixer)[1:]:
            yield mixer, usual, first, True, tuple(extra.items()), slow
        if is_recurrent(mixer):  # one that runs one way is causal wherever it stands
            for direction in ("bidirectional", "reverse"):
                yield mixer, usual, first, False, ((direction, True),), slow
        elif not resolve(mixer, "law").cross:  # what looks across sees all of the source anyway
            for position in positions:
                slow = not resolve(position, "law")().acts_in_attention() and position != usual
                yield mixer, position, first, False, (), slow


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
            if law is segments_do_not_see_each_other and not resolve(mixer, "law").packs:
                continue  # the model refuses packed rows: tests/models/test_recurrent_pairs.py
            marks = [pytest.mark.slow] if slow else []
            cases.append(pytest.param(law, key, id=f"{'-'.join(name)}-{law.__name__}", marks=marks))
    metafunc.parametrize(("law", "key"), cases)


def test_law(law, key):
    law(system(*key))


@pytest.mark.parametrize(
    ("group", "names"),
    [
        (
            "mixers",
            "attention.MultiHead cross.Cross rnn.Rnn lstm.Lstm gru.Gru "
            "bahdanau.Bahdanau luong.Luong luong.InputFeeding context.Context",
        ),
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
