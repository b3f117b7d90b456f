"""The points of a sweep as jobs of a SLURM cluster, submitted through submitit and waited for.

One job array for all points that ask for the same of the cluster (`config.cluster`). A point whose
job is in the queue already, from this command given before or by someone else, is not submitted
again but waited for as well. All that is known of a job comes from squeue and from the status of
its run, so that launchers may be stopped and started as one likes.

Logs and submitit's files are in `slurm` beside `runs`.
"""

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqlab.build import ConfigError
from seqlab.config import to_json
from seqlab.sweep import sbatch, squeue
from seqlab.sweep.attempt import claim, is_done, mark_failed, say
from seqlab.sweep.job import Job
from seqlab.sweep.outcome import Outcome
from seqlab.sweep.plan import Point
from seqlab.sweep.watched import FREE, Watched
from seqlab.train.directory import RunDirectory

SOONEST, LATEST = 1.0, 15.0  # seconds between two looks at the queue: more and more rarely


def run(points: list[Point], root: Path, on_failure: str = "continue") -> Outcome:
    """Submit every point that is neither done nor queued, and wait for all of them.

    on_failure: "stop" takes the jobs that have not started out of the queue once a point failed.
    After KeyboardInterrupt, which is passed on, the jobs stay in the queue. Raises ConfigError
    where SLURM or submitit is missing, or sbatch refuses the jobs.
    """
    squeue.check_installed()
    outcome = Outcome()
    tasks = [
        Watched(point, f"[{number}/{len(points)}] {point.id}", RunDirectory(root / point.id))
        for number, point in enumerate(points, 1)
    ]
    while tasks:
        try:
            tasks = _queue(tasks, root, outcome)
            tasks = _wait(tasks, outcome, on_failure)
        except KeyboardInterrupt:
            arrays = {each.job.split("_")[0] for each in tasks if each.job}
            say(
                "the jobs stay in the queue: the same command waits for them again, with --status "
                f"it shows how far they are, scancel {' '.join(sorted(arrays))} ends them"
            )
            raise
        if outcome.failed and on_failure == "stop":
            outcome.untouched += [each.point.id for each in tasks]
            break
    return outcome


def _queue(tasks: list[Watched], root: Path, outcome: Outcome) -> list[Watched]:
    """Submit the points that nobody has; returns those to wait for, and notes the others."""
    folder = root.parent / "slurm"
    with _only_launcher(folder):
        for task in tasks:
            status = task.directory.status
            task.job = "" if status["state"] == "failed" else status.get("job", "")
        queued = squeue.look_up(task.job for task in tasks if task.job)
        if queued is None:
            raise ConfigError("--executor=slurm: squeue gets no answer from SLURM; try again later")
        waiting, new = [], []
        for task in tasks:
            if is_done(task.directory.status, task.point.config):
                outcome.add("skipped", task.point.id)
                continue
            if task.job in queued and queued[task.job].state != squeue.ENDING:
                say(f"{task.title}: in the queue already, job {task.job}")
                waiting.append(task)
                continue
            task.job = ""
            found = _prepare(task)
            if found == "mine":
                new.append(task)
            elif found == "elsewhere":
                say(f"{task.title}: another process is at it")
                waiting.append(task)
            else:
                outcome.add(found, task.point.id)
        _submit(new, root, folder)
    return waiting + new


@contextlib.contextmanager
def _only_launcher(folder: Path) -> Iterator[None]:
    """While this lasts, no other launcher submits points of this experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _prepare(task: Watched) -> str:
    """Write down that the point is to be queued: "mine". Otherwise "skipped", "elsewhere" or
    "failed"."""
    directory, config = task.directory, task.point.config
    with contextlib.ExitStack() as stack:
        found = claim(stack, directory, config)
        if found == "mine":
            try:
                RunDirectory.create(directory.path, config)
            except ConfigError as error:
                mark_failed(directory, task.title, str(error))
                return "failed"
            directory.update(state="pending", traceback=None, job=None)
    return found


def _submit(tasks: list[Watched], root: Path, folder: Path) -> None:
    """One array for each distinct group `cluster`; the jobs start when their ids are written."""
    for cluster, same in by_cluster(tasks):
        jobs = [
            Job(
                id=task.point.id,
                config=to_json(task.point.config),
                root=str(root),
                title=task.title,
                step=task.directory.status["step"],
            )
            for task in same
        ]
        ids = sbatch.submit(jobs, cluster, folder, root.parent.name)
        for task, job in zip(same, ids, strict=True):
            task.job, task.own = job, True
            with contextlib.ExitStack() as stack:
                if claim(stack, task.directory, task.point.config) == "mine":
                    task.directory.record_submission(job)
        array = ids[0].split("_")[0]
        say(f"submitted as job array {array}: {len(ids)} points; logs: {folder}")


def by_cluster(tasks: list[Watched]) -> list[tuple[dict[str, Any], list[Watched]]]:
    """Each distinct `cluster` group, and the tasks that have it."""
    found: dict[str, tuple[dict[str, Any], list[Watched]]] = {}
    for task in tasks:
        cluster = task.point.config["cluster"]
        found.setdefault(to_json(cluster), (cluster, []))[1].append(task)
    return list(found.values())


def _wait(tasks: list[Watched], outcome: Outcome, on_failure: str) -> list[Watched]:
    """Tell what happens until no point is queued or running; returns those that became free."""
    free, waiting, pause = [], [*tasks], SOONEST
    while waiting:
        queue = squeue.look_up(task.job for task in waiting if task.job)
        for task in [*waiting]:
            found = task.look(queue)
            if found:
                waiting.remove(task)
            if found == FREE:
                free.append(task)
            elif found:
                outcome.add(found, task.point.id)
        if outcome.failed and on_failure == "stop":
            _cancel([task for task in waiting if task.own and not task.ran])
        if waiting:
            time.sleep(pause)
            pause = min(1.2 * pause, LATEST)
    return free


def _cancel(tasks: list[Watched]) -> None:
    """Take points that have not started out of the queue, unless that was done before."""
    new = [task for task in tasks if not task.cancelled]
    if new:
        squeue.cancel_pending(task.job for task in new)
    for task in new:
        task.cancelled = True
