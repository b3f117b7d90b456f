"""How large is the gradient in each layer?"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from seqlab.models.pattern import stack_runs
from seqlab.types import HostArray


def gradient_norms(gradients: Any) -> dict[str, Float[Array, " L"]]:
    """Frobenius norm of the gradient of each layer's second feed-forward matrix, W2.

    One array a stack, bottom layer first: {"gradient_norm/encoder": [L], ...}; W2 is what
    Xiong et al. 2020 bound and plot.
    """
    norms = {}
    for name, part in gradients.items():
        runs = stack_runs(part.get("stack", {}))
        if runs and all("down" in run.get("feedforward", {}) for run in runs):
            squares = [jnp.square(run["feedforward"]["down"]["kernel"]) for run in runs]
            layers = [jnp.sqrt(jnp.sum(square, axis=(1, 2))) for square in squares]
            norms[f"gradient_norm/{name}"] = jnp.concatenate(layers)
    return norms


def rows(name: str, values: Float[HostArray, " L"]) -> dict[str, float]:
    """A layer profile as a series of the metrics file: {"name@1": ..., "name@2": ...}."""
    return {f"{name}@{index + 1}": float(value) for index, value in enumerate(values)}
