"""Strictness for every test: shapes and types checked, promotions refused, full precision."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
from jaxtyping import install_import_hook

pytest_plugins = ["allowed_skips"]

install_import_hook("seqlab", "beartype.beartype")

# Programs here are tiny: they take longer to optimise than to run.
jax.config.update("jax_disable_most_optimizations", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_default_matmul_precision", "highest")


def pytest_addoption(parser):
    parser.addoption(
        "--parts",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="also put the parts found in this package under the laws",
    )
