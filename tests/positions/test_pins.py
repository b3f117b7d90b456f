"""Position encodings against numbers worked out by hand or in float64."""

import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.positions.alibi import Alibi, slopes
from seqlab.positions.learned import Learned
from seqlab.positions.rope import Rope
from seqlab.positions.shaw import Shaw
from seqlab.positions.sinusoidal import Sinusoidal, sinusoids
from seqlab.positions.t5 import T5


def at(*positions):
    return jnp.array([positions], jnp.int32)


def test_alibi_slopes():
    powers = [2.0**-n for n in range(1, 9)]
    np.testing.assert_allclose(slopes(8), powers)
    np.testing.assert_allclose(slopes(12), [*powers, 0.70711, 0.35355, 0.17678, 0.08839], atol=1e-5)
    np.testing.assert_allclose(slopes(6), [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125])
    assert slopes(1) == [2.0**-8]


def test_alibi_falls_with_distance_from_zero():
    q = jnp.zeros((1, 4, 8, 2))
    bias = Alibi().bias({}, q, q, at(0, 1, 2, 3), at(0, 1, 2, 3))
    assert bias.shape == (1, 8, 4, 4)
    np.testing.assert_allclose(bias[0, 0, 3], [-1.5, -1.0, -0.5, 0.0])
    np.testing.assert_allclose(bias[0, 7, 3], np.array([-3.0, -2.0, -1.0, 0.0]) / 256)


@pytest.mark.parametrize(
    ("causal", "pins"),
    [
        (
            False,
            "0:0 -1:1 1:17 -7:7 7:23 8:24 -20:10 20:26 -200:15 200:31",
        ),
        (True, "0:0 -1:1 -20:17 -200:31 7:0"),
    ],
)
def test_t5_buckets(causal, pins):
    relative, bucket = np.array([pin.split(":") for pin in pins.split()], int).T
    found = T5(buckets=32, max_distance=128, causal=causal).bucket(jnp.asarray(relative))
    np.testing.assert_array_equal(found, bucket)


def test_t5_reads_its_table_by_bucket_and_head():
    table = {"bias": jnp.arange(64.0).reshape(32, 2)}
    q = jnp.zeros((1, 2, 2, 4))
    bias = T5().bias(table, q, q, at(0, 1), at(0, 1))
    np.testing.assert_array_equal(bias[0, :, 1], [[2.0, 0.0], [3.0, 1.0]])


def test_sinusoids_interleave_sine_and_cosine():
    row = sinusoids(at(10), 8, 10000.0)[0, 0]
    np.testing.assert_allclose(row[0::2], [-0.54402, 0.84147, 0.09983, 0.01000], atol=1e-5)
    np.testing.assert_allclose(row[1::2], [-0.83907, 0.54030, 0.99500, 0.99995], atol=1e-5)


def test_sinusoids_go_on_for_ever_and_keep_the_dtype():
    x = jnp.zeros((1, 1, 4), jnp.bfloat16)
    y = Sinusoidal().embed({}, x, at(100_000))
    assert y.dtype == jnp.bfloat16
    assert np.isfinite(np.asarray(y, np.float32)).all()


@pytest.mark.parametrize("width", [3, 5])
def test_odd_widths_are_refused(width):
    with pytest.raises(ConfigError, match=f"even width, got {width}"):
        Sinusoidal().embed({}, jnp.zeros((1, 1, width)), at(0))
    with pytest.raises(ConfigError, match=f"even head width, got {width}"):
        Rope().turn(jnp.zeros((1, 1, 1, width)), at(0))


def test_rope_turns_by_one_radian_a_position():
    turned = Rope().turn(jnp.array([[[[1.0, 0.0]]]]), at(1))
    np.testing.assert_allclose(turned[0, 0, 0], [0.540302, 0.841471], atol=1e-6)


def test_rope_pairs_neighbours():
    """Channels 2 and 3 are the second pair, slower by 10000^(-2/4)."""
    turned = Rope().turn(jnp.array([[[[0.0, 0.0, 1.0, 0.0]]]]), at(1))
    np.testing.assert_allclose(turned[0, 0, 0], [0, 0, np.cos(0.01), np.sin(0.01)], atol=1e-6)


def test_rope_knows_distances_only():
    q, k = np.random.default_rng(0).normal(size=(2, 1, 1, 1, 64)).astype(np.float32)
    pairs = [(3, 1), (103, 101), (1003, 1001)]
    products = [
        float(jnp.sum(Rope().turn(jnp.asarray(q), at(m)) * Rope().turn(jnp.asarray(k), at(n))))
        for m, n in pairs
    ]
    np.testing.assert_allclose(products, products[0], atol=1e-4)
    same = Rope().turn(jnp.asarray(q), at(0))
    np.testing.assert_array_equal(same, q)
    turned = Rope().turn(jnp.asarray(q), at(1003))
    np.testing.assert_allclose(jnp.linalg.norm(turned), np.linalg.norm(q), rtol=1e-6)


def test_rope_in_bfloat16_still_tells_far_positions_apart():
    positions = np.array([256, 257, *range(4090, 4096)])
    unit = jnp.zeros((1, 8, 1, 64), jnp.bfloat16).at[..., 0::2].set(1.0)
    turned = np.asarray(Rope().turn(unit, at(*positions)), np.float64)[0, :, 0]
    angle = positions[:, None] * 10000.0 ** (-np.arange(0, 64, 2) / 64)
    np.testing.assert_allclose(turned[:, 0::2], np.cos(angle), atol=1e-2)
    np.testing.assert_allclose(turned[:, 1::2], np.sin(angle), atol=1e-2)
    assert np.abs(turned[0] - turned[1]).max() > 0.1


def test_shaw_clips_the_distance():
    table = {"keys": jnp.array([[1.0], [2.0], [3.0]])}  # distances -1, 0, +1
    q = jnp.full((1, 4, 1, 1), 2.0)
    bias = Shaw(clip=1).bias(table, q, q, at(0, 1, 2, 3), at(0, 1, 2, 3))
    np.testing.assert_allclose(bias[0, 0, 2], [2.0, 2.0, 4.0, 6.0])
    q = jnp.ones((1, 1, 1, 16))
    wide = Shaw(clip=1).bias({"keys": jnp.ones((3, 16))}, q, q, at(0), at(0))
    np.testing.assert_allclose(wide, 4.0)  # 16 / sqrt(16)


def test_fewer_positions_than_channels():
    """A table cut by the wrong axis shows only where positions are fewer than channels."""
    positions = at(*range(8))
    x = jnp.ones((1, 8, 1, 64))
    turned = Rope().turn(x, positions)
    angle = np.arange(8)[:, None] * 10000.0 ** (-np.arange(0, 64, 2) / 64)
    expected = np.cos(angle) - np.sin(angle)
    np.testing.assert_allclose(turned[0, :, 0, 0::2], expected, atol=1e-5)
    assert Learned(max_length=8).embed_table(64)["embedding"][1] == (8, 64)
    small = T5(buckets=4, max_distance=8)
    bias = small.bias({"bias": jnp.arange(4.0)[:, None]}, x, x, positions, positions)
    np.testing.assert_array_equal(bias[0, 0, 7], [3, 3, 3, 3, 2, 2, 1, 0])
