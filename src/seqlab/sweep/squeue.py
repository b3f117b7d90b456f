"""What SLURM's queue knows of jobs, by squeue and scancel; accounting is not needed."""

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from seqlab.build import ConfigError

PENDING, ENDING = "PENDING", "COMPLETING"


def check_installed() -> None:
    """Raise ConfigError unless jobs can be submitted from here."""
    missing = [name for name in ("sbatch", "srun", "squeue") if not shutil.which(name)]
    if missing:
        raise ConfigError(
            f"--executor=slurm: there is no {' and no '.join(missing)} on this machine; run the "
            "command on a login node of the cluster, or use --executor=local"
        )
    try:
        import submitit  # noqa: F401
    except ImportError:
        raise ConfigError(
            "--executor=slurm needs submitit: pip install -e '.[cluster]' (or pip install submitit)"
        ) from None


@dataclass(frozen=True)
class Queued:
    """A job that is in the queue. started: when, as SLURM writes it; "" before it has."""

    state: str
    started: str = ""


def look_up(jobs: Iterable[str]) -> dict[str, Queued] | None:
    """Those of the jobs that are queued or running, by their ids; None if SLURM is silent."""
    arrays = sorted({job.split("_")[0] for job in jobs})
    if not arrays:
        return {}
    command = ["squeue", "-h", "-r", "-j", ",".join(arrays), "-o", "%i %T %S"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None
    if found.returncode and "Invalid job id" not in found.stderr:
        return None
    rows = [line.split() for line in found.stdout.splitlines()]
    return {job: Queued(state, "" if state == PENDING else started) for job, state, started in rows}


def cancel_pending(jobs: Iterable[str]) -> None:
    """Take out of the queue those of the jobs that have not started."""
    subprocess.run(["scancel", "--state=PENDING", *jobs], capture_output=True, check=False)
