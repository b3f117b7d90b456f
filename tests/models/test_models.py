"""What models refuse, and what keeps their parts apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.train.size import abstract_params, make_model
from toys import config, model_of, pair

TOKENS = jnp.array([[3, 4, 5]], jnp.int32)
MASK = jnp.ones((1, 3), bool)


def test_a_decoder_that_reads_no_encoder_is_refused():
    with pytest.raises(ConfigError, match=r"model.decoder.pattern: no sublayer reads the encoder"):
        make_model(pair(model__decoder={"pattern": "a"}), 11, 11)


def test_a_position_that_can_have_no_effect_is_refused():
    recurrent = {"model__mixers": {"a": "mixers.gru.Gru"}}
    with pytest.raises(ConfigError, match=r"model.position: 'positions.rope.Rope' acts in self-at"):
        make_model(config(model__position="positions.rope.Rope", **recurrent), 11, 11)
    make_model(config(model__position="positions.learned.Learned", **recurrent), 11, 11)


def test_an_option_of_one_half_that_no_model_has_is_refused():
    from seqlab.models.base import part_config

    with pytest.raises(ConfigError, match=r"model.encoder.widht: no such option"):
        part_config({"width": 4, "encoder": {"widht": 8}}, "encoder")


def test_heads_that_do_not_divide_the_width_are_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"width 16 is not divisible by 3 heads.*: 1, 2, 4"):
        make_model(config(model__heads=3), 11, 11)


def test_a_language_model_takes_no_source():
    model, params = model_of(config(model__depth=1))
    with pytest.raises(ValueError, match="reads its source as a prefix"):
        model.apply({"params": params}, TOKENS, MASK, source=TOKENS)


def test_halves_may_differ():
    options = pair(model__encoder={"depth": 3}, model__decoder={"pattern": "a+x", "depth": 1})
    params = abstract_params(make_model(options, 9, 13))
    below, above = (params[name]["stack"]["run_0"] for name in ("encoder", "decoder"))
    assert jax.tree.leaves(below)[0].shape[0] == 3
    assert jax.tree.leaves(above)[0].shape[0] == 1
    assert set(above) - set(below) == {"x", "x_norm"}
    assert params["encoder"]["embedding"]["table"].shape == (9, 16)
    assert params["decoder"]["embedding"]["table"].shape == (13, 16)


def test_the_source_matters_and_its_padding_does_not():
    model, params = model_of(pair(model__depth=1))

    @jax.jit
    def logits(source, mask):
        return model.apply({"params": params}, TOKENS, MASK, source=source, source_mask=mask)[0]

    mask = jnp.array([[True, True, False]])
    first = logits(jnp.array([[3, 4, 5]], jnp.int32), mask)
    np.testing.assert_array_equal(first, logits(jnp.array([[3, 4, 9]], jnp.int32), mask))
    assert np.abs(first - logits(jnp.array([[3, 5, 5]], jnp.int32), mask)).max() > 1e-3
