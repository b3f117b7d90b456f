"""Strictness for every test: shapes and types checked, promotions refused, full precision."""

import gc
import itertools
import os
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
from jaxtyping import install_import_hook

# Tracing makes many objects that stay: looking through them took an eighth of the time.
gc.set_threshold(200_000, 20, 100)

pytest_plugins = ["allowed_skips", "slurm"]

install_import_hook("seqlab", "beartype.beartype")

# Programs here are tiny: they take longer to optimise than to run.
jax.config.update("jax_disable_most_optimizations", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_default_matmul_precision", "highest")


# Every compiled program takes memory maps of its process, of which Linux allows 65,530.
MAPS = Path("/proc/self/maps")
MANY = 30_000
DONE = itertools.count()


def pytest_runtest_teardown(item, nextitem):
    """Forget compiled programs before there are too many."""
    if next(DONE) % 16 == 0 and MAPS.exists() and MAPS.read_bytes().count(b"\n") > MANY:
        jax.clear_caches()


def pytest_addoption(parser):
    parser.addoption(
        "--parts",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="also put the parts found in this package under the laws",
    )
