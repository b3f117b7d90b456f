"""Where a run looks: the attention weights for one source and one target.

    maps = run.attention("the cat sat")          # the target: the run's own prediction
    maps["cross"]                                # [layer, head, T, S]
    maps.source_tokens, maps.target_tokens       # "the", "cat", "sat", "</s>"; ...

Row t belongs to the target token that was predicted there (EOS is the last one). Parts:

    part      rows                                columns
    cross     target_tokens                       source_tokens
    encoder   source_tokens                       source_tokens
    decoder   the tokens predicted                input_tokens: BOS and all predicted but the last

A decoder-only model has one part, "decoder", over its whole row: BOS, source, SEP, target.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from seqlab.analysis import weights
from seqlab.build import ConfigError, suggest
from seqlab.data.dataset import Dataset
from seqlab.models.attention import AttentionMap, attention_maps
from seqlab.models.base import Model
from seqlab.types import Batch

STEP = 16  # rows are padded to a multiple of it, so that few programs are compiled
Map = Float[np.ndarray, "_ _ _"]  # [H, T, S], other heads in other layers


@dataclasses.dataclass(frozen=True)
class Attention:
    """The maps of one example, and the tokens they are about, as text.

    parts: part -> one map [H, T, S] a layer that attends, bottom first. layers: part -> number of
    each of these layers in its stack, from 0. input_tokens: what the decoder read, and
    predicted_tokens: what it wrote after each of them.
    """

    parts: Mapping[str, Sequence[Map]]
    layers: Mapping[str, Sequence[int]]
    source_tokens: Sequence[str]
    target_tokens: Sequence[str]
    input_tokens: Sequence[str]
    predicted_tokens: Sequence[str]

    def maps(self, part: str) -> Sequence[Map]:
        """The maps [H, T, S] of a part. Raises ConfigError for a part that the model lacks."""
        if part not in self.parts:
            raise ConfigError(
                f"part: this model has no {part!r} attention"
                + suggest(part, self.parts, "its parts are")
            )
        return self.parts[part]

    def __getitem__(self, part: str) -> Float[np.ndarray, "L H T S"]:
        """All maps of a part in one array. Raises ValueError where layers differ in heads."""
        maps = self.maps(part)
        heads = [each.shape[0] for each in maps]
        if len(set(heads)) > 1:
            raise ValueError(
                f"the layers {list(self.layers[part])} of {part!r} have {heads} heads and do not "
                f"fit into one array; take them one by one from maps({part!r})"
            )
        return np.stack(maps)

    def rows(self, part: str) -> Sequence[str]:
        """The token of each row."""
        self.maps(part)
        named = {"cross": self.target_tokens, "encoder": self.source_tokens}
        return named.get(part, self.predicted_tokens)

    def columns(self, part: str) -> Sequence[str]:
        """The token of each column."""
        self.maps(part)
        return self.input_tokens if part == "decoder" else self.source_tokens

    def statistics(self, part: str = "cross") -> list[dict[str, np.ndarray]]:
        """For each layer, numbers [H] a head.

        entropy (nats), relative_entropy (of ln S), distance (tokens), scaled_distance, sink: the
        share of the source's EOS (of BOS in a decoder, where Xiao et al. 2024 found the sink).
        Formulas in `analysis.weights`.
        """
        sink = 0 if part == "decoder" else -1
        return [
            {
                "entropy": weights.entropy(each),
                "relative_entropy": weights.relative_entropy(each),
                "distance": weights.distance(each),
                "scaled_distance": weights.distance(each, scaled=True),
                "sink": weights.share(each, sink),
            }
            for each in self.maps(part)
        ]

    def without_eos(self) -> "Attention":
        """Without the source's EOS: its column left out, the rows made to sum to 1 again.

        In the encoder its row goes, too. The decoder's self-attention has no such column and stays
        as it is. A row that looked at nothing else is 0. Raises ConfigError where no part has one.
        """
        if not {"cross", "encoder"} & set(self.parts):
            raise ConfigError("without_eos: the source of a decoder-only model has no EOS")
        parts = dict(self.parts)
        if "cross" in parts:
            parts["cross"] = [weights.without(each, -1) for each in parts["cross"]]
        if "encoder" in parts:
            parts["encoder"] = [weights.without(each, -1)[:, :-1] for each in parts["encoder"]]
        return dataclasses.replace(self, parts=parts, source_tokens=self.source_tokens[:-1])


class Reader:
    """Reads examples with a model, teacher-forced, and tells where it looked."""

    def __init__(self, model: Model, dataset: Dataset) -> None:
        self._maps = jax.jit(functools.partial(attention_maps, model))
        self._dataset = dataset
        self._joint = model.layout == "prefix"

    def read(self, params: Any, prompt: Batch, target: Sequence[int]) -> Attention:
        """The maps of a prompt of one row, followed by the target's ids (with EOS, if not cut).

        Raises ConfigError for a model without attention.
        """
        inputs = [*prompt.inputs[0][prompt.mask[0]].tolist(), *target[:-1]]
        row = np.zeros((1, -(-len(inputs) // STEP) * STEP), np.int32)
        row[0, : len(inputs)] = inputs
        mask = np.arange(row.shape[1])[None] < len(inputs)
        memory = {"source": prompt.source, "source_mask": prompt.source_mask}
        found = self._maps(params, row, mask, **({} if self._joint else memory))
        return self._named(found, prompt.source[0][prompt.source_mask[0]].tolist(), inputs, target)

    def _named(
        self,
        found: Sequence[AttentionMap],
        source: Sequence[int],
        inputs: Sequence[int],
        target: Sequence[int],
    ) -> Attention:
        if not found:
            raise ConfigError(
                "model.pattern: this model has no attention to show; a recurrence has some only "
                "through an attention mixer in its pattern"
            )
        sizes = {
            "cross": (len(inputs), len(source)),
            "encoder": (len(source), len(source)),
            "decoder": (len(inputs), len(inputs)),
        }
        parts: dict[str, list[Map]] = {}
        layers: dict[str, list[int]] = {}
        for each in found:
            T, S = sizes[each.part]
            whole = np.asarray(each.weights, np.float32)
            parts.setdefault(each.part, []).append(whole[0, :, :T, :S])
            layers.setdefault(each.part, []).append(each.layer)
        read = self._dataset.pieces(inputs, "target")
        written = self._dataset.pieces(target, "target")
        from_source = self._dataset.pieces(source, "source")
        if self._joint:  # <s> source <sep> target without its last token
            from_source = read[1 : len(read) - len(written)]
        predicted = [*read[1:], written[-1]]
        return Attention(parts, layers, from_source, written, read, predicted)
