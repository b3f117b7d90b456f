"""Beam search against values computed by hand, exhaustive search, and search without a carry."""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.decoding.beam import beam_search
from seqlab.decoding.greedy import greedy
from seqlab.decoding.penalty import LengthPenalty
from seqlab.decoding.rules import Rules
from toys import Markov, config, model_of, pair, recurrent

PAD, EOS, A, B, BOS = range(5)
# p(next | last) of EOS, a, b: after BOS, after a, after b.
TABLE = np.zeros((5, 5), np.float32)
TABLE[BOS, [EOS, A, B]] = 0.5, 0.45, 0.05
TABLE[A, [EOS, A, B]] = 0.02, 0.03, 0.95
TABLE[B, [EOS, A, B]] = 0.95, 0.03, 0.02


@functools.cache
def compiled(beam, penalty="none", steps=3, nbest=1, min_length=0, ngram=0):
    options = {
        "steps": steps,
        "eos": EOS,
        "beam": beam,
        "nbest": nbest,
        "penalty": LengthPenalty(penalty),
        "rules": Rules(min_length, ngram),
    }
    return jax.jit(functools.partial(beam_search, Markov(5), **options))


def search(table, prompts, *options, mask=None, **more):
    inputs = jnp.array(prompts, jnp.int32)
    mask = jnp.ones(inputs.shape, bool) if mask is None else jnp.array(mask, bool)
    nothing = jnp.zeros((len(prompts), 0), jnp.int32)
    table = np.where(table > 0, table, 1e-30)  # a logarithm of 0 is no parameter
    params = {"decoder": {"table": jnp.log(jnp.asarray(table, jnp.float32))}}
    return compiled(*options, **more)(params, inputs, mask, nothing, nothing > 0)


def text(tokens):
    return [int(token) for token in tokens if token != PAD]


@pytest.mark.parametrize(
    ("beam", "penalty", "tokens", "score"),
    [
        (1, "none", [EOS], -0.6931),
        (2, "none", [EOS], -0.6931),
        (3, "none", [EOS], -0.6931),
        (2, "average", [A, B, EOS], -0.3004),
        (3, "average:1", [A, B, EOS], -0.3004),
        (2, "gnmt:1", [A, B, EOS], -0.6758),
        (2, "gnmt:0.6", [EOS], -0.6931),
    ],
)
def test_hand_computed_scores(beam, penalty, tokens, score):
    found = search(TABLE, [[BOS]], beam, penalty)
    assert text(found.tokens[0, 0]) == tokens
    assert float(found.score[0, 0]) == pytest.approx(score, abs=1e-4)
    assert not found.truncated.any()


def test_the_runner_up_is_the_second_best():
    found = search(TABLE, [[BOS]], 3, "average", nbest=2)
    assert [text(row) for row in found.tokens[0]] == [[A, B, EOS], [EOS]]
    np.testing.assert_allclose(found.score[0], [-0.3004, -0.6931], atol=1e-4)
    np.testing.assert_allclose(found.log_p[0], [3 * -0.3004, -0.6931], atol=1e-3)


def hypotheses(table, steps):
    """Every output of at most `steps` tokens that ends in EOS, with its log p."""
    for length in range(1, steps + 1):
        for body in itertools.product((A, B), repeat=length - 1):
            path = (BOS, *body, EOS)
            yield path[1:], sum(math.log(table[x, y]) for x, y in itertools.pairwise(path))


@pytest.mark.parametrize("penalty", ["none", "average", "gnmt:0.6", "average:-1"])
def test_a_wide_beam_equals_exhaustive_search(penalty):
    random, rule = np.random.default_rng(0), LengthPenalty(penalty)
    tables = []
    for _ in range(50):
        table = np.zeros((5, 5))
        table[np.ix_([A, B, BOS], [EOS, A, B])] = random.dirichlet(np.ones(3), size=3)
        tables.append(table)
    for table in tables:
        found = search(table, [[BOS]], 12, penalty, nbest=3)
        scored = {h: p / float(rule(jnp.float32(len(h)))) for h, p in hypotheses(table, 3)}
        best = sorted(scored, key=scored.get, reverse=True)[:3]
        np.testing.assert_allclose(found.score[0], [scored[h] for h in best], rtol=1e-4)
        assert tuple(text(found.tokens[0, 0])) == best[0]


