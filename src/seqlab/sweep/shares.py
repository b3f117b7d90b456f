"""What each of N worker processes gets of this machine: its cores, and a GPU if there are any."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Of a GPU's memory; what JAX takes when it is alone on it is less for each of several.
MEMORY, RESERVE = "XLA_CLIENT_MEM_FRACTION", 0.9
MEMORY_KEYS = (MEMORY, "XLA_PYTHON_CLIENT_MEM_FRACTION")


@dataclass(frozen=True)
class Share:
    """cores: () where the system cannot bind a process. environment: to add to the worker's."""

    cores: tuple[int, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def shares(jobs: int, environment: Mapping[str, str] = os.environ) -> list[Share]:
    """The shares of `jobs` workers on this machine, as this process may use it."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return divide(jobs, cores, gpus(environment), environment)


def divide(
    jobs: int, cores: Sequence[int], gpus: Sequence[str], environment: Mapping[str, str]
) -> list[Share]:
    """Neighbouring cores, as equal as can be; one each in turn where there are fewer than workers.

    Workers beyond the number of GPUs share one, each with an equal part of its memory, unless the
    environment says what part.
    """
    found = []
    for number in range(jobs):
        extra = {}
        if gpus:
            mine = number % len(gpus)
            extra["CUDA_VISIBLE_DEVICES"] = gpus[mine]
            sharing = len(range(mine, jobs, len(gpus)))
            if sharing > 1 and not any(key in environment for key in MEMORY_KEYS):
                extra[MEMORY] = f"{RESERVE / sharing:.3f}"
        found.append(Share(_cores(number, jobs, cores), extra))
    return found


def _cores(number: int, jobs: int, cores: Sequence[int]) -> tuple[int, ...]:
    if len(cores) < jobs:
        return (cores[number % len(cores)],) if cores else ()
    begin, end = (len(cores) * at // jobs for at in (number, number + 1))
    return tuple(cores[begin:end])


def gpus(environment: Mapping[str, str]) -> list[str]:
    """Names of the NVIDIA GPUs that JAX would use, found without starting JAX."""
    platforms = environment.get("JAX_PLATFORMS", "")
    if platforms and not re.search("cuda|gpu", platforms):
        return []
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        names = [name.strip() for name in visible.split(",")]
        return [name for name in names if name and name != "-1"]
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return listed_gpus(listed.stdout)


def listed_gpus(text: str) -> list[str]:
    """The UUIDs in what `nvidia-smi -L` prints: of the parts of GPUs (MIG) where there are any."""
    found = re.findall(r"\(UUID: ((GPU|MIG)-[^)]+)\)", text)
    parts = [name for name, kind in found if kind == "MIG"]
    return parts or [name for name, _ in found]
