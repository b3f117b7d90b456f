"""One question, one command: plan the sweep of a config, train what is missing, write the report.

    python launch.py --config=configs/pre_vs_post_ln.py
    python launch.py --config=configs/pre_vs_post_ln.py --config.model.position=positions.rope.Rope
    python launch.py --config=configs/pre_vs_post_ln.py --sweep=train.lr=1e-3,3e-4 --plan
    python launch.py --config=configs/pre_vs_post_ln.py --jobs=2

Exit status: 0 when every point is done, 1 when one failed or nothing can be written, 2 for a wrong
config or flag, 75 after SIGTERM, 130 after Ctrl-C. What was trained is saved in every case, and the
same command continues where the last one stopped.
"""

import logging
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any

from absl import app, flags
from absl import logging as absl_logging

from seqlab.build import ConfigError
from seqlab.sweep import arguments, executors, plan
from seqlab.sweep import flags as own
from seqlab.sweep.outcome import INTERRUPTED
from seqlab.sweep.overrides import apply_overrides
from seqlab.sweep.source import Source
from seqlab.sweep.validation import validate
from seqlab.sweep.writing import UnwritableError, writing
from seqlab.train import processes

FLAGS = flags.FLAGS
flags.adopt_module_key_flags(own)


def main(overrides: dict[str, Any]) -> int:
    """Plan, execute, report. Returns the exit status."""
    absl_logging.set_verbosity(absl_logging.WARNING)  # what the libraries tell is not of interest
    logging.getLogger("seqlab").setLevel(logging.INFO)
    own.check()
    if FLAGS.coordinator:
        processes.join(FLAGS.coordinator, FLAGS.processes, FLAGS.process)
    source = Source.load(FLAGS.config)
    sweep = source.sweep()
    arguments.check_against(sweep, overrides)
    extra = plan.parse_sweeps(FLAGS.sweep)
    points = plan.points(apply_overrides(source.config(), overrides), plan.extend(sweep, extra))
    for point in points:
        validate(point.config)
    chosen = plan.select(points, FLAGS.only)
    home = Path("experiments", source.name).resolve()
    workdir = Path(FLAGS.workdir or home).expanduser().resolve()
    if FLAGS.plan or FLAGS.status or FLAGS.check:
        return look(chosen, workdir / "runs")
    from seqlab.report import write  # matplotlib is slow to import

    write.check(points)
    with writing(workdir):
        status = 0 if FLAGS.report else execute(chosen, workdir / "runs")
        if processes.writes():
            changed = bool(overrides or extra)
            typed = [text for text in sys.argv[1:] if text.lstrip("-") != "report"]
            words = typed if changed else [f"--config={source.spec}"]
            command = shlex.join(["python", "launch.py", *words])
            special = changed and workdir == home
            print(write.report(command, points, workdir, special, FLAGS.only, FLAGS.report))
    return status


def look(points: list[plan.Point], runs: Path) -> int:
    """What is asked about the points, of which none is trained. Returns the exit status."""
    if FLAGS.check:
        from seqlab.check.preflight import preflight

        return preflight(points)
    if FLAGS.status:
        from seqlab.sweep import ledger

        print(ledger.table(ledger.entries(points, runs)))
        return 0
    from seqlab.sweep.budget import fit  # needs the models; the rest of a plan does not
    from seqlab.train.size import size

    print(plan.table(fit(points, runs), size))
    return 0


def execute(points: list[plan.Point], runs: Path) -> int:
    """Train what is not done. Returns 1 when a point failed."""
    outcome = executors.execute(FLAGS.executor, points, runs, FLAGS.jobs, FLAGS.on_failure)
    if processes.writes():
        print(outcome.summary())
    return outcome.exit_status


def start() -> None:
    """Read the command line; say what is wrong with a config in one line, without a traceback."""
    try:
        rest, overrides = arguments.split(sys.argv)
        if "--help" in rest:  # absl shows this module's docstring
            sys.modules[__name__].__doc__ = f"{__doc__}{arguments.parts_help()}"
        app.run(lambda _: sys.exit(main(overrides)), argv=rest)
    except (ConfigError, UnwritableError) as error:
        print(error, file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigError) else 1)
    except processes.TogetherError:
        traceback.print_exc()
        processes.leave(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    start()
