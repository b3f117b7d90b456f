"""The answer in words, computed from the numbers by rules that the config states as data.

Comparison: {"claim": ..., "metric": ..., "direction": "min" or "max", "better": {key: value},
"than": {key: value}, "margin": 0.0}. The advantage is the difference of means in the claimed
direction: yes when its whole 95 % interval is above the margin, no when it is below, otherwise
undecided, as with fewer than two runs on a side. A negative margin claims "not worse by more".
The metric "failed" compares fractions of failed runs. A run that diverged counts as the worst
value that any run of the two sides has; where a whole side diverged and the other did not at all,
the other is better; where that leaves nothing to compare, the claim is undecided.

Limit: {"claim": ..., "metric": ..., "of": {key: value}, "statistic": "mean", "min" or "max",
"below" or "above": number}. A mean is held against the limit with its interval; min and max with
the value itself, so that "the best run is below 45" is a limit with statistic "min".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.report import statistics
from seqlab.report.frame import Frame
from seqlab.report.values import Names, values, where

COMPARISON = ("claim", "metric", "direction", "better", "than", "margin")
CHOICES = {"direction": ("min", "max"), "statistic": ("mean", "min", "max")}
LIMIT = ("claim", "metric", "of", "statistic", "below", "above")


@dataclass(frozen=True)
class Verdict:
    """answer: "yes", "no" or "undecided"; reason: the numbers it was computed from."""

    claim: str
    answer: str
    reason: str


def judge(frame: Frame, rule: Mapping[str, Any], names: Names) -> Verdict:
    """The verdict of one rule over the table of finished runs. Raises ConfigError."""
    check_rule(rule)
    decide = _comparison if "better" in rule else _limit
    answer, reason = decide(frame, rule, names)
    return Verdict(rule["claim"], answer, reason)


def check_rule(rule: Mapping[str, Any]) -> None:
    """Raise ConfigError for a rule with unknown, wrong or missing entries."""
    entries, side = (COMPARISON, "than") if "better" in rule else (LIMIT, "of")
    for entry in rule:
        if entry not in entries:
            raise ConfigError(f"report.verdict: no entry {entry!r}" + suggest(entry, entries))
    for entry in ("claim", "metric", side):
        if entry not in rule:
            raise ConfigError(f"report.verdict: {dict(rule)} lacks {entry!r}")
    if entries is LIMIT and ("below" in rule) == ("above" in rule):
        raise ConfigError(f"report.verdict: {rule['claim']!r} needs one of `below` and `above`")
    for entry, choices in CHOICES.items():
        if entry in rule and rule[entry] not in choices:
            raise ConfigError(
                f"report.verdict: no {entry} {rule[entry]!r}" + suggest(rule[entry], choices)
            )


def _comparison(frame: Frame, rule: Mapping[str, Any], names: Names) -> tuple[str, str]:
    better, than = where(frame, rule["better"]), where(frame, rule["than"])
    sign = -1.0 if rule.get("direction", "min") == "min" else 1.0
    titles = _titles(rule["better"], rule["than"], names)
    if rule["metric"] == "failed":
        k, n, m, t = better["failed"].sum(), len(better), than["failed"].sum(), len(than)
        low, high = statistics.newcombe(int(m), t, int(k), n)
        reason = f"failed runs: {k} of {n}{titles[0]}, {m} of {t}{titles[1]}"
    else:
        a, b = (_finite(side, rule["metric"]) for side in (better, than))
        lost = _diverged(better, rule), _diverged(than, rule)
        name = names.key(rule["metric"])
        reason = f"{name} {_text(a, lost[0])}{titles[0]}, {_text(b, lost[1])}{titles[1]}"
        if any(lost) and not (a and b):
            return _by_divergence(lost, (len(a), len(b))), reason
        if any(lost):
            worst = max(a + b) if sign < 0 else min(a + b)
            a, b = a + [worst] * lost[0], b + [worst] * lost[1]
            reason += f"; diverged runs counted as {worst:.3g}"
        low, high = statistics.welch(a, b)
        low, high = (low, high) if sign > 0 else (-high, -low)
    margin = rule.get("margin", 0.0)
    known = math.isfinite(low) and math.isfinite(high)
    reason += f"; advantage {_interval(low, high)}" if known else "; too few runs for an interval"
    reason += f", margin {margin:g}" if margin else ""
    return _against(low, high, margin), reason


def _limit(frame: Frame, rule: Mapping[str, Any], names: Names) -> tuple[str, str]:
    runs, statistic = where(frame, rule["of"]), rule.get("statistic", "mean")
    sign, limit = (-1.0, rule["below"]) if "below" in rule else (1.0, rule["above"])
    side = f"{'below' if sign < 0 else 'above'} {limit:g}"
    if rule["metric"] == "failed":
        found, lost = [float(failed) for failed in runs["failed"]], 0
    else:
        found, lost = _finite(runs, rule["metric"]), _diverged(runs, rule)
    name = f"{statistic} of {names.key(rule['metric'])}"
    if not found:
        return "undecided", f"{name}: no finished run has it (claimed {side})"
    if statistic == "mean":
        low, high = statistics.t_interval(found) if not lost else (-math.inf, math.inf)
        value = statistics.summary(found).mean
        interval = f", 95 % {_interval(low, high)}" if math.isfinite(low) else ", no interval"
    else:
        low = high = value = min(found) if statistic == "min" else max(found)
        interval = ""
        if lost and statistic == "max":
            low, high = -math.inf, math.inf
    low, high = (low, high) if sign > 0 else (-high, -low)
    lost_text = f", {lost} diverged" if lost else ""
    reason = f"{name} {value:.3g}{interval} over {len(found)} runs{lost_text} (claimed {side})"
    return _against(low, high, sign * limit), reason


def _against(low: float, high: float, margin: float) -> str:
    if low > margin:
        return "yes"
    return "no" if high < margin else "undecided"


def _by_divergence(lost: tuple[int, int], finite: tuple[int, int]) -> str:
    """Verdict where a side has no value; lost and finite: counts of `better` and `than`."""
    if lost[0] == 0 and finite[0] and finite[1] == 0:
        return "yes"
    return "no" if lost[1] == 0 and finite[1] and finite[0] == 0 else "undecided"


def _finite(runs: Frame, metric: str) -> list[float]:
    if runs.empty:
        return []
    return [float(value) for value in values(runs, metric) if math.isfinite(value)]


def _diverged(runs: Frame, rule: Mapping[str, Any]) -> int:
    """How many runs lack the metric because they diverged."""
    if runs.empty:
        return 0
    return int(((runs["diverged"] != "") & values(runs, rule["metric"]).isna()).sum())


def _titles(better: Any, than: Any, names: Names) -> tuple[str, str]:
    """What tells the sides apart; what they share stands behind the second."""
    first, second = dict(better), dict(than)
    shared = {key: value for key, value in first.items() if second.get(key) == value}
    own = ({key: v for key, v in side.items() if key not in shared} for side in (first, second))
    texts = [f" for {names.condition(side)}" for side in own]
    return texts[0], texts[1] + (f", both {names.condition(shared)}" if shared else "")


def _text(found: list[float], lost: int) -> str:
    if not found:
        return f"all {lost} diverged" if lost else "no run"
    summary = statistics.summary(found)
    spread = f" ± {summary.sd:.2g}" if summary.n > 1 else ""
    return f"{summary.mean:.3g}{spread} (n = {summary.n}{f', {lost} diverged' if lost else ''})"


def _interval(low: float, high: float) -> str:
    return f"[{low:.3g}, {high:.3g}]"
