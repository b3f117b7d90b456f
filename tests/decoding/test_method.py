"""The decoding that a config names is the one that runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.config import defaults
from seqlab.decoding.method import convention, method, n_best
from toys import Markov

PAD, EOS, A, B, BOS = range(5)
TABLE = np.full((5, 5), 1e-30, np.float32)
TABLE[BOS, [EOS, A, B]] = 0.5, 0.45, 0.05
TABLE[A, [EOS, A, B]] = 0.02, 0.03, 0.95
TABLE[B, [EOS, A, B]] = 0.95, 0.03, 0.02


def options(**changes):
    return {**defaults().to_dict()["decode"], "max_length": 4, **changes}


def run(**changes):
    found = decoded(method(options(**changes), EOS, PAD), [0])
    return [int(token) for token in found.tokens[0] if token != PAD], float(found.score[0])


def decoded(decode, numbers):
    """What is decoded for examples of these numbers, all with the same prompt."""
    prompt = jnp.full((len(numbers), 1), BOS)
    nothing = jnp.zeros((len(numbers), 0), jnp.int32)
    params = {"decoder": {"table": jnp.log(jnp.asarray(TABLE))}}
    return jax.jit(
        lambda params: decode(
            Markov(5), params, prompt, prompt > 0, nothing, nothing > 0, jnp.array(numbers)
        )
    )(params)


def test_greedy_and_beam():
    assert run() == ([EOS], pytest.approx(-0.6931, abs=1e-4))
    averaged = run(method="beam", beam=2, length_penalty="average")
    assert averaged == ([A, B, EOS], pytest.approx(-0.3004, abs=1e-4))


def test_rules_hold_for_both():
    assert run(min_length=1)[0][0] == A
    assert run(method="beam", min_length=1)[0] == [A, B, EOS]


def test_a_sample_depends_on_seed_and_number_and_not_on_the_row():
    sample = method(options(method="sample"), EOS, PAD)
    whole = decoded(sample, [*range(12), -1]).tokens
    np.testing.assert_array_equal(decoded(sample, [5, 3]).tokens, whole[jnp.array([5, 3])])
    assert len({tuple(row) for row in whole.tolist()}) > 1
    other = method(options(method="sample", seed=1), EOS, PAD)
    assert (decoded(other, list(range(12))).tokens != whole[:12]).any()


def test_sampling_options_are_used():
    assert run(method="sample", top_k=1) == run()
    assert run(method="sample", top_p=0.4) == run()
    with pytest.raises(ConfigError, match="temperature > 0"):
        method(options(method="sample", temperature=0.0), EOS, PAD)


def test_n_best_are_the_best_of_the_beam():
    found = decoded(n_best(options(method="beam", beam=3), EOS, PAD, 3), [0])
    assert found.tokens[0].tolist()[0] == [EOS, PAD, PAD, PAD]
    assert found.tokens[0].tolist()[1] == [A, B, EOS, PAD]
    np.testing.assert_allclose(found.score[0, :2], [-0.6931, -0.9011], atol=1e-4)
    with pytest.raises(ConfigError, match=r"nbest: must be from 1 to decode\.beam 3, got 4"):
        n_best(options(method="beam", beam=3), EOS, PAD, 4)
    with pytest.raises(ConfigError, match="'sample' has one output a line"):
        n_best(options(method="sample"), EOS, PAD, 2)


def test_conventions_name_the_formula():
    assert convention(options()) == "greedy"
    text = convention(options(method="beam", beam=5, length_penalty="gnmt:0.6"))
    assert text == "beam 5, score log p / ((5 + n) / 6)^0.6, n tokens, EOS included"


def test_the_convention_of_sampling_tells_its_options():
    text = convention(options(method="sample", temperature=0.7, top_k=5, seed=3))
    assert text.startswith("sampled at temperature 0.7, top-k 5, top-p off, seed 3; a draw depends")


def test_an_unknown_method_is_refused():
    with pytest.raises(ConfigError, match=r"decode\.method: 'beem' is unknown; did you mean"):
        method(options(method="beem"), EOS, PAD)
