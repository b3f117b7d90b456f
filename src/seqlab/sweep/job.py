"""What SLURM runs for one point: plain text until it starts, then one attempt.

submitit pickles a `Job`; it holds text and numbers only, so that a queued job survives a change of
Python, of the packages or of the config file: it trains the config it was submitted with, whatever
a later launcher has written into the run directory meanwhile (more `train.steps`, say).

When SLURM asks for the node (SIGUSR2: preemption, or the time limit is near) submitit's own handler
calls `checkpoint` and requeues the job. It may not do so in the middle of a step, so it is put
aside while the point trains, and called after the training loop has saved and raised Stopped.
"""

import contextlib
import dataclasses
import logging
import signal
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from seqlab.config import from_json
from seqlab.sweep.plan import Point
from seqlab.train.directory import RunDirectory

if TYPE_CHECKING:
    from submitit.helpers import DelayedSubmission

REQUEUE = signal.SIGUSR2  # the signal that submitit requeues on
STALLS = 3
ANNOUNCEMENT = 60.0  # seconds that a job waits for its launcher to write down its id

log = logging.getLogger("seqlab")


@dataclasses.dataclass(frozen=True)
class Job:
    """One point as it was when it was submitted.

    step: where the run stood when this was queued. stalls: how often in a row the job was stopped
    without having got any further since.
    """

    id: str
    config: str  # JSON, see seqlab.config.to_json
    root: str
    title: str
    step: int = 0
    stalls: int = 0

    def __call__(self) -> str:
        """Attempt the point; returns what `attempt` does, or "stopped" if it shall go on later.

        Raises what it failed of; as an exit, its status is RESUMABLE after SIGTERM.
        """
        # Not earlier: unpickling comes before submitit's handlers, and should be quick.
        import submitit

        from seqlab.sweep.attempt import attempt
        from seqlab.train import interrupt, processes
        from seqlab.train.loop import run

        logging.getLogger("seqlab").setLevel(logging.INFO)
        logging.getLogger("submitit").propagate = False  # it has handlers of its own
        config = from_json(self.config)
        if config["cluster"]["nodes"] > 1:
            processes.join("auto")
        self._await_launcher(submitit.JobEnvironment().job_id)
        requeue = signal.getsignal(REQUEUE)
        try:
            with interrupt.catch(), patiently() as come:
                return attempt(Point(self.id, config, {}), Path(self.root), run, self.title, True)
        except interrupt.Stopped:
            if not processes.writes():
                return "stopped"  # a bad exit status here would end the process that requeues
            if REQUEUE not in come:
                raise
            assert callable(requeue)
            requeue(REQUEUE, None)  # does not return
            raise
        except Exception:
            if not processes.several():
                raise
            traceback.print_exc()
            processes.leave(1)

    def checkpoint(self) -> "DelayedSubmission | None":
        """What submitit queues in the place of this job; None to give up.

        A job goes on for as many time limits and preemptions as it takes, but not when it was
        stopped STALLS times in a row without having got any further.
        """
        from submitit.helpers import DelayedSubmission

        step = self._directory.status["step"]
        stalls = 0 if step > self.step else self.stalls + 1
        if stalls < STALLS:
            return DelayedSubmission(dataclasses.replace(self, step=step, stalls=stalls))
        text = (
            f"SLURM stopped this point {stalls} times in a row before it had got beyond step "
            f"{step}: raise config.cluster.minutes, or lower config.cluster.save_seconds"
        )
        self._directory.update(state="failed", traceback=text)
        return None

    @property
    def _directory(self) -> RunDirectory:
        return RunDirectory(Path(self.root) / self.id)

    def _await_launcher(self, job_id: str) -> None:
        """Wait until the launcher has written down which job this is, and let go of the run."""
        patience = time.monotonic() + ANNOUNCEMENT
        while time.monotonic() < patience:
            if self._directory.status.get("job") == job_id:
                time.sleep(0.5)
                return
            time.sleep(0.5)
        log.warning("%s: the launcher has not written down job %s", self.title, job_id)


@contextlib.contextmanager
def patiently() -> Iterator[set[int]]:
    """Within `interrupt.catch`: further signals do not hurry it. Yields those that have come.

    SLURM may send SIGTERM and SIGUSR2 one after the other, and kills in the end.
    """
    from seqlab.train import interrupt

    come: set[int] = set()

    def mark(number: int, frame: FrameType | None) -> None:
        come.add(number)
        interrupt.ask()

    for each in interrupt.SIGNALS:
        signal.signal(each, mark)
    yield come
