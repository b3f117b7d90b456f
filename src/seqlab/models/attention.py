"""Where a model looks: the attention weights of one forward pass, layer by layer."""

from typing import Any

import flax.struct
from jaxtyping import Array, Bool, Int

from seqlab.models.base import Model
from seqlab.models.layer import sublayer_keys
from seqlab.models.pattern import runs
from seqlab.types import Leaf


@flax.struct.dataclass
class AttentionMap:
    """The weights [B, H, T, S] of one sublayer; a row sums to 1, or is 0 where nothing was seen.

    part: "encoder" or "decoder" (self-attention, S = T), or "cross" (decoder to encoder). layer:
    from 0 at the bottom of its stack. sublayer: its name in the pattern.
    """

    weights: Leaf
    part: str = flax.struct.field(pytree_node=False)
    layer: int = flax.struct.field(pytree_node=False)
    sublayer: str = flax.struct.field(pytree_node=False)


def attention_maps(
    model: Model,
    params: Any,
    inputs: Int[Array, "B T"],
    mask: Bool[Array, "B T"],
    *,
    source: Int[Array, "B S"] | None = None,
    source_mask: Bool[Array, "B S"] | None = None,
) -> list[AttentionMap]:
    """Every attention of a teacher-forced pass, bottom first: encoder, then decoder.

    Row t of a decoder's map is where it looked while it predicted the token after inputs[:, t].
    Empty for a model without attention. Pure: jit it with the model held fixed.
    """
    out: Any = model.apply(
        {"params": params},
        inputs,
        mask,
        source=source,
        source_mask=source_mask,
        mutable=["intermediates"],
    )
    sown = out[1].get("intermediates", {})
    found: list[AttentionMap] = []
    for part in ("encoder", "decoder"):
        tree = sown.get(part, {}).get("stack", {})
        if tree:
            found += _of_stack(getattr(model, part).stack, tree, part)
    return found


def _of_stack(stack: Any, tree: Any, part: str) -> list[AttentionMap]:
    found, below = [], 0
    for index, (sublayers, length) in enumerate(runs(stack.layers)):
        for layer in range(length):
            for key, name in sublayer_keys(sublayers).items():
                sown = tree.get(f"run_{index}", {}).get(key, {})
                if "weights" in sown:
                    where = "cross" if stack.mixers[name].cross else part
                    weights = sown["weights"][0][layer]
                    found.append(AttentionMap(weights, where, below + layer, key))
        below += length
    return found
