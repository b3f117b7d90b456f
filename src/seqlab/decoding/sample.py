"""Drawing the next token: temperature, top-k, top-p."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from seqlab.build import ConfigError
from seqlab.decoding.greedy import Choose


def top_k(log_p: Float[Array, "B V"], k: int) -> Float[Array, "B V"]:
    """The k most probable tokens, the others at -inf; of equal ones the first. Fan et al. 2018."""
    return jnp.where(_ranks(log_p) < k, log_p, -jnp.inf)


def top_p(log_p: Float[Array, "B V"], p: float) -> Float[Array, "B V"]:
    """The smallest set of most probable tokens whose probability reaches p, the others at -inf.

    A token stays when those before it have less than p together; the first always stays.
    Holtzman et al. 2020.
    """
    ranks = _ranks(log_p)
    probability = jax.nn.softmax(log_p)
    falling = -jnp.sort(-probability, axis=-1)
    before = jnp.cumsum(falling, axis=-1) - falling
    kept = jnp.take_along_axis(before, ranks, axis=-1) < p
    return jnp.where(kept | (ranks == 0), log_p, -jnp.inf)


@dataclasses.dataclass(frozen=True)
class Sample:
    """Draw from softmax(log p / temperature) after top-k, then top-p; k = 0 and p = 1 are off.

    A `choose` for `greedy`. Raises ConfigError for options out of range.
    """

    temperature: float = 1.0
    k: int = 0
    p: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature <= 0 or self.k < 0 or not 0 < self.p <= 1:
            raise ConfigError(
                "decode: sampling needs temperature > 0, top_k >= 0 and 0 < top_p <= 1, got "
                f"{self.temperature}, {self.k} and {self.p}"
            )

    def __call__(self, key: jax.Array, log_p: Float[Array, "B V"]) -> Int[Array, " B"]:
        """One token a row."""
        log_p = log_p / self.temperature
        log_p = top_k(log_p, self.k) if self.k else log_p
        log_p = top_p(log_p, self.p) if self.p < 1 else log_p
        return jax.random.categorical(key, log_p, axis=-1)


def by_number(sample: Sample, numbers: Int[Array, " B"]) -> Choose:
    """A `choose` whose draw for a row depends on the row's number, not on its place in the batch.

    Row b draws with fold_in(key, numbers[b]): the same example gets the same draw in whichever
    batch it stands.
    """

    def choose(key: jax.Array, log_p: Float[Array, "B V"]) -> Int[Array, " B"]:
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, numbers)
        return jax.vmap(lambda own, row: sample(own, row[None])[0])(keys, log_p)

    return choose


def _ranks(log_p: Float[Array, "B V"]) -> Int[Array, "B V"]:
    """Place of each token in falling order; equal ones in order of their ids."""
    order = jnp.argsort(-log_p, axis=-1, stable=True)
    return jnp.argsort(order, axis=-1, stable=True)
