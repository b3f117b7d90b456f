"""Made-up runs of three systems that differ in many keys, with predictions to compare."""

from pathlib import Path

from seqlab.config import defaults
from seqlab.sweep.plan import Point, points
from seqlab.sweep.run import run
from seqlab.train.directory import RunDirectory
from seqlab.train.predictions import Prediction, save
from seqlab.train.writer import MetricsWriter

GRU = {"a": "mixers.gru.GRU"}
ATTENTION = {"a": "mixers.attention.MultiHead", "x": "mixers.cross.Cross"}
FIXED, BAHDANAU, TRANSFORMER = "GRU, fixed vector", "GRU + Bahdanau et al. (2015)", "Transformer"
NAMES = (
    (FIXED, {"model.mixers": GRU, "model.bridge": "models.bridge.Copy"}),
    (BAHDANAU, {"model.mixers": GRU}),
    (TRANSFORMER, {"model.mixers": ATTENTION, "model.placement": "placements.pre.Pre"}),
)
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
TEXT = "the cat sat on a mat and looked at my old red hat with some joy"
REFERENCES = [TEXT[n % 5 : n % 5 + 30 + n % 20] for n in range(40)]
# How many of the words of every reference a system gets wrong.
ERRORS = {FIXED: 3, BAHDANAU: 1, TRANSFORMER: 1}


def config():
    """Asks which system is best."""
    found = defaults()
    found.train.steps = 100
    found.report.update(
        {
            "question": "Which system is best?",
            "metric": "test/bleu",
            "direction": "max",
            "axes": ("system",),
            "names": NAMES,
            "bootstrap": (
                {"metric": "bleu", "better": {"system": BAHDANAU}, "than": {"system": FIXED}},
            ),
            "figures": (
                {
                    "kind": "report.figures.parting.Parting",
                    "name": "length",
                    "series": "test/bleu",
                    "hue": "system",
                    "parts": ((BAHDANAU, FIXED), (BAHDANAU, TRANSFORMER)),
                    "unit": "words",
                },
                {
                    "kind": "report.figures.training_curves.TrainingCurves",
                    "name": "training",
                    "by_step": "valid/loss",
                    "hue": "system",
                    "log": True,
                },
                {
                    "kind": "report.figures.bars.Bars",
                    "name": "costs",
                    "metrics": ("test/bleu", "model/parameters"),
                },
            ),
            "verdict": (
                {
                    "claim": "Attention helps",
                    "metric": "test/bleu",
                    "direction": "max",
                    "better": {"system": BAHDANAU},
                    "than": {"system": FIXED},
                },
            ),
        }
    )
    return found


SWEEP = [
    {**keys, "seed": seed}
    for keys in (
        {"model.mixers": GRU, "model.bridge": "models.bridge.Copy"},
        {"model.mixers": GRU, "model.bridge": "models.bridge.NoBridge"},
        {"model.mixers": ATTENTION, "model.bridge": "models.bridge.NoBridge"},
    )
    for seed in (0, 1)
]


def plan(settings=None, sweep=SWEEP) -> list[Point]:
    """The points of the experiment."""
    return points(settings or config(), sweep)


def kind(settings):
    """The system, told without `report.names`."""
    if settings["model"]["bridge"] == "models.bridge.Copy":
        return FIXED
    return BAHDANAU if settings["model"]["mixers"] == GRU else TRANSFORMER


def train(settings, directory, name):
    """Scores by length that part at 15 words; a Transformer diverges before its first loss."""
    system, seed = kind(settings), settings["seed"]
    directory = RunDirectory(directory)
    directory.conventions = {"bleu": SIGNATURE}
    lost = system == TRANSFORMER and seed == 1
    with MetricsWriter(directory.metrics) as writer:
        writer.write(0, "model", {"parameters": 5000 + seed, "flops": 2.5e6})
        if lost:
            directory.update(step=30, diverged={"step": 30, "layer": "decoder/0"})
            return
        for step in (25, 50, 75, 100):
            writer.write(step, "valid", {"loss": (9 if system == FIXED else 6) / step + seed / 100})
            writer.write(step, "train", {"loss": 1 / step})
        falls = {15: 10.0, 25: 20.0} if system == FIXED else {}
        series = {f"bleu@{n}": 30.0 + seed - falls.get(n, 0.0) for n in (5, 15, 25)}
        writer.write(100, "test", {"bleu": 30.0 - 5 * ERRORS[system] + seed, **series})
        writer.write(100, "train", {"step_time": 0.01, "tokens": 12345})
    texts = [wrong(each, ERRORS[system], number + seed) for number, each in enumerate(REFERENCES)]
    rows = zip(texts, REFERENCES, strict=True)
    save(
        directory.predictions,
        [Prediction(n, "?", text, (each,), False, 0.0) for n, (text, each) in enumerate(rows)],
    )
    directory.update(step=100)


def wrong(text, errors, start):
    """The text with some words replaced."""
    words = text.split()
    for place in range(errors):
        words[(start + 2 * place) % len(words)] = "?"
    return " ".join(words)


def trained(root: Path) -> list[Point]:
    """The points, all run under `root/runs`."""
    found = plan()
    assert run(found, root / "runs", train).exit_status == 0
    return found
