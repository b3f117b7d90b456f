"""Learning-rate schedules. Steps count optimizer updates from 1, so that none is lost at rate 0."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from seqlab.build import ConfigError, suggest
from seqlab.train.hyper import Hyper

Schedule = Callable[[Float[Array, ""], Hyper], Float[Array, ""]]


def warmup(step: Float[Array, ""], hyper: Hyper) -> Float[Array, ""]:
    """Linear from lr/warmup at step 1 to 1 at step `warmup`; 1 throughout when warmup is 0."""
    return jnp.minimum(1.0, step / jnp.maximum(hyper.warmup, 1.0))


def constant(step: Float[Array, ""], hyper: Hyper) -> Float[Array, ""]:
    """lr after the warm-up."""
    return hyper.lr * warmup(step, hyper)


def cosine(step: Float[Array, ""], hyper: Hyper) -> Float[Array, ""]:
    """Half a cosine from lr at the end of the warm-up to 0 at the last step. Loshchilov 2017."""
    span = jnp.maximum(hyper.steps - hyper.warmup, 1.0)
    progress = jnp.clip((step - hyper.warmup) / span, 0.0, 1.0)
    return hyper.lr * warmup(step, hyper) * 0.5 * (1.0 + jnp.cos(jnp.pi * progress))


def noam(step: Float[Array, ""], hyper: Hyper) -> Float[Array, ""]:
    """lr D^-0.5 min(t^-0.5, t w^-1.5): its peak is lr (D w)^-0.5. Vaswani et al. 2017."""
    rise = step * jnp.maximum(hyper.warmup, 1.0) ** -1.5
    return hyper.lr * hyper.width**-0.5 * jnp.minimum(jax.lax.rsqrt(step), rise)


SCHEDULES: dict[str, Schedule] = {"constant": constant, "cosine": cosine, "noam": noam}


def schedule(name: str) -> Schedule:
    """The schedule of that name. Raises ConfigError naming the valid ones."""
    if name not in SCHEDULES:
        raise ConfigError(f"train.schedule: {name!r} is unknown" + suggest(name, SCHEDULES))
    return SCHEDULES[name]
