"""Which position encoding survives more than the lengths it was trained on?

Command   python launch.py --config=configs/position_encodings.py
Cost      about 25 minutes on 2 CPU cores
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

NAMES = {
    "base.Position": "none (NoPE)",
    "sinusoidal.Sinusoidal": "sinusoidal",
    "learned.Learned": "learned",
    "rope.Rope": "RoPE",
    "alibi.Alibi": "ALiBi",
    "t5.T5": "T5 bias",
    "shaw.Shaw": "Shaw",
}
TRAINED, LENGTHS = 10, (2, 5, 8, 10, 11, 12, 13, 14, 16, 18, 20)
SPELLED = 8  # letters
SHORT, STEPS = 400, 1600


def get_config():
    """The copy task; the sweep changes the task."""
    config = defaults()
    config.task = probe("Copy")
    config.model.update(kind="models.lm.LM", width=64, heads=4, depth=2)
    config.data.max_length = {"source": 21, "target": 21}
    config.data.buckets = (24, 44)
    config.train.update(
        steps=STEPS,
        batch=32,
        lr=2e-3,
        schedule="cosine",
        warmup=100,
        clip=1.0,
        steps_per_call=100,
        eval_every=STEPS,
        checkpoint_every=STEPS,
    )
    config.evaluate.update(at=(SHORT,), examples=2048)
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
        for position in NAMES:
            for seed in (0, 1):
                yield {**task, "model.position": f"positions.{position}", "seed": seed}


def report():
    """What the report asks of the runs."""
    copy = {"task.kind": "tasks.probes.copying.Copy"}
    reverse = {"task.kind": "tasks.probes.copying.Reverse"}
    words = {"task.kind": "tasks.transduction.Transduction"}
    right = "share of right symbols"

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

    def beats(first, second, where, metric, direction, what):
        return {
            "claim": f"{NAMES[first]} beats {NAMES[second]}: {what}",
            "metric": metric,
            "direction": direction,
            "better": {"model.position": f"positions.{first}", **where},
            "than": {"model.position": f"positions.{second}", **where},
        }

    def copies(first, second, where, task):
        what = f"more right symbols at 1.6 times the training length ({task})"
        return beats(first, second, where, "test/accuracy@16", "max", what)

    def spells(first, second):
        what = "fewer wrong phones in words of 12 letters, trained to 8"
        return beats(first, second, words, "test/per@12", "min", what)

    return {
        "question": "Which position encoding survives more than the lengths it was trained on?",
        "metric": "test/extrapolation_length",
        "direction": "max",
        "axes": ("task.kind", "model.position"),
        "columns": (
            f"test/extrapolation_length:{SHORT}",
            f"test/exact@{TRAINED}",
            "test/accuracy@12",
            "test/accuracy@16",
            "test/accuracy@20",
            "test/per",
        ),
        "labels": (
            *((f"positions.{position}", name) for position, name in NAMES.items()),
            ("tasks.probes.copying.Copy", "copy"),
            ("tasks.probes.copying.Reverse", "reverse"),
            ("tasks.transduction.Transduction", "spelling in phones"),
            ("task.kind", "task"),
            ("model.position", "position encoding"),
            ("test/extrapolation_length", "extrapolation length"),
            ("test/per", "phone error rate (%)"),
            ("test/per@12", "phone error rate (%) at 12 letters"),
            ("test/exact@10", "exact at 10"),
            ("test/accuracy@12", "right symbols at 12"),
            ("test/accuracy@16", "right symbols at 16"),
            ("test/accuracy@20", "right symbols at 20"),
        ),
        "notes": "Beyond the training length the copying models write the first ten symbols and "
        "stop: a share of right symbols near 10/n, whatever the encoding; learned vectors fail "
        "from the first untrained position on. For the words, extrapolation length is the longest "
        "length whose word error rate is at most 1.5 times that of the trained lengths: a model "
        "that is bad at all lengths, as at step 400, reaches far by it.",
        "figures": (
            curve("copy", copy, "test/accuracy", right, TRAINED, "symbols"),
            curve(
                "reverse", reverse, "test/accuracy", "share of right symbols", TRAINED, "symbols"
            ),
            curve("spelling", words, "test/per", "phone error rate (%)", SPELLED, "letters"),
            {
                "kind": "report.figures.lines.Lines",
                "name": "extrapolation_length",
                "x": "model.position",
                "y": "test/extrapolation_length",
                "hue": "task.kind",
                "caption": "Longest length up to which the task is solved (words: see the notes).",
            },
        ),
        "verdict": (
            {
                "claim": "Every encoding solves copying within the training length",
                "metric": "test/extrapolation_length",
                "of": copy,
                "statistic": "min",
                "above": TRAINED - 0.5,
            },
            {
                "claim": "Some encoding solves copying beyond the training length",
                "metric": "test/extrapolation_length",
                "of": copy,
                "statistic": "max",
                "above": TRAINED + 0.5,
            },
            copies("alibi.Alibi", "sinusoidal.Sinusoidal", copy, "copy"),
            copies("alibi.Alibi", "rope.Rope", copy, "copy"),
            copies("alibi.Alibi", "base.Position", copy, "copy"),
            copies("rope.Rope", "sinusoidal.Sinusoidal", reverse, "reverse"),
            spells("alibi.Alibi", "sinusoidal.Sinusoidal"),
            spells("alibi.Alibi", "learned.Learned"),
            spells("alibi.Alibi", "rope.Rope"),
            spells("alibi.Alibi", "base.Position"),
            {
                "claim": "Sinusoidal positions get half of the symbols right at 1.6 times the "
                "training length (copy)",
                "metric": "test/accuracy@16",
                "of": {"model.position": "positions.sinusoidal.Sinusoidal", **copy},
                "statistic": "mean",
                "above": 0.5,
            },
        ),
    }
