"""The report of an experiment: results.csv, figures/ and a README.md that begins with the answer.

Everything is computed from results.csv (and bootstrap.csv), as written, so that `--report` gives
the same README on a machine that has no runs.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from seqlab.build import build
from seqlab.report import bootstrap, collect, conditions, systems, tables
from seqlab.report.figures.base import Chart
from seqlab.report.frame import Frame
from seqlab.report.values import Names, where
from seqlab.report.verdict import Verdict, check_rule, judge
from seqlab.sweep.plan import Point
from seqlab.train.atomic import write_atomically
from seqlab.train.fingerprint import digest


def report(
    command: str,
    points: Sequence[Point],
    workdir: Path,
    special: bool = False,
    only: Sequence[str] = (),
    rebuild: bool = False,
) -> str:
    """Write the report of the points under `workdir/runs`; returns what to tell the user.

    command: what was typed to get these points.
    special: the points are not those of the config file (overrides, --sweep): the report goes to
    `workdir/variants/<hash>` and the experiment's own stays as it is. only: a part of the sweep
    was run: nothing is written before all of it is there. rebuild: take runs that are not on this
    machine from results.csv, and report what there is.
    """
    target = workdir
    if special:
        target = workdir / "variants" / digest("".join(point.id for point in points))
    settings = points[0].config["report"]
    frame = collect.collect(points, workdir / "runs", settings)
    if rebuild and (target / "results.csv").exists():
        frame = _merge(frame, collect.load(target / "results.csv"), points)
    states = list(frame["state"]) if len(frame) else []
    open_points = len(points) - states.count("done") - states.count("failed")
    if "done" not in states:
        return "report: not written, no point is done"
    if open_points and not rebuild:
        part = f" (--only={' '.join(only)})" if only else ""
        return f"report: not written, {open_points} of {len(points)} points are to be trained{part}"
    target.mkdir(parents=True, exist_ok=True)
    frame = _named(frame, points)
    collect.save(frame, target / "results.csv")
    bootstrap.update(target / "bootstrap.csv", settings["bootstrap"], frame, workdir / "runs")
    write_report(target, command, settings, len(points))
    return f"report: {target / 'README.md'}"


def check(points: Sequence[Point]) -> None:
    """Raise ConfigError for what is wrong in names, figures and rules, before anything is trained.

    points: of the whole sweep.
    """
    settings = points[0].config["report"]
    names = settings["names"]
    systems.check(names, points)
    systems.check_condition(settings["where"], names, "report.where")
    for number, rule in enumerate(settings["figures"]):
        _chart(number, rule)[1].check(names)
    for rule in settings["verdict"]:
        check_rule(rule)
        for side in ("better", "than", "of"):
            systems.check_condition(rule.get(side, ()), names, "report.verdict")
    planned = pd.DataFrame([collect.settings(point, settings) for point in points])
    bootstrap.check(settings["bootstrap"], planned, names)


def write_report(target: Path, command: str, settings: Mapping[str, Any], planned: int) -> None:
    """README.md and figures/ from `target/results.csv` alone."""
    frame = collect.load(target / "results.csv")
    done = frame[frame["state"] == "done"]
    names = Names.of(settings)
    shown = where(done, settings["where"])
    verdicts = [judge(done, rule, names) for rule in settings["verdict"]]
    sections = [
        f"# {settings['question'] or command}",
        "\n".join(map(_sentence, verdicts)),
        settings["notes"],
        _warning(frame, planned),
        "## Results",
        tables.table(shown, settings, names),
        conditions.legend(done, settings, names),
        bootstrap.section(target / "bootstrap.csv", settings["bootstrap"], done, names),
        *_figures(target / "figures", done, settings, names),
        "## Conditions",
        conditions.describe(done),
        "## Command",
        f"    {command}",
    ]
    text = "\n\n".join(section for section in sections if section)
    write_atomically(target / "README.md", text + "\n")


def _merge(here: Frame, there: Frame, points: Sequence[Point]) -> Frame:
    """The runs on this machine, and from results.csv those that are not; in the plan's order."""
    known = set(here["id"]) if len(here) else set()
    frame: Frame = pd.concat([here, there[~there["id"].isin(known)]], ignore_index=True)
    order = {point.id: place for place, point in enumerate(points)}
    frame = frame[frame["id"].isin(order)]
    return frame.sort_values("id", key=lambda column: column.map(order), ignore_index=True)


def _named(frame: Frame, points: Sequence[Point]) -> Frame:
    """The table with systems as the config names them now, also in rows from results.csv."""
    names = points[0].config["report"]["names"]
    if not names:
        return frame
    found = {point.id: systems.system(point, names) for point in points}
    return frame.assign(**{systems.SYSTEM: frame["id"].map(found)})


def _sentence(verdict: Verdict) -> str:
    return f"- {verdict.claim}: **{verdict.answer}** ({verdict.reason})"


def _warning(frame: Frame, planned: int) -> str:
    crashed = list(frame.loc[frame["state"] == "failed", "id"])
    missing = planned - len(frame[frame["state"].isin(["done", "failed"])])
    parts = [f"{missing} of {planned} points have not been trained."] if missing else []
    if crashed:
        parts.append(f"Stopped with an error: {', '.join(crashed)}.")
    longer = int((frame["step"] > frame["steps"]).sum())
    if longer:
        parts.append(f"Runs continued beyond the steps that the config asks for: {longer}.")
    return f"**Beware**: {' '.join(parts)}" if parts else ""


def _figures(folder: Path, frame: Frame, settings: Mapping[str, Any], names: Names) -> list[str]:
    """Draw every figure; returns the README's lines for them. Figures of old configs go."""
    lines, drawn = [], set()
    for number, rule in enumerate(settings["figures"]):
        name, chart = _chart(number, rule)
        figure = chart.draw(frame, names)
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.png"
        image = io.BytesIO()
        figure.savefig(image, dpi=160, metadata={"Software": None})
        write_atomically(path, image.getvalue())
        drawn.add(path)
        text = chart.caption or name.replace("_", " ")
        lines.append(f"![{text}](figures/{path.name})\n\n*{text}*")
        lines.append("\n".join(f"- {sentence}" for sentence in chart.words(frame, names)))
    for old in set(folder.glob("*.png")) - drawn:
        old.unlink(missing_ok=True)  # two launchers may end at once
    return lines


def _chart(number: int, rule: Mapping[str, Any]) -> tuple[str, Chart]:
    """The name of a figure's file, and what draws it."""
    options = {"name": f"figure_{number}", **rule}
    name = options.pop("name")
    return name, build(options, f"config.report.figures[{number}]")
