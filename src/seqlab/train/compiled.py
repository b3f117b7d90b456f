"""Compiled programs that know how often and how long they were compiled."""

import time
from collections.abc import Callable
from typing import Any

import jax

Program = Callable[..., Any]


class Compiled:
    """A function compiled ahead of its first call for each set of argument shapes.

    prepare(*arguments) -> the program for arguments of these shapes. count: compilations so far.
    seconds: wall time they took, tracing included.
    """

    def __init__(self, prepare: Callable[..., Program]) -> None:
        self._prepare = prepare
        self._programs: dict[Any, Program] = {}
        self.count = 0
        self.seconds = 0.0

    def ready(self, *arguments: Any) -> bool:
        """Is there a program for arguments of these shapes already?"""
        return _signature(arguments) in self._programs

    def __call__(self, *arguments: Any) -> Any:
        signature = _signature(arguments)
        if signature not in self._programs:
            start = time.perf_counter()
            self._programs[signature] = self._prepare(*arguments)
            self.seconds += time.perf_counter() - start
            self.count += 1
        return self._programs[signature](*arguments)


def _signature(arguments: tuple) -> Any:
    leaves, structure = jax.tree.flatten(arguments)
    shapes = tuple((jax.numpy.shape(leaf), str(jax.numpy.result_type(leaf))) for leaf in leaves)
    return structure, shapes
