"""Training laws train, and optax raises a float to the number of steps, an int."""

import jax
import pytest


@pytest.fixture(scope="module", autouse=True)
def usual_promotion():
    with jax.numpy_dtype_promotion("standard"):
        yield
