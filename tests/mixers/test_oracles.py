"""Outputs, final states and gradients against PyTorch's modules, to 1e-5 in float32."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seqlab.mixers.attention import MultiHead
from seqlab.mixers.cross import Cross
from seqlab.mixers.gru import Gru
from seqlab.mixers.lstm import Lstm
from seqlab.mixers.rnn import Rnn
from seqlab.models.layer import Layer
from seqlab.nn.feedforward import FeedForward
from seqlab.nn.norms import LayerNorm
from seqlab.placements.post import Post
from seqlab.placements.pre import Pre
from seqlab.types import Memory, View

ORACLES = Path(__file__).parents[1] / "oracles"
KINDS = {"rnn": Rnn, "lstm": Lstm, "gru": Gru}


def load(name):
    with np.load(ORACLES / f"{name}.npz") as file:
        return {
            key: file[key].astype(np.float32) if file[key].dtype == np.float64 else file[key]
            for key in file.files
        }


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def view_of(mask):
    return View.of(jnp.asarray(mask))


def recurrent_params(kind, arrays, suffix, prefix, of="p_"):
    """Torch's weights of one direction of one layer under our names; with of="gradp_", gradients.

    Torch adds two bias vectors; for gradients either of them is that of the sum.
    """
    b_i, b_h = arrays[f"{of}bias_ih_{suffix}"], arrays[f"{of}bias_hh_{suffix}"]
    params = {
        f"{prefix}kernel": arrays[f"{of}weight_ih_{suffix}"].T,
        f"{prefix}recurrent": arrays[f"{of}weight_hh_{suffix}"].T,
    }
    gradient = of == "gradp_"
    if kind != "gru":
        return params | {f"{prefix}bias": b_i if gradient else b_i + b_h}
    hidden = len(b_h) // 3
    # Torch adds b_h to the gates, but keeps it inside the reset for n.
    shared = np.where(gradient | (np.arange(3 * hidden) >= 2 * hidden), 0, b_h).astype(b_h.dtype)
    return params | {f"{prefix}bias": b_i + shared, f"{prefix}inner_bias": b_h[2 * hidden :]}


@pytest.mark.parametrize("shape", ["uni1", "bi2"])
@pytest.mark.parametrize("kind", KINDS)
def test_recurrence_equals_torch(kind, shape):
    arrays = load(f"{kind}_{shape}")
    both = shape == "bi2"
    layers = 2 if both else 1
    mask = np.arange(6)[None] < arrays["in_lengths"][:, None]
    cells = [
        KINDS[kind](width=8 if both else 4, hidden=4, bidirectional=both, causal=not both)
        for _ in range(layers)
    ]

    def params(of):
        return [
            recurrent_params(kind, arrays, f"l{layer}", "", of)
            | (recurrent_params(kind, arrays, f"l{layer}_reverse", "backward_", of) if both else {})
            for layer in range(layers)
        ]

    def run(params, x):
        states = []
        for cell, own in zip(cells, params, strict=True):
            x, carry = cell.apply({"params": own}, x, view_of(mask))
            states.append(carry.state)
        return jnp.sum(x * arrays["cot"] * mask[..., None].astype(np.float32)), (x, states)

    gradient = jax.jit(jax.value_and_grad(run, argnums=(0, 1), has_aux=True))
    (_, (y, states)), (of_params, of_x) = gradient(params("p_"), jnp.asarray(arrays["in_x"]))

    close(y[mask], arrays["out_y"][mask])
    close(of_x, arrays["grad_x"])
    for ours, theirs in zip(of_params, params("gradp_"), strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours:
            close(ours[name], theirs[name])
    for name in states[0]:  # torch: [layers * directions, B, H], forward before backward
        key = name.removeprefix("backward_")
        place = int(name.startswith("backward_"))
        final = np.stack([state[name] for state in states])
        close(final, arrays[f"out_{key}"][place :: 2 if both else 1])


def attention_params(arrays, prefix="", of="p_"):
    weight, bias = arrays[f"{of}{prefix}in_proj_weight"], arrays[f"{of}{prefix}in_proj_bias"]
    parts = zip(("query", "key", "value"), np.split(weight, 3), np.split(bias, 3), strict=True)
    params = {name: {"kernel": w.T, "bias": b} for name, w, b in parts}
    out = f"{of}{prefix}out_proj."
    return params | {"out": {"kernel": arrays[f"{out}weight"].T, "bias": arrays[f"{out}bias"]}}


def compare_trees(ours, theirs):
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    jax.tree.map(close, ours, theirs)


@pytest.mark.parametrize("kind", ["self", "causal", "cross"])
def test_multi_head_attention_equals_torch(kind):
    arrays = load(f"mha_{kind}")
    memory_mask = ~arrays["in_key_pad"]
    if kind == "cross":
        mixer = Cross(width=8, heads=2)
        view = view_of(np.ones((3, 6), bool))
        memory = Memory(jnp.asarray(arrays["in_memory"]), view_of(memory_mask))
    else:
        mixer, memory = MultiHead(width=8, heads=2, causal=kind == "causal"), None
        view = view_of(memory_mask)

    def run(params, x):
        (y, _), sown = mixer.apply(
            {"params": params}, x, view, memory=memory, mutable=["intermediates"]
        )
        return jnp.sum(y * arrays["cot"]), (y, sown["intermediates"]["weights"][0])

    gradient = jax.jit(jax.value_and_grad(run, argnums=(0, 1), has_aux=True))
    params = attention_params(arrays)
    (_, (y, weights)), (of_params, of_x) = gradient(params, jnp.asarray(arrays["in_x"]))
    close(y, arrays["out_y"])
    close(weights, arrays["out_weights"])
    close(of_x, arrays["grad_x"])
    compare_trees(of_params, attention_params(arrays, of="gradp_"))


def layer_params(arrays, attentions, of="p_"):
    norms = [*(f"{name}_norm" for name in attentions), "feedforward_norm"]
    params = {name: attention_params(arrays, prefix, of) for name, prefix in attentions.items()}
    for number, name in enumerate(norms, 1):
        scale, bias = arrays[f"{of}norm{number}.weight"], arrays[f"{of}norm{number}.bias"]
        params[name] = {"scale": scale, "bias": bias}
    params["feedforward"] = {
        name: {"kernel": arrays[f"{of}{torch}.weight"].T, "bias": arrays[f"{of}{torch}.bias"]}
        for name, torch in (("up", "linear1"), ("down", "linear2"))
    }
    return params


@pytest.mark.parametrize("placement", [Pre(), Post()])
@pytest.mark.parametrize("name", ["encoder_{}_relu", "encoder_{}_gelu", "decoder_{}_relu"])
def test_transformer_layer_equals_torch(name, placement):
    arrays = load(name.format(type(placement).__name__.lower()))
    if name.startswith("encoder"):
        attentions = {"a": "self_attn."}
        mixers = {"a": MultiHead(width=8, heads=2, causal=False)}
        mask, memory = ~arrays["in_key_pad"], None
    else:
        attentions = {"a": "self_attn.", "x": "multihead_attn."}
        mixers = {"a": MultiHead(width=8, heads=2), "x": Cross(width=8, heads=2)}
        mask = np.ones((3, 6), bool)
        memory = Memory(jnp.asarray(arrays["in_memory"]), view_of(~arrays["in_memory_pad"]))
    feedforward = FeedForward(activation=name.rpartition("_")[2])
    layer = Layer(tuple(attentions), mixers, placement, LayerNorm(eps=1e-5), feedforward)
    weight = jnp.asarray(arrays["cot"] * mask[..., None].astype(np.float32))

    def run(params, x):
        y, _ = layer.apply({"params": params}, x, view_of(mask), memory)
        return jnp.sum(y * weight), y

    gradient = jax.jit(jax.value_and_grad(run, argnums=(0, 1), has_aux=True))
    params = layer_params(arrays, attentions)
    (_, y), (of_params, of_x) = gradient(params, jnp.asarray(arrays["in_x"]))
    close(y[mask], arrays["out_y"][mask])
    close(of_x, arrays["grad_x"])
    compare_trees(of_params, layer_params(arrays, attentions, "gradp_"))
