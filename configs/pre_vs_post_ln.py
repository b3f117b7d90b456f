"""Pre-LN or Post-LN: which trains deeper, and what does warm-up have to do with it?

Command   python launch.py --config=configs/pre_vs_post_ln.py
Cost      about 15 minutes on 2 CPU cores
Expected  Post-LN trains at depth 2 and needs warm-up, or fails, at depth 12; Pre-LN trains at every
          depth. The gradient of Post-LN's top layer does not shrink with depth and fades towards
          the decoder's input; Pre-LN's shrinks as 1/sqrt(L) (Xiong et al. 2020; Liu et al. 2020).

Encoder-decoder Transformers of depth L+L spell English words in phones (cmudict), without gradient
clipping. Decoder-only models take one step each, for their gradients at initialisation.

`:full` is the GPU/TPU recipe: TED talks, Portuguese to English, depth up to 18+18; with
`--config.data.source=wmt14_translate/de-en --config.data.fields.source=de` it runs on WMT14.
"""

from seqlab.config import defaults

PLACEMENTS = ("placements.pre.Pre", "placements.post.Post")
PAIRS = {"model.kind": "models.seq2seq.Seq2Seq"}
PRE = {"model.placement": "placements.pre.Pre", **PAIRS}
POST = {"model.placement": "placements.post.Post", **PAIRS}
COLD = {"model.depth": 12, "train.warmup": 0}
RATIO = "train/gradient_norm/decoder@last:first / train/gradient_norm/decoder@first:first"


def get_config(arg=None):
    """The default scale, or "full"."""
    config = defaults()
    config.model.update(kind="models.seq2seq.Seq2Seq", width=64, heads=4)
    config.model.mixers = {"a": "mixers.attention.MultiHead", "x": "mixers.cross.Cross"}
    config.model.decoder = {"pattern": "a+x"}
    config.data.max_length = {"source": 16, "target": 16}
    config.data.buckets = (16,)
    config.data.eval_examples = 1024
    config.evaluate.examples = 512
    config.train.update(
        steps=200, batch=32, lr=1e-3, steps_per_call=50, eval_every=100, checkpoint_every=200
    )
    config.decode.max_length = 20
    config.report.update(report())
    if arg == "full":
        full(config)
    return config


def sweep(arg=None):
    """depth x placement x warm-up x seed, and one step of decoder-only models."""
    depths, warmups, seeds, row = (2, 6, 12), (0, 100), (0, 1), 32
    if arg == "full":
        depths, warmups, seeds, row = (6, 12, 18), (0, 4000), (0, 1, 2), 520
    for depth in depths:
        for placement in PLACEMENTS:
            for warmup in warmups:
                for seed in seeds:
                    yield {
                        "model.depth": depth,
                        "model.placement": placement,
                        "train.warmup": warmup,
                        "seed": seed,
                    }
    for depth in (*depths, 32):
        for placement in PLACEMENTS:
            for seed in seeds:
                yield {
                    "model.kind": "models.lm.LM",
                    "model.decoder": {"pattern": "a"},
                    "model.depth": depth,
                    "model.placement": placement,
                    "seed": seed,
                    "data.buckets": (row,),
                    "train.steps": 1,
                    "decode.method": "none",
                }


def report():
    """What the report asks of the runs."""
    return {
        "question": "Pre-LN or Post-LN: which trains deeper, and does warm-up rescue Post-LN?",
        "metric": "valid/loss",
        "direction": "min",
        "axes": ("model.placement", "model.depth", "train.warmup"),
        "where": (("model.kind", "models.seq2seq.Seq2Seq"),),
        "columns": ("test/per", "test/wer"),
        "failed": {"metric": "valid/loss", "above": "baseline/trigram_loss"},
        "labels": (
            ("placements.pre.Pre", "Pre-LN"),
            ("placements.post.Post", "Post-LN"),
            ("models.seq2seq.Seq2Seq", "encoder-decoder"),
            ("models.lm.LM", "decoder-only"),
            ("model.depth", "layers"),
            ("model.placement", "placement"),
            ("train.warmup", "warm-up"),
            (RATIO, "gradient norm of the last over the first decoder layer at initialisation"),
            ("valid/loss", "validation loss (nats a phone)"),
            ("test/per", "phone error rate (%)"),
            ("test/wer", "word error rate (%)"),
        ),
        "notes": "In decoder-only Post-LN stacks the last layer's gradient is 2.5 and 5.4 times "
        "the first's at 12 layers, 0.6 and 2.7 times at 32 (two seeds): far from the 66 and more "
        "of the encoder-decoder at 12, but not flat. The verdict's limit of 3 was asked of 32 "
        "layers only.",
        "figures": figures(),
        "verdict": verdict(),
    }


