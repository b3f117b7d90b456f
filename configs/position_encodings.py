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
COPY = {"task.kind": "tasks.probes.copying.Copy"}
REVERSE = {"task.kind": "tasks.probes.copying.Reverse"}
WORDS = {"task.kind": "tasks.transduction.Transduction"}
RIGHT = "share of right symbols"


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
        "that is bad at all lengths, as at step 400, reaches far by it. The claims on words and on "
        "RoPE were added after the results were seen: exploratory.",
        "figures": figures(),
        "verdict": verdict(),
    }


def figures():
    """Accuracy against length, at the short and at the full budget."""
    return (
        curve("copy", COPY, "test/accuracy", RIGHT, TRAINED, "symbols"),
        curve("reverse", REVERSE, "test/accuracy", RIGHT, TRAINED, "symbols"),
        curve("spelling", WORDS, "test/per", "phone error rate (%)", SPELLED, "letters"),
        {
            "kind": "report.figures.lines.Lines",
            "name": "extrapolation_length",
            "x": "model.position",
            "y": "test/extrapolation_length",
            "hue": "task.kind",
            "caption": "Longest length up to which the task is solved (words: see the notes).",
        },
    )


def verdict():
    """The claims, and what would confirm them."""
    return (
        {
            "claim": "Every encoding solves copying within the training length",
            "metric": "test/extrapolation_length",
            "of": COPY,
            "statistic": "min",
            "above": TRAINED - 0.5,
        },
        {
            "claim": "Some encoding solves copying beyond the training length",
            "metric": "test/extrapolation_length",
            "of": COPY,
            "statistic": "max",
            "above": TRAINED + 0.5,
        },
        copies("alibi.Alibi", "sinusoidal.Sinusoidal", COPY, "copy"),
        copies("alibi.Alibi", "rope.Rope", COPY, "copy"),
        copies("alibi.Alibi", "base.Position", COPY, "copy"),
        copies("rope.Rope", "sinusoidal.Sinusoidal", REVERSE, "reverse"),
        spells("alibi.Alibi", "sinusoidal.Sinusoidal"),
        spells("alibi.Alibi", "learned.Learned"),
        spells("alibi.Alibi", "rope.Rope"),
        spells("alibi.Alibi", "base.Position"),
        {
            "claim": "Sinusoidal positions get half of the symbols right at 1.6 times the "
            "training length (copy)",
            "metric": "test/accuracy@16",
            "of": {"model.position": "positions.sinusoidal.Sinusoidal", **COPY},
            "statistic": "mean",
            "above": 0.5,
        },
    )


def curve(name, where, series, y, trained, x):
    """A series by length, one panel an encoding."""
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
    """The claim that one encoding is better than another."""
    return {
        "claim": f"{NAMES[first]} beats {NAMES[second]}: {what}",
        "metric": metric,
        "direction": direction,
        "better": {"model.position": f"positions.{first}", **where},
        "than": {"model.position": f"positions.{second}", **where},
    }


def copies(first, second, where, task):
    """The claim, for copying or reversing."""
    what = f"more right symbols at 1.6 times the training length ({task})"
    return beats(first, second, where, "test/accuracy@16", "max", what)


def spells(first, second):
    """The claim, for spelling."""
    what = "fewer wrong phones in words of 12 letters, trained to 8"
    return beats(first, second, WORDS, "test/per@12", "min", what)
