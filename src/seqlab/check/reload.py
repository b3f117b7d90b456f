"""Checkpoint round trip: a run that was moved loads, and says what it said when it was trained."""

from seqlab.check.law import Found, Law, at_most
from seqlab.check.trial import Trial

LIMIT = 1e-5


def reloads(trial: Trial) -> Found:
    """`load_run` on the moved directory: test loss and predictions are those that the training
    process computed from the parameters in its memory."""
    run = trial.load(trial.straight)
    [[_, wrote]] = run.metrics["test/loss"].items()
    scores = run.score("test")
    off = abs(scores.metrics["loss"] - wrote)
    if trial.config["decode"]["method"] == "none":
        return at_most(off, LIMIT)
    before = [row["hypothesis"] for row in run.predictions]
    after = [each.hypothesis for each in scores.predictions]
    same = sum(a == b for a, b in zip(before, after, strict=True))
    return Found(
        off <= LIMIT and same == len(before),
        f"{off:.1e} (limit {LIMIT:.0e}), {same} of {len(before)} texts equal",
    )


LAW = Law(
    "checkpoint round trip",
    reloads,
    "A trained run could not be used, or would say something else. Everything a model knows must "
    "be a parameter (self.param) or an option in the config: a variable of another collection, a "
    "module global, or a layer that draws numbers while it is traced does not come back.",
)
