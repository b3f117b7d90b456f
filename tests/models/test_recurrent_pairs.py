"""Encoder-decoders of recurrences: fixed vectors, bridges, attention, what they refuse."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.models.attention import attention_maps
from seqlab.models.bridge import Project, Shape
from seqlab.train.size import make_model
from toys import RECURRENT, model_of, recurrent

PROJECT, COPY, NONE = (f"models.bridge.{name}" for name in ("Project", "Copy", "NoBridge"))
BACKWARDS = {"pattern": "s s", "mixers": {"s": {"kind": "mixers.lstm.Lstm", "reverse": True}}}
NARROW = {"pattern": "s", "width": 24, "mixers": {"s": "mixers.lstm.Lstm"}}
CASES = {
    "fixed": ("r", PROJECT, None),
    "fed": ("c+r", NONE, None),
    "copied": ("s s", COPY, BACKWARDS),
    "bahdanau": ("b", PROJECT, NARROW),
    "luong": ("r r+l", PROJECT, None),
    "feeding": ("f", NONE, None),
}
ATTENTIVE = ("bahdanau", "luong", "feeding")
LENGTHS, SOURCES = jnp.array([5, 2, 4]), jnp.array([6, 3, 1])
RANDOM = np.random.default_rng(0)


@functools.cache
def built(case):
    pattern, bridge, encoder = CASES[case]
    model, params = model_of(recurrent(pattern, bridge, encoder))

    @jax.jit
    def whole(tokens, mask, source, source_mask):
        return model.apply(
            {"params": params}, tokens, mask, source=source, source_mask=source_mask
        )[0]

    return model, params, whole


def rows(seed, time, lengths, offset=0):
    """Random tokens with random ones in the padding, and the mask."""
    tokens = np.random.default_rng(seed).integers(0, 11, (len(lengths), time), np.int32)
    place = jnp.arange(time)[None] - offset
    return jnp.asarray(tokens), (place >= 0) & (place < jnp.asarray(lengths)[:, None])


@pytest.mark.parametrize("case", CASES)
def test_decoding_step_by_step_equals_the_whole(case):
    model, params, whole = built(case)
    tokens, mask = rows(0, 5, LENGTHS)
    source, source_mask = rows(1, 6, SOURCES)
    expected = whole(tokens, mask, source, source_mask)
    carry = model.init_carry(3, 5, 6)
    run = jax.jit(lambda t, m, c, **s: model.apply({"params": params}, t, m, carry=c, **s))
    given = {"source": source, "source_mask": source_mask}
    for t in range(5):
        logits, carry = run(tokens[:, t : t + 1], mask[:, t : t + 1], carry, **given)
        given = {}
        real = np.asarray(mask[:, t])
        np.testing.assert_allclose(logits[real, 0], expected[real, t], atol=1e-5)
    np.testing.assert_array_equal(carry.seen, LENGTHS)


@pytest.mark.parametrize("case", CASES)
def test_padding_changes_nothing(case):
    """Two rows padded to 9 and 16 columns with other ids, the source on the left, too."""
    _, _, whole = built(case)
    lengths = (2, 5)
    tokens, mask = rows(0, 5, lengths)
    source, source_mask = rows(1, 5, lengths)
    expected = np.asarray(whole(tokens, mask, source, source_mask))[np.asarray(mask)]
    for width, shift in ((9, 0), (16, 0), (9, 3)):
        wide, wide_mask = rows(2, width, lengths)
        far, far_mask = rows(3, width, lengths, shift)
        wide = wide.at[wide_mask].set(tokens[mask])
        far = far.at[far_mask].set(source[source_mask])
        found = np.asarray(whole(wide, wide_mask, far, far_mask))[np.asarray(wide_mask)]
        np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("case", ATTENTIVE)
def test_padding_has_no_weight_however_large_the_scores(case):
    model, params, _ = built(case)
    large = jax.tree_util.tree_map_with_path(
        lambda path, leaf: leaf * (1e4 if "score" in str(path) else 1.0), params
    )
    tokens, mask = rows(0, 5, LENGTHS)
    source, source_mask = rows(1, 6, SOURCES)
    given = {"source": source, "source_mask": source_mask}
    (found,) = jax.jit(lambda p: attention_maps(model, p, tokens, mask, **given))(large)
    weights = np.asarray(found.weights)
    assert np.all(weights[~np.broadcast_to(source_mask[:, None, None], weights.shape)] == 0.0)
    real = np.broadcast_to(np.asarray(mask)[:, None], weights.shape[:3])
    np.testing.assert_allclose(weights.sum(axis=-1)[real], 1.0, atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_the_source_reaches_every_target(case):
    model, params, _ = built(case)
    tokens, mask = rows(0, 4, (4,))
    source, source_mask = rows(1, 3, (3,))

    def last(table):
        moved = {**params, "encoder": {**params["encoder"], "embedding": {"table": table}}}
        logits, _ = model.apply(
            {"params": moved}, tokens, mask, source=source, source_mask=source_mask
        )
        return logits[0, :, :3]

    slopes = jax.jit(jax.jacrev(last))(params["encoder"]["embedding"]["table"])
    for token in set(source[0].tolist()):
        assert np.all(np.abs(slopes[:, :, token]).max(axis=(1, 2)) > 0)


def test_a_copied_state_is_the_encoders():
    """Encoder and decoder with the same parameters and tokens: the decoder goes on as if it had
    read the source itself."""
    model, params = model_of(recurrent("r", COPY, {"pattern": "r"}))
    params = {**params, "decoder": {**params["encoder"]}}
    run = jax.jit(lambda *a, **k: model.apply({"params": params}, *a, **k)[0])
    tokens, _ = rows(0, 7, (7,))
    true, empty = jnp.ones((1, 7), bool), jnp.zeros((1, 1), jnp.int32)
    whole = run(tokens, true, source=empty, source_mask=empty > 0)
    rest = run(tokens[:, 4:], true[:, 4:], source=tokens[:, :4], source_mask=true[:, :4])
    np.testing.assert_allclose(rest, whole[:, 4:], atol=1e-5)


def test_a_projected_state_is_bounded_and_a_cell_is_not():
    wanted = [Shape(("h", "c"), 3)]
    states = [{"h": jnp.ones((1, 2)) * 9, "backward_h": jnp.ones((1, 2)) * 9}]
    params = {name: {"kernel": jnp.ones((4, 3)), "bias": jnp.ones(3)} for name in ("h_0", "c_0")}
    (found,) = Project().apply({"params": params}, states, wanted)
    np.testing.assert_allclose(found["c"], 37.0)
    np.testing.assert_allclose(found["h"], 1.0)


@pytest.mark.parametrize(
    ("pattern", "bridge", "encoder", "says"),
    [
        ("s", COPY, None, "the encoder has h of 16 and the decoder h/c of 16; use .*Project"),
        ("r*2", COPY, None, "needs equal recurrences"),
        ("a+x", PROJECT, {"pattern": "r"}, "the decoder has none"),
        ("r", PROJECT, {"pattern": "a"}, "the encoder has none; use models.bridge.NoBridge"),
        ("r", NONE, None, "no sublayer reads the encoder.*or a model.bridge"),
        ("r+d", PROJECT, NARROW, "Dot needs queries and keys of one width, got 16 and 24"),
    ],
)
def test_what_does_not_fit_says_so(pattern, bridge, encoder, says):
    mixers = {
        **RECURRENT,
        "a": "mixers.attention.MultiHead",
        "x": "mixers.cross.Cross",
        "d": "mixers.luong.Luong",
    }
    settings = recurrent(pattern, bridge, encoder, model__mixers=mixers)
    with pytest.raises(ConfigError, match=says):
        model_of(settings)


@pytest.mark.parametrize("case", ["fixed", "fed"])
def test_one_vector_cannot_hold_packed_sources(case):
    model, params, _ = built(case)
    tokens, mask = rows(0, 3, (3,))
    with pytest.raises(ValueError, match="rows cannot hold several"):
        model.apply(
            {"params": params},
            tokens,
            mask,
            source=tokens,
            source_mask=mask,
            source_segments=jnp.zeros((1, 3), jnp.int32),
        )


def test_attention_of_a_recurrence_counts_its_parameters():
    """GRU of 16 with Bahdanau attention: cell (2 x 16 + 16 + 1) x 48 + 16, score 2 x 256 + 16,
    output 48 x 16 + 16, and the projected start."""
    config = recurrent("b", PROJECT, model__mixers={**RECURRENT, "b": "mixers.bahdanau.Bahdanau"})
    _, params = model_of(config)
    own = params["decoder"]["stack"]["run_0"]["b"]
    count = sum(leaf.size for leaf in jax.tree.leaves(own))
    assert count == (32 + 16 + 1) * 48 + 16 + 2 * 256 + 16 + 48 * 16 + 16
    assert params["bridge"]["h_0"]["kernel"].shape == (16, 16)
    assert make_model(config, 11, 11).bridge.present
