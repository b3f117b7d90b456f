"""One question, one command: plan the sweep of a config, train what is missing, write the report.

    python launch.py --config=configs/pre_vs_post_ln.py
    python launch.py --config=configs/pre_vs_post_ln.py --config.model.position=positions.rope.Rope
    python launch.py --config=configs/pre_vs_post_ln.py --sweep=train.lr=1e-3,3e-4 --plan

Exit status: 0 when every point is done, 1 when one failed, 2 for a wrong config or flag,
130 after Ctrl-C. The same command continues where the last one stopped.
"""

import logging
import shlex
import sys
from pathlib import Path
from typing import Any

from absl import app, flags
from absl import logging as absl_logging

from seqlab.build import ConfigError
from seqlab.sweep import arguments, plan
from seqlab.sweep.overrides import apply_overrides
from seqlab.sweep.run import INTERRUPTED, run
from seqlab.sweep.source import Source
from seqlab.sweep.validation import validate

FLAGS = flags.FLAGS
flags.DEFINE_string(
    "config", None, "config file, or file:argument; --config.KEY=VALUE overrides one of its keys"
)
flags.DEFINE_multi_string("sweep", [], "KEY=A,B: combine every point with these values")
flags.DEFINE_multi_string("only", [], "KEY=VALUE: run only this part of the sweep")
flags.DEFINE_string("workdir", None, "where to write (default: experiments/<config>)")
flags.DEFINE_bool("plan", False, "list the points with width, parameters and FLOPs; train nothing")
flags.DEFINE_bool("report", False, "rebuild the report from what is there and train nothing")
flags.DEFINE_enum("executor", "local", ["local"], "what trains the points")
flags.DEFINE_enum("on_failure", "continue", ["continue", "stop"], "after a point has failed")


def main(overrides: dict[str, Any]) -> int:
    """Plan, execute, report. Returns the exit status."""
    absl_logging.set_verbosity(absl_logging.WARNING)  # what the libraries tell is not of interest
    logging.getLogger("seqlab").setLevel(logging.INFO)
    if not FLAGS.config:
        raise ConfigError("--config: say which, for example --config=configs/pre_vs_post_ln.py")
    source = Source.load(FLAGS.config)
    sweep = source.sweep()
    for key in overrides:
        check_override(key, sweep)
    extra = plan.parse_sweeps(FLAGS.sweep)
    config = apply_overrides(source.config(), overrides)
    points = plan.points(config, plan.extend(sweep, extra))
    for point in points:
        validate(point.config)
    chosen = plan.select(points, FLAGS.only)
    home = Path("experiments", source.name).resolve()
    workdir = Path(FLAGS.workdir or home).expanduser().resolve()
    if FLAGS.plan:
        from seqlab.sweep.budget import fit  # needs the models; the rest of a plan does not
        from seqlab.train.size import size

        print(plan.table(fit(chosen, workdir / "runs"), size))
        return 0
    from seqlab.report import write  # matplotlib is slow to import

    write.check(points)
    status = 0 if FLAGS.report else execute(chosen, workdir)
    changed = bool(overrides or extra)
    typed = [text for text in sys.argv[1:] if text.lstrip("-") != "report"]
    arguments_shown = typed if changed else [f"--config={source.spec}"]
    command = shlex.join(["python", "launch.py", *arguments_shown])
    special = changed and workdir == home
    print(write.report(command, points, workdir, special, FLAGS.only, FLAGS.report))
    return status


def check_override(key: str, sweep: list[dict[str, Any]]) -> None:
    """The sweep's own values win: refuse an override that would do nothing, tell of a partial."""
    setting = sum(key in point for point in sweep)
    if setting == len(sweep):
        raise ConfigError(
            f"--config.{key}: the sweep sets this key; use --sweep={key}=... to replace its "
            f"values or --only={key}=... to run some of them"
        )
    if setting:
        print(f"--config.{key}: the sweep sets it itself in {setting} of {len(sweep)} points")


def execute(points: list[plan.Point], workdir: Path) -> int:
    """Train what is not done. Returns 1 when a point failed."""
    from seqlab.sweep.budget import fit  # after the flags were found to be right
    from seqlab.train.loop import run as train

    runs = workdir / "runs"
    outcome = run(fit(points, runs), runs, train, FLAGS.on_failure)
    print(outcome.summary())
    return outcome.exit_status


def start() -> None:
    """Read the command line; say what is wrong with a config in one line, without a traceback."""
    try:
        rest, overrides = arguments.split(sys.argv)
        if "--help" in rest:  # absl shows this module's docstring
            sys.modules[__name__].__doc__ = f"{__doc__}{arguments.parts_help()}"
        app.run(lambda _: sys.exit(main(overrides)), argv=rest)
    except ConfigError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    start()
