"""Paired bootstrap between systems, from the predictions of their runs; kept in bootstrap.csv.

    {"metric": "bleu", "better": {"system": "GRU + Bahdanau"}, "than": {"system": "GRU"}}

For each seed that both sides have, the two runs of this seed are compared on the test sentences
(report/paired.py). bootstrap.csv holds the numbers, so that the report is rebuilt without the runs.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from seqlab.build import ConfigError, suggest
from seqlab.report import systems, tables
from seqlab.report.frame import Column, Frame
from seqlab.report.paired import METRICS, RESAMPLES, SEED, metric_of, paired_bootstrap
from seqlab.report.values import Names, where
from seqlab.train import predictions
from seqlab.train.atomic import write_atomically
from seqlab.train.directory import RunDirectory

ENTRIES = ("metric", "better", "than")
NUMBERS = ("better_score", "than_score", "difference", "low", "high", "p")
HEAD = ["better?", "than", "metric", "seed", "sentences", "better's score", "than's score"]
HEAD += ["difference", "95 % interval", "p", "answer"]
CONVENTION = (
    f"sacreBLEU's paired bootstrap (Koehn 2004): {RESAMPLES:,} resamples of the test sentences, "
    f"seed {SEED}. The interval is of the 2.5th and 97.5th percentile of the difference, p (two-"
    "sided) as sacreBLEU computes it. Yes, no: the interval is above or below 0. Of these two runs "
    "and other test sentences, not of other seeds."
)


def check(rules: Sequence[Mapping[str, Any]], planned: Frame, names: systems.Pairs) -> None:
    """Raise ConfigError for a wrong comparison; planned: the keys of every point."""
    for rule in rules:
        for entry in rule:
            if entry not in ENTRIES:
                raise ConfigError(f"report.bootstrap: no entry {entry!r}" + suggest(entry, ENTRIES))
        for entry in ENTRIES:
            if entry not in rule:
                raise ConfigError(f"report.bootstrap: {dict(rule)} lacks {entry!r}")
        if rule["metric"] not in METRICS:
            raise ConfigError(
                f"report.bootstrap: sacreBLEU's test has no metric {rule['metric']!r}"
                + suggest(rule["metric"], METRICS)
            )
        for side in ("better", "than"):
            systems.check_condition(rule[side], names, f"report.bootstrap: {side}")
        list(_pairs(rule, planned))


def update(path: Path, rules: Sequence[Mapping[str, Any]], frame: Frame, runs: Path) -> None:
    """Write bootstrap.csv: what the predictions under `runs` give, else its old rows.

    frame: the table of runs.
    """
    stored = load(path) if path.exists() else {}
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for rule in rules:
        for better, than in _pairs(rule, frame[frame["state"] == "done"]):
            key = (rule["metric"], better["id"], than["id"])
            files = [RunDirectory(runs / side["id"]).predictions for side in (better, than)]
            gone = [path.parts[-3] for path in files if not path.exists()]
            if gone:
                found = stored.get(key, {"missing": f"no predictions of {' and '.join(gone)} here"})
            else:
                found = _compared(rule["metric"], (better, than), files)
            rows[key] = {**found, **dict(zip(ENTRIES, key, strict=True)), "seed": better["seed"]}
    if rules:
        columns = [*ENTRIES, "seed", *NUMBERS, "sentences", "signature", "missing"]
        table = pd.DataFrame(rows.values(), columns=columns)
        write_atomically(path, table.to_csv(index=False, lineterminator="\n"))


def load(path: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    """{(metric, id, id): row} of bootstrap.csv; nan where a comparison could not be made."""
    table: Frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    rows = table.to_dict("records")
    for row in rows:
        row |= {name: float(row[name] or "nan") for name in NUMBERS}
    return {tuple(row[entry] for entry in ENTRIES): row for row in rows}


def section(path: Path, rules: Sequence[Mapping[str, Any]], frame: Frame, names: Names) -> str:
    """The part of the README on these comparisons, from bootstrap.csv; "" without comparisons."""
    if not rules:
        return ""
    rows = load(path)
    lines, missing, signatures = [HEAD], [], {}
    for rule in rules:
        titles = [names.condition(rule[side]) for side in ("better", "than")]
        pairs = list(_pairs(rule, frame[frame["state"] == "done"]))
        if not pairs:
            missing.append(f"{titles[0]} and {titles[1]} have no seed in common.")
        for better, than in pairs:
            row = rows[(rule["metric"], better["id"], than["id"])]
            if row["missing"]:
                missing.append(f"{titles[0]}, {titles[1]}, seed {row['seed']}: {row['missing']}.")
                continue
            signatures[rule["metric"]] = row["signature"]
            lines.append([*titles, rule["metric"], row["seed"], row["sentences"], *_texts(row)])
    notes = [CONVENTION, *(f"{name}: {text}." for name, text in signatures.items())]
    notes += [f"Not compared: {text}" for text in missing]
    table = [tables.markdown(lines, left=3)] if len(lines) > 1 else []
    listed = "\n".join(f"- {note}" for note in notes)
    return "\n\n".join(["## Paired bootstrap", *table, listed])


def _texts(row: Mapping[str, Any]) -> list[str]:
    low, high = row["low"], row["high"]
    answer = "yes" if low > 0 else "no" if high < 0 else "undecided"
    scores = [f"{row[name]:.2f}" for name in ("better_score", "than_score")]
    numbers = f"{row['difference']:+.2f}", f"[{low:+.2f}, {high:+.2f}]", f"{row['p']:.3f}"
    return [*scores, *numbers, answer]


def _pairs(rule: Mapping[str, Any], frame: Frame) -> Iterator[tuple[Column, Column]]:
    """The rows of the two runs of every seed that both sides have. Raises ConfigError."""
    sides = []
    for name in ("better", "than"):
        chosen = where(frame, rule[name])
        twice = chosen[chosen["seed"].duplicated()]
        if len(twice):
            raise ConfigError(
                f"report.bootstrap: {name} {dict(rule[name])} selects several runs of seed "
                f"{twice['seed'].iloc[0]}; add the keys that tell them apart"
            )
        sides.append({run["seed"]: run for _, run in chosen.iterrows()})
    for seed, better in sides[0].items():
        if seed in sides[1]:
            yield better, sides[1][seed]


def _compared(metric: str, pair: Sequence[Column], files: Sequence[Path]) -> dict[str, Any]:
    """The numbers of a row of bootstrap.csv, or why there are none, as `missing`."""
    signatures = [json.loads(run["conventions"] or "{}").get(metric, "") for run in pair]
    sides = [sorted(predictions.load(path), key=lambda each: each["index"]) for path in files]
    if not signatures[0] or signatures[0] != signatures[1]:
        return {"missing": f"the runs were not scored by the same {metric} ({signatures})"}
    asked = [[(each["index"], each["references"]) for each in side] for side in sides]
    if asked[0] != asked[1]:
        return {"missing": "the runs were tested on different sentences"}
    streams = list(itertools.zip_longest(*(each["references"] for each in sides[0])))
    first, second = ([each["hypothesis"] for each in side] for side in sides)
    found = paired_bootstrap(metric_of(metric, signatures[0]), first, second, streams)
    return {
        "better_score": found.better,
        "than_score": found.than,
        "difference": found.better - found.than,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "sentences": len(asked[0]),
        "signature": signatures[0],
        "missing": "",
    }