def figures():
    """Loss by depth; gradients at initialisation, beside what was published."""
    return (
        {
            "kind": "report.figures.lines.Lines",
            "name": "loss_by_depth",
            "x": "model.depth",
            "y": "valid/loss",
            "hue": "model.placement",
            "panels": "train.warmup",
            "where": PAIRS,
            "limit": {"y": "baseline/trigram_loss", "label": "phone 3-gram"},
            "caption": "Final validation loss by depth. Runs above the 3-gram have failed.",
        },
        {
            "kind": "report.figures.profile.Profile",
            "name": "gradient_by_layer",
            "series": "train/gradient_norm/decoder",
            "at": "first",
            "hue": ("model.placement", "model.kind"),
            "panels": "model.depth",
            "log": True,
            "x_label": "decoder layer (1: next to the input)",
            "y_label": "gradient norm of W2 at initialisation",
            "expect": (
                {
                    "label": "1.44 a layer (pilot, Post-LN with cross-attention)",
                    "growth": 1.44,
                    "anchor": "last",
                    "where": POST,
                },
            ),
            "caption": "Gradient of the second feed-forward matrix before the first step. "
            "Post-LN fades towards the input only where the decoder reads an encoder "
            "(Liu et al. 2020).",
        },
        {
            "kind": "report.figures.lines.Lines",
            "name": "last_layer_by_depth",
            "x": "model.depth",
            "y": "train/gradient_norm/decoder@last:first",
            "hue": "model.placement",
            "where": PAIRS,
            "log": True,
            "log_x": True,
            "y_label": "gradient norm of W2 in the last layer",
            "expect": (
                {"label": "1/sqrt(L) (Pre-LN)", "power": -0.5, "where": PRE},
                {"label": "constant in L (Post-LN)", "power": 0.0, "where": POST},
            ),
            "caption": "The last decoder layer at initialisation, with the bounds of Xiong et "
            "al. 2020 (Theorem 1) as lines.",
        },
    )


def verdict():
    """The claims, and what would confirm them."""
    return (
        {
            "claim": "Without warm-up, Pre-LN trains better than Post-LN at depth 12",
            "metric": "valid/loss",
            "better": {**PRE, **COLD},
            "than": {**POST, **COLD},
        },
        {
            "claim": "Without warm-up, Post-LN fails at depth 12 more often than Pre-LN",
            "metric": "failed",
            "better": {**PRE, **COLD},
            "than": {**POST, **COLD},
        },
        {
            "claim": "Warm-up helps Post-LN at depth 12",
            "metric": "valid/loss",
            "better": {**POST, "model.depth": 12, "train.warmup": 100},
            "than": {**POST, **COLD},
        },
        {
            "claim": "At depth 2 Post-LN is at least as good as Pre-LN, without warm-up",
            "metric": "valid/loss",
            "better": {**POST, "model.depth": 2, "train.warmup": 0},
            "than": {**PRE, "model.depth": 2, "train.warmup": 0},
        },
        {
            "claim": "Post-LN's decoder gradients fall more than 10 times towards the input at "
            "depth 12",
            "metric": RATIO,
            "of": {**POST, "model.depth": 12},
            "statistic": "min",
            "above": 10.0,
        },
        {
            "claim": "They do not without cross-attention (decoder-only, 32 layers: less than "
            "3 times)",
            "metric": RATIO,
            "of": {
                "model.placement": "placements.post.Post",
                "model.kind": "models.lm.LM",
                "model.depth": 32,
            },
            "statistic": "max",
            "below": 3.0,
        },
        {
            "claim": "The best run gets fewer than 45 % of the phones wrong",
            "metric": "test/per",
            "of": PAIRS,
            "statistic": "min",
            "below": 45.0,
        },
    )


def full(config):
    """6+6 to 18+18 layers of width 256 on TED talks; one GPU day for the sweep."""
    config.task = {"kind": "tasks.translation.Translation"}
    config.data.update(source="ted_hrlr_translate/pt_to_en", shared_vocabulary=True)
    config.data.fields = {"source": "pt", "target": "en"}
    pieces = {"kind": "data.text.sentencepiece.SentencePiece", "vocab_size": 8000}
    config.data.tokenizer = {"source": pieces, "target": pieces}
    config.data.max_length = {"source": 256, "target": 256}
    config.data.buckets = (32, 64, 128, 256)
    config.data.eval_examples = 0
    config.evaluate.examples = 0
    config.model.update(width=256, heads=4, dropout=0.3)
    config.train.update(
        steps=40000,
        batch=8192,
        batch_unit="tokens",
        lr=5e-4,
        label_smoothing=0.1,
        weight_decay=1e-4,
        precision="bf16",
        eval_every=2000,
        checkpoint_every=2000,
        steps_per_call=100,
    )
    config.decode.max_length = 256
