"""What trains the points: this process, worker processes, or a cluster."""

import tempfile
from pathlib import Path

from seqlab.build import ConfigError
from seqlab.sweep.attempt import say
from seqlab.sweep.outcome import Outcome
from seqlab.sweep.plan import Point
from seqlab.train import interrupt, processes

NAMES = ("local", "slurm", "debug")


def check(name: str, jobs: int, together: bool) -> None:
    """Raise ConfigError for flags that do not go together. together: with --coordinator."""
    if jobs < 1:
        raise ConfigError(f"--jobs: must be 1 or more, got {jobs}")
    if jobs > 1 and name == "debug":
        raise ConfigError(f"--jobs={jobs}: --executor=debug trains in this process, one by one")
    if jobs > 1 and name == "slurm":
        raise ConfigError(
            f"--jobs={jobs}: under --executor=slurm say --config.cluster.concurrent={jobs}"
        )
    if together and (jobs > 1 or name == "slurm"):
        raise ConfigError(
            "--coordinator: its processes train each point together; leave out --jobs and "
            "--executor=slurm (config.cluster.nodes joins several nodes by itself)"
        )


def execute(name: str, points: list[Point], root: Path, jobs: int, on_failure: str) -> Outcome:
    """Fit the points to their budgets, and train those that are not done under `root`.

    Raises interrupt.Stopped after SIGTERM and KeyboardInterrupt after Ctrl-C, with everything saved
    for the same command to go on; under "debug" what the first failed point raised; OSError where
    `root` cannot be written.
    """
    points = _fit(points, root, in_this_process=name != "slurm" and jobs == 1)
    if processes.writes():
        _probe(root)
    if name == "slurm":
        from seqlab.sweep import slurm  # needs the extra `cluster`

        return slurm.run(points, root, on_failure)
    try:
        with interrupt.catch():
            if jobs > 1:
                from seqlab.sweep import local

                return local.run(points, root, jobs, on_failure)
            from seqlab.sweep.run import run
            from seqlab.train.loop import run as train

            return run(points, root, train, "raise" if name == "debug" else on_failure)
    except interrupt.Stopped:
        say("stopped by a signal; what was trained is saved, and the same command continues it")
        raise


def _probe(root: Path) -> None:
    """Raise OSError, before anything is trained, where nothing can be written."""
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=root) as file:
        file.write(b"something")


def _fit(points: list[Point], root: Path, in_this_process: bool) -> list[Point]:
    import jax

    from seqlab.sweep.budget import fit

    if not in_this_process:  # counting needs shapes only; the devices are for those who train
        jax.config.update("jax_platforms", "cpu")
    return fit(points, root)
