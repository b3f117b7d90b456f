"""Which key may each query see? Boolean masks, True = may be seen."""

from jaxtyping import Array, Bool, Int

from seqlab.types import View


def visible(
    queries: View, keys: View, causal: Bool[Array, "B T S"] | None = None
) -> Bool[Array, "B 1 T S"]:
    """Keys that are real and of the query's segment, narrowed by `causal` [B, T, S] if given."""
    same = queries.segments[:, :, None] == keys.segments[:, None, :]  # [B, T, S]
    mask = same & keys.mask[:, None, :]
    return (mask if causal is None else mask & causal)[:, None]


def causal_mask(
    query_slots: Int[Array, "B T"], key_slots: Int[Array, "B S"]
) -> Bool[Array, "B T S"]:
    """A query sees the keys whose slot is not after its own."""
    return key_slots[:, None, :] <= query_slots[:, :, None]
