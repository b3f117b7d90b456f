"""Several processes that train one run together, one of which writes.

With one process, which is the usual case, everything here is free.
"""

import jax
import numpy as np
from jax.experimental import multihost_utils


def join(coordinator: str, processes: int | None = None, process: int | None = None) -> None:
    """Join the processes of one run. Call it before anything asks for a device.

    coordinator: "host:port" of process 0, with the number of processes and the own number; "auto":
    all three from the environment of SLURM, Open MPI, Kubernetes or a cloud TPU.
    """
    if coordinator == "auto":
        jax.distributed.initialize()
    else:
        jax.distributed.initialize(coordinator, processes, process)


def several() -> bool:
    """Does this process share its runs with others?"""
    return jax.process_count() > 1


def writes() -> bool:
    """Is this the process that writes files and tells what happens?"""
    return jax.process_index() == 0


def any_of(flag: bool) -> bool:
    """Is the flag set in any process? All of them must ask."""
    if not several():
        return flag
    return bool(np.any(multihost_utils.process_allgather(np.array(flag))))


def agreed(number: int) -> int:
    """The number that the writing process has. All of them must ask."""
    if not several():
        return number
    return int(multihost_utils.broadcast_one_to_all(np.int32(number)))
