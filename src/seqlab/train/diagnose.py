"""Where did it stop being finite?"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seqlab.models.base import Model
from seqlab.models.pattern import stack_runs
from seqlab.train.loss import cross_entropy
from seqlab.types import Batch


def first_nonfinite(model: Model, params: Any, batch: Batch) -> str:
    """The first layer, in the order of computation, that is not finite.

    "parameters of encoder", "encoder layer 3 output", "logits", or, when the forward pass is
    finite, the layer nearest to the loss whose gradient is not: "gradient of decoder layer 2".
    Runs without dropout.
    """
    batch = jax.tree.map(jnp.asarray, batch)
    arguments = {"source": batch.source, "source_mask": batch.source_mask}

    def forward(params: Any) -> tuple[jax.Array, Any]:
        (logits, _), sown = model.apply(
            {"params": params}, batch.inputs, batch.mask, **arguments, mutable=["diagnostics"]
        )
        loss = cross_entropy(logits, batch.targets, batch.weights)
        return loss, (sown["diagnostics"], jnp.all(jnp.isfinite(logits)))

    (_, (sown, logits_finite)), gradients = jax.jit(jax.value_and_grad(forward, has_aux=True))(
        params
    )
    for part, tree in params.items():
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(tree)):
            return f"parameters of {part}"
    for part in sorted(sown, key=lambda name: name != "encoder"):
        finite = np.concatenate([run["finite"][0] for run in stack_runs(sown[part]["stack"])])
        if not finite.all():
            return f"{part} layer {int(np.argmin(finite)) + 1} output"
    if not logits_finite:
        return "logits"
    return _first_gradient(gradients)


def _first_gradient(gradients: Any) -> str:
    """Backwards: the decoder's top layer first."""
    for part in sorted(gradients, key=lambda name: name == "encoder"):
        depth = 0
        bad: list[int] = []
        for run in stack_runs(gradients[part].get("stack", {})):
            leaves = jax.tree.leaves(run)
            for index in range(leaves[0].shape[0]):
                depth += 1
                if not all(np.isfinite(leaf[index]).all() for leaf in leaves):
                    bad.append(depth)
        if bad:
            return f"gradient of {part} layer {max(bad)}"
    return "gradient of an embedding or a norm outside the layers"
