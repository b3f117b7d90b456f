"""What a point asks of SLURM, from the `cluster` group of its config, and its submission."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError
from seqlab.sweep.job import Job

ENDLESS = 1_000_000  # requeues after a time limit: Job.checkpoint knows when to give up
# Python as a job starts it. Until it has its handlers, SIGUSR2 would kill it: a job that is
# preempted while it starts, or to which SLURM repeats a signal, would be lost.
PYTHON = """bash -c 'trap "" USR2; exec "$0" "$@"' """ + shlex.quote(sys.executable)
# Options of sbatch that follow from other keys, or that requeueing depends on.
OWN = {
    "partition": "cluster.partition",
    "time": "cluster.minutes",
    "nodes": "cluster.nodes",
    "gpus_per_node": "cluster.gpus",
    "cpus_per_task": "cluster.cpus",
    "mem": "cluster.memory",
    "signal": "cluster.save_seconds",
    "ntasks_per_node": "cluster.nodes and cluster.gpus",
    "array": "cluster.concurrent",
    "requeue": "",
    "no_requeue": "",
    "output": "",
    "error": "",
    "open_mode": "",
}


def parameters(cluster: Mapping[str, Any], points: int, name: str) -> dict[str, Any]:
    """The parameters of submitit's SlurmExecutor for this many points of one `cluster` group.

    On one node there is one task, a process that has all its GPUs; on several, one task a GPU, or
    a node where there are none. Raises ConfigError for an option that another key sets.
    """
    for option in cluster["options"]:
        key = option.replace("-", "_")
        if key in OWN:
            instead = f"set config.{OWN[key]}" if OWN[key] else "requeueing depends on it"
            raise ConfigError(f"config.cluster.options.{option}: cannot be set here; {instead}")
    several = cluster["nodes"] > 1
    # Since SLURM 22.05 the tasks of a job do not have its CPUs unless srun is told so as well.
    srun = [f"--cpus-per-task={cluster['cpus']}"]
    asked = {
        "job_name": name,
        "partition": cluster["partition"] or None,
        "time": cluster["minutes"],
        "nodes": cluster["nodes"],
        "ntasks_per_node": max(cluster["gpus"], 1) if several else 1,
        "gpus_per_node": cluster["gpus"] or None,
        "cpus_per_task": cluster["cpus"],
        "mem": cluster["memory"] or None,
        "signal_delay_s": cluster["save_seconds"],
        "array_parallelism": cluster["concurrent"] or points,
        "stderr_to_stdout": True,
        "srun_args": [*srun, "--kill-on-bad-exit=1"] if several else srun,
        "additional_parameters": {"requeue": True, **cluster["options"]},
    }
    return {key: value for key, value in asked.items() if value is not None}


def submit(jobs: Sequence[Job], cluster: Mapping[str, Any], folder: Path, name: str) -> list[str]:
    """Submit the jobs as one array; returns their ids, such as "12_0" (a single one: "12").

    Raises ConfigError with what sbatch said when it refuses them.
    """
    from submitit import SlurmExecutor
    from submitit.core.utils import FailedJobError

    executor = SlurmExecutor(folder, max_num_timeout=ENDLESS, python=PYTHON)
    executor.update_parameters(**parameters(cluster, len(jobs), name))
    try:
        with executor.batch():
            submitted = [executor.submit(job) for job in jobs]
    except FailedJobError as error:
        raise ConfigError(
            f"--executor=slurm: sbatch refused {len(jobs)} points: {str(error).strip()}\n"
            "change config.cluster, or run fewer points at a time with --only"
        ) from None
    return [each.job_id for each in submitted]
