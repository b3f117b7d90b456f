"""Optax raises a float to the number of steps, an int: strict promotion refuses that."""

import jax
import pytest


@pytest.fixture(scope="module", autouse=True)
def usual_promotion():
    with jax.numpy_dtype_promotion("standard"):
        yield
