"""A made-up experiment: runs whose metrics are written instead of trained."""

from pathlib import Path

from seqlab.config import defaults
from seqlab.sweep.plan import Point, points
from seqlab.sweep.run import run
from seqlab.train.directory import RunDirectory
from seqlab.train.writer import MetricsWriter

PRE, POST = "placements.pre.Pre", "placements.post.Post"


def config():
    """Asks about placement and depth; 100 steps."""
    found = defaults()
    found.train.steps = 100
    report = found.report
    report.question = "Does Pre-LN train deeper than Post-LN?"
    report.axes = ("model.placement", "model.depth")
    report.columns = ("test/per",)
    report.labels = ((PRE, "Pre-LN"), (POST, "Post-LN"), ("valid/loss", "validation loss"))
    report.failed = {"metric": "valid/loss", "above": "baseline/trigram_loss"}
    report.figures = (
        {
            "kind": "report.figures.lines.Lines",
            "name": "loss",
            "x": "model.depth",
            "y": "valid/loss",
            "hue": "model.placement",
            "caption": "Loss against depth.",
        },
    )
    report.verdict = (
        {
            "claim": "Pre-LN is better at depth 12",
            "metric": "valid/loss",
            "better": {"model.placement": PRE, "model.depth": 12},
            "than": {"model.placement": POST, "model.depth": 12},
        },
    )
    return found


SWEEP = [
    {"model.placement": placement, "model.depth": depth, "seed": seed}
    for placement in (PRE, POST)
    for depth in (2, 12)
    for seed in (0, 1)
]


def plan(settings=None) -> list[Point]:
    """The points of the experiment."""
    return points(settings or config(), SWEEP)


def train(settings, directory, name):
    """Pre-LN gets better with depth; Post-LN fails at depth 12, by diverging with seed 1."""
    depth, seed = settings["model"]["depth"], settings["seed"]
    post = settings["model"]["placement"] == POST
    run_directory = RunDirectory(directory)
    run_directory.conventions = {"PER": "edit distance over reference length, %"}
    with MetricsWriter(run_directory.metrics) as writer:
        writer.write(0, "model", {"parameters": 1000 * depth})
        writer.write(0, "baseline", {"trigram_loss": 2.5})
        writer.write(0, "data", {"train_examples": 900, "train_truncated": 3, "test_unknown": 0})
        norms = {f"gradient_norm/decoder@{layer}": 2.0**layer for layer in range(1, depth + 1)}
        writer.write(0, "train", norms)
        if post and depth == 12 and seed == 1:
            run_directory.update(step=60, diverged={"step": 60, "layer": "decoder/11"})
            return
        loss = (3.0 if depth == 12 else 0.8) if post else 1.0 - depth / 50
        for step in (50, 100):
            writer.write(step, "valid", {"loss": loss + seed / 100 + 1 / step})
            exact = {f"exact@{n}": step / 100 - n / 100 for n in (4, 8, 12)}
            writer.write(step, "test", {"per": 30 * loss, **exact})
        writer.write(100, "train", {"step_time": 0.01, "compile_time": 5.0, "tokens": 12345})
    run_directory.update(step=100)


def trained(root: Path, settings=None) -> list[Point]:
    """The points, all run under `root/runs`."""
    found = plan(settings)
    assert run(found, root / "runs", train).exit_status == 0
    return found