def test_a_batch_gives_what_its_rows_give_alone():
    prompts = [[BOS], [A], [B]]
    together = search(TABLE, prompts, 3, "average", nbest=2)
    for row, prompt in enumerate(prompts):
        alone = search(TABLE, [prompt], 3, "average", nbest=2)
        np.testing.assert_array_equal(together.tokens[row], alone.tokens[0])
        np.testing.assert_allclose(together.score[row], alone.score[0], rtol=1e-6)


def test_there_is_at_most_one_eos_and_only_padding_after_it():
    found = search(TABLE, [[BOS], [A]], 4, "average", steps=6, nbest=4)
    for hypothesis in np.asarray(found.tokens).reshape(-1, 6):
        ends = np.flatnonzero(hypothesis == EOS)
        assert len(ends) == 1
        assert (hypothesis[ends[0] + 1 :] == PAD).all()
    rows = {tuple(hypothesis) for hypothesis in np.asarray(found.tokens[0])}
    assert len(rows) == 4


def test_what_does_not_end_is_cut_and_stands_last():
    endless = TABLE.copy()
    endless[:, EOS] = 1e-12
    endless[BOS, EOS] = 0.1
    found = search(endless, [[BOS]], 2, "none", steps=4, nbest=2)
    assert text(found.tokens[0, 0]) == [EOS]
    assert found.truncated[0].tolist() == [False, True]
    assert len(text(found.tokens[0, 1])) == 4


def test_a_filler_row_generates_nothing():
    found = search(TABLE, [[BOS], [BOS]], 2, mask=[[True], [False]])
    assert text(found.tokens[1, 0]) == []
    assert found.score[1, 0] == -np.inf
    assert not found.truncated[1].any()
    assert text(found.tokens[0, 0]) == [EOS]


def test_eos_waits_for_the_minimum_length_of_the_output():
    found = search(TABLE, [[BOS, A, BOS]], 2, steps=5, min_length=2)
    assert text(found.tokens[0, 0]) == [A, B, EOS]
    for row in search(TABLE, [[BOS]], 4, steps=7, min_length=5, nbest=4).tokens[0]:
        assert len(text(row)) > 5


def test_no_ngram_comes_twice():
    looping = TABLE.copy()
    looping[A, [EOS, A, B]] = 0.01, 0.01, 0.98
    looping[B, [EOS, A, B]] = 0.01, 0.98, 0.01
    free = text(search(looping, [[A]], 3, steps=8, min_length=6).tokens[0, 0])
    assert free[:6] == [B, A, B, A, B, A]
    for row in search(looping, [[A]], 3, steps=7, nbest=3, ngram=2).tokens[0]:
        pairs = list(itertools.pairwise(text(row)))
        assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(("beam", "nbest"), [(2, 3), (2, 0)])
def test_more_hypotheses_than_the_beam_holds_are_refused(beam, nbest):
    with pytest.raises(ConfigError, match=r"decode\.nbest"):
        search(TABLE, [[BOS]], beam, nbest=nbest)


@pytest.mark.parametrize(
    ("spec", "says"), [("gnmt:x", "'x' in 'gnmt:x' is no number"), ("gnm", "did you mean `gnmt`")]
)
def test_a_wrong_penalty_says_what_is_right(spec, says):
    with pytest.raises(ConfigError, match=says):
        LengthPenalty(spec)


