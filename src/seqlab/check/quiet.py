"""Where a preflight runs: quick to compile, exact, and without a trace."""

import contextlib
import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache

from seqlab.train.programs import forget

# Programs here are tiny: they take longer to optimise than to run.
SETTINGS = {
    "jax_disable_most_optimizations": True,
    "jax_default_matmul_precision": "highest",
    # A program that is traced twice is compiled once, if it is the same.
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


@contextlib.contextmanager
def quiet() -> Iterator[Path]:
    """A temporary folder, which also holds compiled programs; JAX's settings, what is compiled and
    the log are afterwards as they were before."""
    log = logging.getLogger("seqlab")
    level = log.level
    before = {name: jax.config.values[name] for name in (*SETTINGS, "jax_compilation_cache_dir")}
    with tempfile.TemporaryDirectory(prefix="seqlab-check-") as folder:
        try:
            log.setLevel(logging.WARNING)
            _set({**SETTINGS, "jax_compilation_cache_dir": f"{folder}/compiled"})
            with warnings.catch_warnings():
                # Models that have learnt nothing write without end.
                warnings.filterwarnings("ignore", message="outputs .* have no end")
                yield Path(folder)
        finally:
            log.setLevel(level)
            _set(before)


def _set(settings: dict) -> None:
    for name, value in settings.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()  # it keeps the folder that it first saw
    forget()
