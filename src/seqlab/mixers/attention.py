"""Multi-head self-attention."""

from typing import Any, ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.build import ConfigError
from seqlab.mixers.base import Mixer
from seqlab.nn.attend import attend
from seqlab.nn.cache import KeyValueCache
from seqlab.nn.dropout import dropout
from seqlab.nn.linear import Linear
from seqlab.nn.masks import causal_mask, visible
from seqlab.nn.norms import RMSNorm
from seqlab.nn.range import poison
from seqlab.nn.scores import Parameters, ScaledDot, Score
from seqlab.nn.weights import Softmax
from seqlab.positions.base import Position, Table
from seqlab.types import Memory, View


class Heads(Mixer):
    """What all multi-head attention shares: projections, their widths, the weighted sum.

    heads: H query heads of width K = D / H. kv_heads: G key/value heads, each serving H / G query
    heads (0: G = H; 1: multi-query). qk_norm: RMSNorm of every query and key over K, before
    rotation (Dehghani et al. 2023). score: how a key fits a query. weights: what becomes of the
    scores.
    """

    heads: int = 4
    kv_heads: int = 0
    qk_norm: bool = False
    score: Score = ScaledDot()
    weights: Softmax = Softmax()

    abstract: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heads < 1 or self.width % self.heads:
            valid = [h for h in range(1, self.width + 1) if self.width % h == 0]
            near = sorted(valid, key=lambda h: abs(h - self.heads))[:3]
            raise ConfigError(
                f"model.heads: width {self.width} is not divisible by {self.heads} heads; "
                f"nearest valid heads: {', '.join(map(str, sorted(near)))}"
            )
        if self.kv_heads and (self.kv_heads < 0 or self.heads % self.kv_heads):
            raise ConfigError(
                f"model.kv_heads: {self.heads} heads cannot share {self.kv_heads} key/value heads; "
                f"it must divide the heads"
            )

    @property
    def head_width(self) -> int:
        """K."""
        return self.width // self.heads

    @property
    def groups(self) -> int:
        """G."""
        return self.kv_heads or self.heads

    def split(self, name: str, x: jax.Array, heads: int) -> jax.Array:
        """Project x and split it into heads: [B, T, heads, K]."""
        y = Linear(heads * self.head_width, name=name)(x)
        return y.reshape(*x.shape[:2], heads, self.head_width)

    def queries(self, x: jax.Array) -> jax.Array:
        """Projected queries [B, T, H, K], normalised where asked for."""
        q = self.split("query", x, self.heads)
        return RMSNorm(name="query_norm")(q) if self.qk_norm else q

    def keys(self, x: jax.Array) -> jax.Array:
        """Projected keys [B, S, G, K], normalised where asked for."""
        k = self.split("key", x, self.groups)
        return RMSNorm(name="key_norm")(k) if self.qk_norm else k

    def score_parameters(self) -> Parameters:
        """The parameters of the score function, over heads of width K."""
        specs = self.score.specs(self.heads, self.groups, self.head_width, self.head_width)
        return {name: self.param(f"score_{name}", *spec) for name, spec in specs.items()}

    def combine(self, scores: jax.Array, v: jax.Array, mask: jax.Array, view: View) -> jax.Array:
        """Attend and project the heads' outputs back to D. The weights are sown as `weights`."""
        weights = self.weights(scores, mask)
        self.sow("intermediates", "weights", weights)
        y = attend(dropout(self, weights, view.dropout), v)
        self.sow("intermediates", "heads", y)
        return Linear(self.width, name="out")(y.reshape(*y.shape[:2], self.width))


class MultiHead(Heads):
    """y = W_o concat_h softmax(score(q_h, k_h) + bias) v_h. Vaswani et al. 2017.

    Its carry is a KeyValueCache; causality goes by slot, so that padding never matters.
    """

    position: Position = Position()

    abstract: ClassVar[bool] = False
    positional: ClassVar[bool] = True

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        view: View,
        carry: KeyValueCache | None = None,
        memory: Memory | None = None,
    ) -> tuple[jax.Array, KeyValueCache | None]:
        del memory
        if carry is not None and not self.causal:
            raise ValueError(
                "attention that sees the future cannot continue a carry (causal=False)"
            )
        q, k = self.queries(x), self.keys(x)
        v = self.split("value", x, self.groups)
        q, k = self.position.rotate(q, k, view.positions, view.positions)
        p = self.score_parameters()
        k = self.score.keys(p, k)
        if carry is None:
            keys, fits = view, None
            slots = key_slots = jnp.broadcast_to(jnp.arange(x.shape[1]), x.shape[:2])
        else:
            carry, slots, fits = carry.append(k, v, view)
            k, v, keys = carry.keys.astype(x.dtype), carry.values.astype(x.dtype), carry.view
            key_slots = jnp.broadcast_to(jnp.arange(k.shape[1]), k.shape[:2])
        mask = visible(view, keys, causal_mask(slots, key_slots) if self.causal else None)
        bias = self.position.bias(self._table(view), q, k, view.positions, keys.positions)
        y = self.combine(self.score(p, q, k) + bias, v, mask, view)
        return (y if fits is None else poison(y, fits)), carry

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> KeyValueCache:
        """Empty cache of `capacity` slots a row."""
        del memory
        return KeyValueCache.empty(batch, capacity, self.groups, self.head_width, self.dtype)

    def _table(self, view: View) -> Table | Any:
        if self.position.shared:
            return view.table
        specs = self.position.table(self.heads, self.head_width)
        return {name: self.param(f"position_{name}", *spec) for name, spec in specs.items()}
