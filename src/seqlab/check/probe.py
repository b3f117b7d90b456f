"""A model with random parameters, compiled once for each of two fixed shapes."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from seqlab.models.base import Model
from seqlab.train.loss import cross_entropy
from seqlab.train.size import abstract_params, make_model

ROWS, TIME, SOURCE = 8, 8, 5
CHUNK, CHUNKS = 3, 8  # columns of a chunk, and how many there are
VOCABULARY = 16


@dataclasses.dataclass(frozen=True)
class Tokens:
    """inputs, targets [B, T] and source [B, S] with their masks; every array is NumPy's."""

    inputs: np.ndarray
    mask: np.ndarray
    targets: np.ndarray
    source: np.ndarray
    source_mask: np.ndarray


class Probe:
    """The model of a shrunk config, in float32 whatever the precision of the config.

    params: random everywhere, since zero biases and unit gains would hide what they do; drawn by
    NumPy, as compiling an initialisation takes longer than all laws together.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        full = {**config, "train": {**config["train"], "precision": "fp32"}}
        self.model: Model = make_model(full, VOCABULARY, VOCABULARY)
        self.source = SOURCE if self.model.layout == "pair" else 0
        random = np.random.default_rng(0)
        shapes = abstract_params(self.model)
        self.params = jax.tree_util.tree_map_with_path(functools.partial(_draw, random), shapes)

    def tokens(self, seed: int) -> Tokens:
        """Rows without padding, all of them equal."""
        random = np.random.default_rng(seed)

        def row(length: int) -> np.ndarray:
            return np.tile(random.integers(VOCABULARY, size=length, dtype=np.int32), (ROWS, 1))

        inputs, targets, source = row(TIME), row(TIME), row(self.source)
        return Tokens(inputs, np.ones_like(inputs, bool), targets, source, source > -1)

    def whole(self, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
        """Logits [B, T, V] and the summed loss of each row [B], over its real tokens."""
        found = self._whole(self.params, *dataclasses.astuple(tokens))
        return np.asarray(found[0]), np.asarray(found[1])

    def chunked(self, tokens: Tokens, inputs: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Logits [N, B, C, V] of chunks [N, B, C] that go on from one another by a carry, after
        the source of `tokens` was read."""
        source = tokens.source, tokens.source_mask
        return np.asarray(self._chunked(self.params, inputs, mask, *source))

    @functools.cached_property
    def _whole(self) -> Callable[..., Any]:
        def run(
            params: Any,
            inputs: jax.Array,
            mask: jax.Array,
            targets: jax.Array,
            source: jax.Array,
            source_mask: jax.Array,
        ) -> tuple[jax.Array, jax.Array]:
            logits = self._apply(params, inputs, mask, source=source, source_mask=source_mask)[0]
            loss = jax.vmap(_row_loss)(logits, targets, mask.astype(jnp.float32))
            return logits, loss

        return jax.jit(run)

    @functools.cached_property
    def _chunked(self) -> Callable[..., Any]:
        def run(
            params: Any,
            inputs: jax.Array,
            mask: jax.Array,
            source: jax.Array,
            source_mask: jax.Array,
        ) -> jax.Array:
            carry = self.model.init_carry(ROWS, TIME, self.source)
            if self.source:  # as decoding does: the first call reads the source, here alone
                given = {"source": source, "source_mask": source_mask, "carry": carry}
                _, carry = self._apply(params, inputs[0, :, :0], mask[0, :, :0], **given)

            def go_on(carry: Any, chunk: tuple[jax.Array, jax.Array]) -> tuple[Any, jax.Array]:
                logits, carry = self._apply(params, *chunk, carry=carry)
                return carry, logits

            return jax.lax.scan(go_on, carry, (inputs, mask))[1]

        return jax.jit(run)

    def _apply(self, params: Any, *inputs: jax.Array, **given: Any) -> Any:
        return self.model.apply({"params": params}, *inputs, **given)


def _row_loss(
    logits: Float[Array, "T V"], targets: jax.Array, weights: jax.Array
) -> Float[Array, ""]:
    return cross_entropy(logits[None], targets[None], weights[None])


def _draw(random: np.random.Generator, path: tuple, leaf: jax.ShapeDtypeStruct) -> jax.Array:
    """Matrices that keep the size of what they multiply, gains around 1, biases around 0."""
    name = path[-1].key
    fan_in = leaf.shape[-1] if name == "table" else leaf.shape[-2] if leaf.ndim > 1 else 1
    spread = 0.1 if name in ("scale", "bias") else max(fan_in, 1) ** -0.5
    values = (name == "scale") + spread * random.normal(size=leaf.shape)
    return jnp.asarray(values, leaf.dtype)
