"""FLOPs counted in the jaxpr, against counts by hand."""

import jax
import jax.numpy as jnp
import pytest

from seqlab.build import build
from seqlab.nn.embedding import Embedding, Unembedding
from seqlab.train.flops import flops
from seqlab.train.size import TABLE, abstract_params, count, forward_flops, make_model, size
from seqlab.types import View
from toys import config, pair

T, D, V, H = 5, 8, 11, 2
A, B = jax.ShapeDtypeStruct((3, 4), "float32"), jax.ShapeDtypeStruct((4, 4), "float32")
ONCE = 2 * 3 * 4 * 4  # A @ B


def times(n):
    """A @ B, n times in a scan."""
    return lambda a, b: jax.lax.scan(lambda a, _: (a @ b, None), a, None, length=n)[0]


def branches(a, b):
    return jax.lax.cond(a[0, 0] > 0, lambda: a @ b @ b, lambda: a @ b)


@jax.custom_vjp
def product(a, b):
    return a @ b


product.defvjp(lambda a, b: (a @ b, (a, b)), lambda kept, g: (g @ kept[1].T, kept[0].T @ g))


@pytest.mark.parametrize(
    ("function", "products"),
    [
        (jnp.matmul, 1),
        (times(7), 7),
        (lambda a, b: times(2)(times(3)(a, b), b), 5),
        (lambda a, b: jax.lax.fori_loop(0, 6, lambda _, a: a @ b, a), 6),
        (branches, 2),
        (jax.jit(lambda a, b: jax.checkpoint(jnp.matmul)(a, b)), 1),
        (product, 1),
        (lambda a, b: jnp.exp(a) + b[:3], 0),
    ],
)
def test_products_are_counted_as_often_as_they_run(function, products):
    assert flops(function, A, B) == products * ONCE


def test_batched_products_and_convolutions():
    x, y = (jax.ShapeDtypeStruct(shape, "float32") for shape in ((6, 2, 3), (6, 3, 5)))
    assert flops(lambda x, y: jnp.einsum("bij,bjk->bik", x, y), x, y) == 6 * 2 * 2 * 3 * 5
    signal, kernel = (jax.ShapeDtypeStruct(s, "float32") for s in ((1, 4, 10), (6, 2, 3)))

    def convolve(signal, kernel):
        return jax.lax.conv_general_dilated(signal, kernel, (1,), "VALID", feature_group_count=2)

    assert flops(convolve, signal, kernel) == 2 * (6 * 8) * (2 * 3)


def test_a_loop_without_a_fixed_number_of_steps_is_refused():
    def search(a, b):
        return jax.lax.while_loop(lambda a: a[0, 0] < 1, lambda a: a @ b, a)

    with pytest.raises(ValueError, match="how often 'while' runs"):
        flops(search, A, B)
    harmless = jax.lax.while_loop
    assert flops(lambda a: harmless(lambda a: a[0, 0] < 1, lambda a: a + 1, a), A) == 0


def cost(module, *arguments):
    """FLOPs of a module's call."""
    params = jax.eval_shape(module.init, jax.random.key(0), *arguments)
    return flops(module.apply, params, *arguments)


X = jnp.zeros((1, T, D))
VIEW = View.of(jnp.ones((1, T), bool))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("mixers.gru.Gru", T * 2 * 3 * (D * D + D * D)),
        ("mixers.lstm.Lstm", T * 2 * 4 * (D * D + D * D)),
        ("mixers.attention.MultiHead", 4 * T * 2 * D * D + 2 * (2 * T * T * D)),
    ],
)
def test_mixers_by_hand(kind, expected):
    assert cost(build(kind, "mixer", width=D, heads=H, parent=None), X, VIEW) == expected


def test_looking_up_costs_nothing_and_logits_a_product():
    tokens, mask = jnp.zeros((1, T), jnp.int32), jnp.ones((1, T), bool)
    assert cost(Embedding(V, D), tokens, mask) == 0
    assert cost(Unembedding(V), X) == 2 * T * D * V


@pytest.mark.parametrize("remat", [False, True])
def test_a_token_costs_two_operations_a_parameter(remat):
    """But for the scores, which no parameter makes: 4 T D a layer and token."""
    width, depth, length = 64, 3, 6
    made = config(model__width=width, model__depth=depth, train__remat=remat)
    model = make_model(made, V, V)
    expected = 2 * length * count(abstract_params(model)) + depth * 4 * length**2 * width
    assert forward_flops(model, 2, 4) == pytest.approx(expected, rel=0.02)


def test_both_sides_of_a_pair_count():
    model = make_model(pair(), V, V)
    base = forward_flops(model, 3, 3)
    assert base < forward_flops(model, 5, 3) < forward_flops(model, 5, 5)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("made", [pair, config])
def test_without_embeddings_nothing_depends_on_the_vocabulary(made, tied):
    model = make_model(made(model__tie_embeddings=tied), TABLE, TABLE)
    small = make_model(made(model__tie_embeddings=tied), V, V)
    tables = (2 if made is pair else 1) + (not tied)
    whole = count(abstract_params(small))
    assert count(abstract_params(model), without=TABLE) == whole - tables * V * 16
    rows = 4 if made is pair else 7  # a decoder-only model reads the source in the same row
    logits = 2 * rows * V * 16
    assert forward_flops(model, 3, 4, without=TABLE) == forward_flops(small, 3, 4) - logits


def test_the_size_of_a_config_is_that_of_its_data():
    found = size(config())
    assert found.width == 16
    vocabulary = (found.parameters - found.parameters_without_embeddings) // 16
    assert found.parameters == count(abstract_params(make_model(config(), 8, vocabulary)))
    assert found.flops == forward_flops(make_model(config(), 8, vocabulary), 8, 8)
