"""What recurrences with attention inside share: the source they hold, and the scan over time."""

from typing import Any, ClassVar

import flax.struct
import jax
import jax.numpy as jnp

from seqlab.mixers.base import Mixer
from seqlab.mixers.cross import MemoryCache, recall
from seqlab.mixers.gru import Gru
from seqlab.mixers.recurrent import Parameters, Recurrent
from seqlab.nn.attend import attend
from seqlab.nn.masks import visible
from seqlab.nn.recurrence import State, masked_scan
from seqlab.nn.scores import Additive, Score
from seqlab.nn.weights import Softmax
from seqlab.types import Leaf, Memory, View, at_last, segment_starts


@flax.struct.dataclass
class AttentiveCarry:
    """state: name -> [B, H], at least float32. segment [B]: that of the last real token, -1 before
    the first. source: scored keys [B, S, 1, A] and values [B, S, 1, U], made once a source."""

    state: Leaf
    segment: Leaf
    source: MemoryCache


class Attentive(Mixer):
    """A recurrence that looks at the source at every step, so that only a scan can train it.

    cell: the recurrence (None: a GRU). score: how a key fits the query, which is a state of the
    cell. weights: what becomes of the scores. memory_width: width of the encoder (0: as the
    decoder).
    """

    cell: Recurrent | None = None
    score: Score = Additive()
    weights: Softmax = Softmax()
    memory_width: int = 0

    abstract: ClassVar[bool] = True
    cross: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.cell is None:
            self.cell = Gru(self.width, parent=None)
        super().__post_init__()

    @property
    def recurrence(self) -> Recurrent:
        """The cell."""
        assert self.cell is not None
        return self.cell

    @property
    def units(self) -> int:
        """H, hidden units of the cell."""
        return self.recurrence.units

    @property
    def bridged(self) -> tuple[str, ...]:
        """The states that an encoder may set."""
        return self.recurrence.states

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of all states of the carry."""
        return self.recurrence.states

    @property
    def source_width(self) -> int:
        """U."""
        return self.memory_width or self.width

    def look(
        self, p: Parameters, query: jax.Array, source: MemoryCache, seen: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Context [B, U] and weights [B, S] of a query [B, H]; seen: [B, S]."""
        query = query.astype(source.values.dtype)[:, None, None]
        weights = self.weights(self.score(p, query, source.keys), seen[:, None, None])
        context = attend(weights, source.values)
        return context[:, 0, 0].astype(jnp.float32), weights[:, 0, 0]

    def begin(
        self, x: jax.Array, carry: AttentiveCarry | None, memory: Memory | None
    ) -> tuple[Parameters, MemoryCache, AttentiveCarry]:
        """Parameters of the score (queries of H units, keys of U), the source with its keys scored
        as far as the queries do not matter, and the carry to go on from."""
        specs = self.score.specs(1, 1, self.units, self.source_width)
        p = {name: self.param(f"score_{name}", *spec) for name, spec in specs.items()}
        start = carry or self.init_carry(x.shape[0], 0)
        before = None if carry is None else carry.source
        return p, recall(self.score, p, x.dtype, memory, before), start

    def cell_parameters(self, dtype: Any, extra: int) -> tuple[Parameters, jax.Array, jax.Array]:
        """The cell's parameters, and its input kernel cut into that of x and that of the `extra`
        features which only exist inside the scan."""
        parameters = self.recurrence.parameters(self, "", self.width + extra)
        outer, inner = jnp.split(parameters["kernel"], [self.width])
        recurrent = parameters["recurrent"].astype(dtype)
        return {**parameters, "recurrent": recurrent}, outer, inner

    def scan(
        self, step: Any, x: jax.Array, view: View, carry: AttentiveCarry, source: MemoryCache
    ) -> tuple[State, Any]:
        """Run step(state, (x_t, seen_t)) over time; seen: which source tokens each step may see."""
        seen = visible(view, source.view)[:, 0]
        starts = segment_starts(view.mask, view.segments, carry.segment)
        state = {key: value.astype(jnp.float32) for key, value in carry.state.items()}
        return masked_scan(step, state, (x, seen), view.mask, starts)

    def after(
        self, state: State, view: View, start: AttentiveCarry, source: MemoryCache
    ) -> AttentiveCarry:
        """The carry that goes on from here."""
        return AttentiveCarry(state, at_last(view.segments, view.mask, start.segment), source)

    def init_carry(self, batch: int, capacity: int, memory: int = 0) -> AttentiveCarry:
        """Zero state, room for `memory` source tokens, none of them real."""
        del capacity
        zero = jnp.zeros((batch, self.units), jnp.float32)
        tokens = jnp.zeros((batch, memory), jnp.int32)
        keys = jnp.zeros((batch, memory, 1, self.units), self.dtype)
        values = jnp.zeros((batch, memory, 1, self.source_width), self.dtype)
        source = MemoryCache(keys, values, tokens > 0, tokens)
        segment = jnp.full(batch, -1, jnp.int32)
        return AttentiveCarry(dict.fromkeys(self.kept, zero), segment, source)
