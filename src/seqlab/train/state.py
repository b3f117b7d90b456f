"""What training carries from step to step."""

from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
import optax

from seqlab.types import Leaf


@flax.struct.dataclass
class TrainState:
    """step: updates done. params: float32. ema: their moving average, or None. key: root of all
    randomness, raw key data (uint32) so that it can be saved; each step folds its number in."""

    step: Leaf
    params: Any
    opt_state: Any
    ema: Any
    key: Leaf

    @classmethod
    def create(
        cls, params: Any, optimizer: optax.GradientTransformation, key: jax.Array, ema: bool
    ) -> "TrainState":
        """The state before the first step."""
        average = jax.tree.map(jnp.copy, params) if ema else None
        return cls(
            jnp.zeros((), jnp.int32),
            params,
            optimizer.init(params),
            average,
            jax.random.key_data(key),
        )

    def step_key(self) -> jax.Array:
        """The key of the step to come."""
        return jax.random.fold_in(jax.random.wrap_key_data(self.key), self.step)
