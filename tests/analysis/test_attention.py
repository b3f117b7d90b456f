"""Where a trained run looks, token by token."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from made import made
from seqlab import load_run
from seqlab.analysis.attention import Attention
from seqlab.build import ConfigError
from seqlab.models.attention import attention_maps
from toys import config, pair

pytestmark = pytest.mark.filterwarnings("ignore:outputs")


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return load_run(made(pair(), tmp_path_factory.mktemp("runs") / "pair"))


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    return load_run(made(config(), tmp_path_factory.mktemp("runs") / "lm"))


@pytest.fixture(scope="module")
def maps(translator):
    return translator.attention("a b d", "c a")


def test_every_row_and_column_has_its_token(maps):
    assert maps.source_tokens == ["a", "b", "d", "</s>"]
    assert maps.target_tokens == ["c", "a", "</s>"]
    assert (maps.rows("cross"), maps.columns("cross")) == (maps.target_tokens, maps.source_tokens)
    assert (maps.rows("encoder"), maps.columns("encoder")) == (maps.source_tokens,) * 2
    assert maps.rows("decoder") == ["c", "a", "</s>"]
    assert maps.columns("decoder") == ["<s>", "c", "a"]
    shapes = {part: maps[part].shape for part in maps.parts}
    assert shapes == {"cross": (2, 2, 3, 4), "encoder": (2, 2, 4, 4), "decoder": (2, 2, 3, 3)}
    assert maps.layers == {"cross": [0, 1], "encoder": [0, 1], "decoder": [0, 1]}
    for part in maps.parts:
        assert maps[part].dtype == np.float32
        np.testing.assert_allclose(maps[part].sum(-1), 1, atol=1e-5)
    assert not np.triu(maps["decoder"], 1).any()


def test_they_are_those_of_a_teacher_forced_pass(translator, maps):
    """Without padding, straight from the model."""
    vocabulary = translator._dataset._vocabularies
    source = jnp.array([[*vocabulary.source.encode("a b d"), 2]])
    inputs = jnp.array([[1, *vocabulary.target.encode("c a")]])
    found = jax.jit(functools.partial(attention_maps, translator.model))(
        translator.params,
        inputs,
        inputs > 0,
        source=source,
        source_mask=source > 0,
    )
    cross = np.stack([each.weights[0] for each in found if each.part == "cross"])
    np.testing.assert_allclose(maps["cross"], cross, atol=1e-6)


def test_without_a_target_it_is_the_prediction(translator):
    [[best]] = translator.hypotheses(["a b"])
    found = translator.attention("a b")
    assert found.target_tokens == translator._dataset.pieces(best.tokens, "target")
    assert found["cross"].shape == (2, 2, len(best.tokens), 3)


def test_a_language_model_looks_at_its_whole_row(language_model):
    found = language_model.attention("a b", "b a")
    row = ["<s>", "a", "b", "<sep>", "b", "a"]
    assert (found.source_tokens, found.target_tokens) == (["a", "b"], ["b", "a", "</s>"])
    assert found.columns("decoder") == row
    assert found.rows("decoder") == [*row[1:], "</s>"]
    assert {part: found[part].shape for part in found.parts} == {"decoder": (2, 2, 6, 6)}
    with pytest.raises(ConfigError, match=r"no 'cross' attention; its parts are: decoder"):
        found["cross"]
    with pytest.raises(ConfigError, match="decoder-only model has no EOS"):
        found.without_eos()


def test_a_model_without_attention_says_so(tmp_path):
    recurrent = config(
        model__depth=1,
        model__pattern="r",
        model__mixers={"r": "mixers.rnn.Rnn"},
        model__position="positions.base.Position",
    )
    run = load_run(made(recurrent, tmp_path / "run"))
    with pytest.raises(ConfigError, match=r"model\.pattern: this model has no attention"):
        run.attention("a b", "b")


def test_what_does_not_fit_is_cut_with_a_warning(translator):
    with pytest.warns(UserWarning, match="line 1 has 9 tokens, only the first 7 are read"):
        found = translator.attention("a b c d a b c d", "a")
    assert len(found.source_tokens) == 8
    with pytest.warns(UserWarning, match="target has 10 tokens, only the first 8 are read"):
        found = translator.attention("a", "a b c d a b c d a")
    assert found.target_tokens == ["a", "b", "c", "d"] * 2
    with pytest.raises(ValueError, match="source is empty"):
        translator.attention(" ")


def test_statistics_and_what_is_left_without_eos(maps):
    statistics = maps.statistics("cross")
    assert [set(layer) for layer in statistics] == [
        {"entropy", "relative_entropy", "distance", "scaled_distance", "sink"}
    ] * 2
    np.testing.assert_allclose(statistics[1]["sink"], maps["cross"][1, :, :, -1].mean(-1))
    left = maps.without_eos()
    assert left.columns("cross") == left.rows("encoder") == ["a", "b", "d"]
    assert left["cross"].shape == (2, 2, 3, 3)
    assert left["encoder"].shape == (2, 2, 3, 3)
    np.testing.assert_allclose(left["cross"].sum(-1), 1, atol=1e-5)
    np.testing.assert_array_equal(left["decoder"], maps["decoder"])


def test_layers_of_different_heads_are_given_one_by_one():
    one, two = np.ones((1, 1, 1), np.float32), np.ones((2, 1, 1), np.float32)
    found = Attention({"cross": [one, two]}, {"cross": [0, 3]}, ["a"], ["b"], ["<s>"], ["b"])
    assert [each.shape[0] for each in found.maps("cross")] == [1, 2]
    with pytest.raises(ValueError, match=r"layers \[0, 3\] of 'cross' have \[1, 2\] heads"):
        found["cross"]
