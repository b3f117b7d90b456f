"""Several processes that train one run together, one of which decides and writes.

A process that is alone needs no JAX for any of this, and pays nothing.
"""

import os
import sys
from typing import Any, NoReturn

from seqlab.build import ConfigError


class TogetherError(RuntimeError):
    """A run of several processes cannot go on in this one: all of them have to end."""


def join(coordinator: str, processes: int | None = None, process: int | None = None) -> None:
    """Join the processes of one run. Call it before anything asks for a device.

    coordinator: "host:port" of process 0, with the number of processes and the own number; "auto":
    all three from the environment of SLURM, Open MPI, Kubernetes or a cloud TPU. Raises
    ConfigError when they do not come together.
    """
    import jax

    try:
        if coordinator == "auto":
            jax.distributed.initialize()
        else:
            jax.distributed.initialize(coordinator, processes, process)
    except (ValueError, RuntimeError) as error:
        raise ConfigError(
            f"--coordinator={coordinator}: the processes did not come together: {error}"
        ) from error


def several() -> bool:
    """Does this process share its runs with others?"""
    jax = _joined()
    return jax is not None and jax.process_count() > 1


def writes() -> bool:
    """Is this the process that decides, writes files and tells what happens?"""
    jax = _joined()
    return jax is None or jax.process_index() == 0


def any_of(flag: bool) -> bool:
    """Is the flag set in any process? All of them must ask."""
    if not several():
        return flag
    import numpy as np
    from jax.experimental import multihost_utils

    return bool(np.any(multihost_utils.process_allgather(np.array(flag))))


def agreed(number: int) -> int:
    """The number that the writing process has. All of them must ask."""
    if not several():
        return number
    import numpy as np
    from jax.experimental import multihost_utils

    return int(multihost_utils.broadcast_one_to_all(np.int32(number)))


def lost(error: Exception) -> TogetherError:
    """What to raise in a run of several processes instead of an error in one of them."""
    jax: Any = _joined()
    return TogetherError(
        f"process {jax.process_index()} of {jax.process_count()} cannot go on: {error}\nEither "
        "this is what went wrong, or another process has ended: see what the others wrote. The "
        "same command, started again for all of them, continues from the last checkpoint."
    )


def leave(status: int) -> NoReturn:
    """End this process at once: an orderly end would wait for the others, which may be gone."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _joined() -> Any:
    """JAX, where this process has joined others; who has not imported it has not."""
    jax = sys.modules.get("jax")
    return jax if jax is not None and jax.distributed.is_initialized() else None
