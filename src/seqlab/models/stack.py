"""Layers from a pattern, equal neighbours scanned."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from seqlab.build import ConfigError, build
from seqlab.mixers.base import Mixer
from seqlab.models.layer import Carries, Layer, norm_factory
from seqlab.models.pattern import Layers, parse, runs
from seqlab.nn.feedforward import PositionWise
from seqlab.placements.base import Placement
from seqlab.positions.base import Position
from seqlab.types import Memory, View


class Stack(nn.Module):
    """finish(layer_L(... layer_1(start(x)))).

    The parameters of a run of equal layers are stacked on axis 0 under `run_<i>`. Without a carry
    a run is scanned, so that compile time does not grow with depth. With a carry its layers are
    applied one by one to slices of the same parameters: each cache stays a buffer of its own that
    is updated in place, where a scan would copy all of them every step. remat: recompute each
    layer in the backward pass instead of keeping its activations (Chen et al. 2016).
    """

    layers: Layers
    mixers: Mapping[str, Mixer]
    placement: Placement
    norm: nn.Module
    feedforward: PositionWise
    position: Position
    heads: int
    width: int
    remat: bool = False

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        view: View,
        memory: Memory | None = None,
        carry: list[Carries] | None = None,
        starts: list[Carries] | None = None,
    ) -> tuple[jax.Array, list[Carries]]:
        """x [B, T, D] -> [B, T, D], and a carry a layer: without a `carry` to go on from, that of
        the mixers which have a final state. starts: states that the recurrences of a whole
        sequence begin with, and None for other mixers."""
        if self.position.shared:
            specs = self.position.table(self.heads, self.width // self.heads)
            table = {name: self.param(f"position_{name}", *spec) for name, spec in specs.items()}
            view = dataclasses.replace(view, table=table)
        norm = norm_factory(self, self.norm)
        stream = self.placement.start(x, norm)
        after: list[Carries] = []
        for index, (sublayers, length) in enumerate(runs(self.layers)):
            name = f"run_{index}"
            mine = slice(len(after), len(after) + length)
            if carry is None:
                begin = [None] * length if starts is None else starts[mine]
                stream, done = self._scan(name, sublayers, begin, stream, view, memory)
            else:
                stream, done = self._one_by_one(name, sublayers, carry[mine], stream, view, memory)
            after += done
        return self.placement.finish(stream, norm), after

    def init_carry(self, batch: int, capacity: int, memory: int) -> list[Carries]:
        """One carry a layer."""
        return [
            self._layer(names, parent=None).init_carry(batch, capacity, memory)
            for names in self.layers
        ]

    def _layer(self, sublayers: tuple[str, ...], kind: Any = Layer, **where: Any) -> Layer:
        # Templates leave this module unbound: a bound one would come out of nn.scan stacked.
        return kind(
            sublayers,
            {name: mixer.clone(parent=None) for name, mixer in self.mixers.items()},
            self.placement,
            self.norm.clone(parent=None),
            self.feedforward.clone(parent=None),
            **where,
        )

    def _scan(self, name, sublayers, begin, stream, view, memory):
        layer = nn.remat(Layer, prevent_cse=False) if self.remat else Layer
        axes: Any = (nn.broadcast, nn.broadcast, 0)  # view and memory are the same for all layers
        length = len(begin)
        scanned = nn.scan(
            layer,
            variable_axes={"params": 0, "intermediates": 0, "diagnostics": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=axes,
            length=length,
        )
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *begin)
        layer = self._layer(sublayers, scanned, name=name)
        stream, after = layer(stream, view, memory, stacked)
        return stream, [jax.tree.map(lambda a, i=i: a[i], after) for i in range(length)]

    def _one_by_one(self, name, sublayers, carries, stream, view, memory):
        layer = self._layer(sublayers, parent=None)
        stacked = self.variables["params"][name]
        after = []
        for index, carry in enumerate(carries):
            own = jax.tree.map(lambda p, i=index: p[i], stacked)
            rngs = {} if view.dropout is None else {"dropout": self.make_rng("dropout")}
            stream, done = layer.apply({"params": own}, stream, view, memory, carry, rngs=rngs)
            after.append(done)
        return stream, after


def build_stack(
    config: Mapping[str, Any],
    where: str,
    causal: bool,
    dtype: str,
    remat: bool,
    memory_width: int = 0,
) -> Stack:
    """The stack that a model config (or its encoder / decoder part) describes.

    memory_width: width of the encoder that it reads.

    Raises ConfigError for a part that does not exist or does not fit, naming its key.
    """
    width, heads = config["width"], config["heads"]
    position = build(config["position"], f"{where}.position", causal=causal)
    shared = {
        "width": width,
        "heads": heads,
        "kv_heads": config["kv_heads"],
        "causal": causal,
        "dtype": dtype,
        "memory_width": memory_width,
        "position": position,
        "parent": None,
    }
    layers = parse(config["pattern"], config["mixers"], f"{where}.pattern") * config["depth"]
    used = sorted({name for layer in layers for name in layer})
    mixers = {
        name: build(config["mixers"][name], f"{where}.mixers.{name}", **shared) for name in used
    }
    attends = any(mixer.positional for mixer in mixers.values())
    if position.acts_in_attention() and not position.acts_on_input() and not attends:
        raise ConfigError(
            f"{where}.position: {config['position']!r} acts in self-attention, which the pattern "
            f"{config['pattern']!r} lacks; use positions.base.Position or one that acts on the "
            "input"
        )
    return Stack(
        layers=layers,
        mixers=mixers,
        placement=build(config["placement"], f"{where}.placement"),
        norm=build(config["norm"], f"{where}.norm", parent=None),
        feedforward=build(config["feedforward"], f"{where}.feedforward", parent=None),
        position=position,
        heads=heads,
        width=width,
        remat=remat,
        parent=None,
    )
