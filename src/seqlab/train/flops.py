"""Floating-point operations of a function, counted in its jaxpr.

XLA's own cost analysis counts the body of a loop once, however often it runs: for a recurrence
over time, or for layers that are scanned, its number is wrong by that factor.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr

# Primitives that run the one program in their parameters, once.
CALLS = {
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "checkpoint",
    "remat2",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
}


def flops(function: Callable[..., Any], *arguments: Any, without: int | None = None) -> int:
    """2 m n k for every matrix product, and the like for convolutions; nothing is computed.

    arguments: arrays or shapes. without: leave out the products of arrays with an axis of this
    length. A scan counts its body once a step, a cond its dearest branch. Elementwise operations,
    norms and the softmax are not counted: next to the products they are few. Raises ValueError for
    products in a loop without a fixed number of steps, or in a primitive of unknown meaning.
    """
    return _count(jax.make_jaxpr(function)(*arguments).jaxpr, without)


def _count(jaxpr: Jaxpr, without: int | None) -> int:
    return sum(_equation(equation, without) for equation in jaxpr.eqns)


def _equation(equation: Any, without: int | None) -> int:
    name, parameters = equation.primitive.name, equation.params
    if name in PRODUCTS:
        left_out = any(without in variable.aval.shape for variable in equation.invars)
        return 0 if left_out else PRODUCTS[name](equation)
    programs = [jaxpr for value in parameters.values() for jaxpr in _programs(value)]
    inner = [_count(jaxpr, without) for jaxpr in programs]
    if name == "scan":
        return parameters["length"] * sum(inner)
    if name == "cond":
        return max(inner)
    if name not in CALLS and any(inner):
        raise ValueError(f"flops: how often {name!r} runs the products inside it is not known")
    return sum(inner)


def _product(equation: Any) -> int:
    """2 m n k, times the batch: every element of the output is a sum over the contracted axes."""
    (contracted, _), _ = equation.params["dimension_numbers"]
    shape = equation.invars[0].aval.shape
    return 2 * equation.outvars[0].aval.size * math.prod(shape[axis] for axis in contracted)


def _convolution(equation: Any) -> int:
    """Every element of the output is a sum over the kernel of its output channel."""
    kernel = equation.invars[1].aval
    channels = kernel.shape[equation.params["dimension_numbers"].rhs_spec[0]]
    return 2 * equation.outvars[0].aval.size * kernel.size // channels


PRODUCTS = {"dot_general": _product, "conv_general_dilated": _convolution}


def _programs(value: Any) -> list[Jaxpr]:
    """The programs in a parameter of a primitive."""
    if isinstance(value, ClosedJaxpr):
        return [value.jaxpr]
    if isinstance(value, Jaxpr):
        return [value]
    if isinstance(value, tuple | list):
        return [jaxpr for item in value for jaxpr in _programs(item)]
    return []
