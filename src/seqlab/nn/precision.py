"""In which precision are sums, exponentials and states computed?"""

import jax.numpy as jnp


def wide(dtype: jnp.dtype) -> jnp.dtype:
    """At least float32: bfloat16 and float16 are widened, float64 stays."""
    return jnp.dtype(jnp.float64 if dtype == jnp.float64 else jnp.float32)
