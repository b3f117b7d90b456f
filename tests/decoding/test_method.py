"""The decoding that a config names is the one that runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.config import defaults
from seqlab.decoding.method import convention, method
from toys import Markov

PAD, EOS, A, B, BOS = range(5)
TABLE = np.full((5, 5), 1e-30, np.float32)
TABLE[BOS, [EOS, A, B]] = 0.5, 0.45, 0.05
TABLE[A, [EOS, A, B]] = 0.02, 0.03, 0.95
TABLE[B, [EOS, A, B]] = 0.95, 0.03, 0.02


def options(**changes):
    return {**defaults().to_dict()["decode"], "max_length": 4, **changes}


def run(**changes):
    decode = method(options(**changes), EOS, PAD)
    prompt = jnp.array([[BOS]])
    nothing = jnp.zeros((1, 0), jnp.int32)
    params = {"decoder": {"table": jnp.log(jnp.asarray(TABLE))}}
    found = jax.jit(
        lambda params: decode(Markov(5), params, prompt, prompt > 0, nothing, nothing > 0)
    )(params)
    return [int(token) for token in found.tokens[0] if token != PAD], float(found.score[0])


def test_greedy_and_beam():
    assert run() == ([EOS], pytest.approx(-0.6931, abs=1e-4))
    averaged = run(method="beam", beam=2, length_penalty="average")
    assert averaged == ([A, B, EOS], pytest.approx(-0.3004, abs=1e-4))


def test_rules_hold_for_both():
    assert run(min_length=1)[0][0] == A
    assert run(method="beam", min_length=1)[0] == [A, B, EOS]


def test_conventions_name_the_formula():
    assert convention(options()) == "greedy"
    text = convention(options(method="beam", beam=5, length_penalty="gnmt:0.6"))
    assert text == "beam 5, score log p / ((5 + n) / 6)^0.6, n tokens, EOS included"


def test_an_unknown_method_is_refused():
    with pytest.raises(ConfigError, match=r"decode\.method: 'beem' is unknown; did you mean"):
        method(options(method="beem"), EOS, PAD)
