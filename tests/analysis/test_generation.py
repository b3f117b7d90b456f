"""Outputs with scores: N best, sampled, in any batches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from made import made
from seqlab import load_run
from seqlab.build import ConfigError
from toys import pair

TEXTS = ["a b", "", "c", "b d a", "a b"]
pytestmark = pytest.mark.filterwarnings("ignore:outputs")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return load_run(made(pair(), tmp_path_factory.mktemp("runs") / "run"))


def test_n_best_come_best_first_and_the_first_is_the_prediction(run):
    beam = {"method": "beam", "beam": 4}
    found = run.hypotheses(TEXTS, nbest=3, **beam)
    assert [len(ranked) for ranked in found] == [3] * 5
    for ranked in found:
        scores = [each.score for each in ranked if not each.truncated]
        assert scores == sorted(scores, reverse=True)
    assert [ranked[0].text for ranked in found] == run.predict(TEXTS, **beam)
    assert run.predict(TEXTS, nbest=3, **beam) == [[h.text for h in ranked] for ranked in found]
    assert [(each.text, each.score) for each in found[1]] == [("", 0.0)] * 3
    assert len({each.tokens for each in found[0]}) == 3
    assert run.predict(["a"], nbest=1) == [run.predict(["a"])]


def test_n_best_needs_a_beam_that_is_wide_enough(run):
    with pytest.raises(ConfigError, match=r"decode\.method 'greedy' has one output a line"):
        run.predict(TEXTS, nbest=2)
    with pytest.raises(ConfigError, match=r"nbest: must be from 1 to decode\.beam 2, got 3"):
        run.predict(TEXTS, nbest=3, method="beam", beam=2)
    with pytest.raises(ConfigError, match=r"nbest: must be from 1 .*got 0"):
        run.predict(TEXTS, nbest=0, method="beam")


def test_a_score_is_the_log_probability_of_its_tokens(run):
    [[best]] = run.hypotheses(["a b"])
    source = jnp.array([[*run._dataset._vocabularies.source.encode("a b"), 2]])
    inputs = jnp.array([[1, *best.tokens[:-1]]])
    seen = {"source": source, "source_mask": source > 0}
    logits, _ = run.model.apply({"params": run.params}, inputs, inputs >= 0, **seen)
    log_p = np.asarray(jax.nn.log_softmax(logits[0]))
    expected = log_p[np.arange(len(best.tokens)), np.array(best.tokens)].sum()
    assert best.score == pytest.approx(float(expected), abs=1e-4)


def test_samples_do_not_depend_on_batches_but_on_the_seed(run):
    sampled = {"method": "sample", "temperature": 2.0}
    whole = run.predict(TEXTS, **sampled)
    assert run.predict(TEXTS, batch=1, **sampled) == whole
    assert run.predict(TEXTS[:1], **sampled) == whole[:1]
    assert run.predict(TEXTS, seed=1, **sampled) != whole
    many = run.predict(["a b"] * 8, **sampled)
    assert len(set(many)) > 1  # each line has a draw of its own


def test_options_out_of_range_are_refused(run):
    with pytest.raises(ConfigError, match="top_p"):
        run.predict(TEXTS, method="sample", top_p=0.0)


def test_many_lines_compile_no_more_than_a_few(run):
    from seqlab.train.programs import programs

    sizes = run._dataset.source_vocab, run._dataset.target_vocab
    decode = programs(run.config, *sizes).decode
    run.predict(TEXTS)
    before = decode.count
    run.predict(["a b c", "d", "b"] * 20)
    assert decode.count == before
