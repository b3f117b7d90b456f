"""sacreBLEU's paired bootstrap (Koehn 2004): do two systems differ on these test sentences?

Draw the test sentences again with replacement, RESAMPLES times, and score both systems on each
draw: delta_i = score(better, draw i) - score(than, draw i). The interval is from the 2.5th to the
97.5th percentile of delta. p is sacreBLEU's own, (1 + #{|delta_i| - mean |delta| > |delta|}) /
(1 + RESAMPLES): two-sided, that a difference as large comes from the choice of sentences alone.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sacrebleu import significance
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from seqlab.build import ConfigError

METRICS = ("bleu", "chrf")
RESAMPLES = 1000
SEED = 12345  # sacreBLEU's default


@dataclass(frozen=True)
class Paired:
    """Corpus scores of the two systems; interval of their difference; p value."""

    better: float
    than: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    metric: Metric,
    better: Sequence[str],
    than: Sequence[str],
    references: Sequence[Sequence[str | None]],
) -> Paired:
    """Compare two lists of hypotheses for the same sentences.

    references: stream i holds reference i of every sentence, None where it has fewer.
    """
    streams: Any = [list(stream) for stream in references]  # sacreBLEU's annotation has no None
    systems: Any = [("than", list(than)), ("better", list(better))]
    with _seeded():
        test = significance.PairedTest(systems, {"metric": metric}, streams, "bs", RESAMPLES)
        scores: Any = test()[1]
        # The test keeps no resampled difference. Of one seed, both systems get the same draws.
        resampled = [_resampled(metric, side, streams) for side in (better, than)]
    low, high = np.percentile(resampled[0] - resampled[1], [2.5, 97.5])
    ((base, other),) = (results for name, results in scores.items() if name != "System")
    return Paired(float(other.score), float(base.score), float(low), float(high), other.p_value)


def metric_of(name: str, signature: str) -> Metric:
    """The metric that has this signature of sacreBLEU, which a run states as its convention.

    Raises ConfigError for a signature that stands for options which are not known here.
    """
    options = dict(part.split(":", 1) for part in signature.split("|") if ":" in part)
    lowercase = options.get("case") == "lc"
    if name == "chrf":
        orders, space = (int(options.get("nc", 6)), int(options.get("nw", 0))), options.get("space")
        metric: Metric = CHRF(*orders, lowercase=lowercase, whitespace=space == "yes")
    else:
        known = options.get("tok") in BLEU.TOKENIZERS
        metric = BLEU(lowercase=lowercase, tokenize=options["tok"] if known else None)
    metric.corpus_score(["a"], [["a"]])  # a signature counts the references
    own = metric.get_signature()
    wanted = {key: value for key, value in options.items() if key not in ("nrefs", "version")}
    if not wanted or any(str(own.info.get(key)) != value for key, value in wanted.items()):
        raise ConfigError(
            f"report.bootstrap: {name} of the signature {signature!r} cannot be computed again; "
            f"the nearest that can is {own}"
        )
    return metric


def _resampled(metric: Metric, texts: Sequence[str], streams: Any) -> np.ndarray:
    stats = metric._extract_corpus_statistics(list(texts), streams)
    _, scores = significance._bootstrap_resample(stats, metric, RESAMPLES)
    return np.array([score.score for score in scores])


@contextlib.contextmanager
def _seeded() -> Iterator[None]:
    """sacreBLEU takes its seed from the environment alone."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(SEED)
    try:
        yield
    finally:
        del os.environ["SACREBLEU_SEED"]
        if before is not None:
            os.environ["SACREBLEU_SEED"] = before
