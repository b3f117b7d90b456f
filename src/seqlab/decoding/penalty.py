"""Length penalties of beam search, by name: score = log p / penalty(n), n tokens with EOS."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from seqlab.build import ConfigError, suggest

NAMES = ("none", "average", "gnmt")


class LengthPenalty:
    """ "none": 1; "average:a": n^a (fairseq, Hugging Face); "gnmt:a": ((5 + n) / 6)^a (Wu et al.
    2016). a is 1 where it is left out. Raises ConfigError for another name or no number.
    """

    def __init__(self, spec: str) -> None:
        self.name, _, exponent = spec.partition(":")
        if self.name not in NAMES:
            raise ConfigError(
                f"decode.length_penalty: {spec!r} is unknown" + suggest(self.name, NAMES)
            )
        try:
            self.exponent = float(exponent or 1.0)
        except ValueError:
            raise ConfigError(
                f"decode.length_penalty: {exponent!r} in {spec!r} is no number; write e.g. gnmt:0.6"
            ) from None

    def __call__(self, length: Float[Array, "..."]) -> Float[Array, "..."]:
        """Penalty of hypotheses of these lengths."""
        if self.name == "none":
            return jnp.ones_like(length)
        base = length if self.name == "average" else (5.0 + length) / 6.0
        return base**self.exponent

    def bound(
        self, log_p: Float[Array, "..."], length: Float[Array, ""], longest: int
    ) -> Float[Array, "..."]:
        """The best score that a hypothesis of this log p, now `length` long, may still reach.

        log p only falls; the penalty may help most at either end of the lengths to come.
        """
        now, then = self(length), self(jnp.float32(longest))
        return log_p / jnp.maximum(now, then)

    @property
    def convention(self) -> str:
        """The formula in words, for reports."""
        formulas = {
            "none": "log p",
            "average": f"log p / n^{self.exponent:g}",
            "gnmt": f"log p / ((5 + n) / 6)^{self.exponent:g}",
        }
        return f"{formulas[self.name]}, n tokens, EOS included"