def reference(score_next, beam, steps, penalty):
    """The same search for one row, written for reading: no carry, every prefix read again."""
    alive, done = [((), 0.0)], []
    for length in range(1, steps + 1):
        grown = [
            ((*tokens, v), log_p + float(gain))
            for tokens, log_p in alive
            for v, gain in enumerate(score_next(tokens))
        ]
        grown = sorted(grown, key=lambda each: -each[1])[: 2 * beam]
        ends = [each for each in grown[:beam] if each[0][-1] == EOS]
        done += [(t, p / float(penalty(jnp.float32(length)))) for t, p in ends]
        done = sorted(done, key=lambda each: -each[1])[:beam]
        alive = [each for each in grown if each[0][-1] != EOS][:beam]
    return done


HYBRID = {"model__mixers": {"a": "mixers.lstm.Lstm", "x": "mixers.cross.Cross"}}
PROJECT = "models.bridge.Project"
MODELS = {
    "transformer": lambda: pair(model__depth=1),
    "hybrid": lambda: pair(model__depth=1, **HYBRID),
    "fixed": lambda: recurrent("r", PROJECT),
    "bahdanau": lambda: recurrent("b", PROJECT),
    "luong": lambda: recurrent("r+l", PROJECT),
    "feeding": lambda: recurrent("f", PROJECT),
}


@pytest.mark.parametrize("case", MODELS)
def test_a_model_with_a_carry_equals_the_search_that_has_none(case):
    settings = MODELS[case]()
    vocabulary, steps, beam = 7, 5, 3
    model, params = model_of(settings, vocabulary)
    source = jnp.array([[5, 4, 6, 2], [3, 2, 0, 0]])
    source_mask = jnp.array([[True] * 4, [True, True, False, False]])
    bos, penalty = jnp.ones((2, 1), jnp.int32) * 3, LengthPenalty("gnmt:0.6")
    found = jax.jit(
        functools.partial(
            beam_search,
            model,
            steps=steps,
            eos=EOS,
            pad=-1,  # the model may write every id
            beam=beam,
            nbest=beam,
            penalty=penalty,
        )
    )(params, bos, jnp.ones((2, 1), bool), source, source_mask)

    @jax.jit
    def logits(tokens, mask, source, source_mask):
        out, _ = model.apply(
            {"params": params}, tokens, mask, source=source, source_mask=source_mask
        )
        return jax.nn.log_softmax(out)

    for row in range(2):

        def score_next(tokens, row=row):
            prefix = [3, *tokens] + [0] * (steps - len(tokens))
            mask = jnp.arange(steps + 1)[None] <= len(tokens)
            every = logits(
                jnp.array([prefix]), mask, source[row : row + 1], source_mask[row : row + 1]
            )
            return np.asarray(every[0, len(tokens)])

        expected = reference(score_next, beam, steps, penalty)
        ended = [[t for t in tokens.tolist() if t >= 0] for tokens in found.tokens[row]]
        for (tokens, score), ours, ours_score in zip(
            expected, ended, found.score[row], strict=False
        ):
            np.testing.assert_allclose(ours_score, score, rtol=1e-4)
            assert ours == list(tokens)


def test_greedy_is_a_beam_of_one():
    model, params = model_of(config(model__depth=1), 9)
    prompt, mask = jnp.array([[3, 4, 5], [6, 7, 0]]), jnp.array([[1, 1, 1], [1, 1, 0]]) > 0
    nothing = jnp.zeros((2, 0), jnp.int32)
    arguments = (params, prompt, mask, nothing, nothing > 0)
    one = jax.jit(functools.partial(greedy, model, steps=4, eos=EOS))(*arguments)
    beam = jax.jit(functools.partial(beam_search, model, steps=4, eos=EOS, beam=1))(*arguments)
    np.testing.assert_array_equal(beam.tokens[:, 0], one.tokens)
    np.testing.assert_allclose(beam.log_p[:, 0], one.score, rtol=1e-5)
