"""Resume = straight: a run that was killed and started again ends as one that was not."""

from seqlab.check.law import Found, Law
from seqlab.check.shrink import STEPS
from seqlab.check.trial import Trial, back_to, largest_difference, losses
from seqlab.train.programs import forget


def resumes(trial: Trial) -> Found:
    """A copy of the finished run without its last checkpoint goes on from the middle, in programs
    compiled anew; losses and parameters are those of the finished run, bit for bit.

    Dropout is on where the config has any.
    """
    copy = back_to(trial.straight, STEPS // 2, trial.folder / "resumed")
    forget()  # a layer that draws numbers while it is traced draws others
    trial.train(copy)
    straight, resumed = losses(trial.straight), losses(copy)
    off = max(abs(straight[step] - resumed[step]) for step in straight)
    moved = largest_difference(trial.load(trial.straight), trial.load(copy))
    return Found(moved == 0 == off, f"{max(moved, off):.1e} (limit 0)")


LAW = Law(
    "resume = straight",
    resumes,
    "A run that is interrupted would end elsewhere. A layer is not a function of parameters, "
    "inputs and its rngs: it draws numbers from NumPy, Python or a callback (take "
    "self.make_rng), reads the clock or keeps a counter of its own; or a task's `generate` does "
    "not depend on (seed, epoch) alone. On a GPU also try "
    "XLA_FLAGS=--xla_gpu_deterministic_ops=true.",
)
