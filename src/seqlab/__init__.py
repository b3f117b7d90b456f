"""seqlab: a laboratory for sequence models, from the RNN to the Transformer, in JAX."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqlab.analysis.run import Run, load_run

__all__ = ["Run", "load_run"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Lazily: a config file imports seqlab.config only, and need not wait for JAX.
    if name in __all__:
        from seqlab.analysis import run

        return getattr(run, name)
    raise AttributeError(f"module 'seqlab' has no attribute {name!r}")
