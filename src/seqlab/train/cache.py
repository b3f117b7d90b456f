"""Compiled programs kept on disk, so that the next process finds them."""

import os
from pathlib import Path

import jax


def use_compilation_cache() -> None:
    """Switch on JAX's persistent compilation cache under the user's cache directory.

    A directory that is set already (JAX_COMPILATION_CACHE_DIR, or in code) is left alone.
    """
    if jax.config.values.get("jax_compilation_cache_dir"):
        return
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    jax.config.update("jax_compilation_cache_dir", str(root / "seqlab" / "jax"))
