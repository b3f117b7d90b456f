"""The flags of launch.py, and which of them go together."""

from absl import flags

from seqlab.build import ConfigError
from seqlab.sweep import executors

FLAGS = flags.FLAGS
MODES = ("plan", "check", "status", "report")

flags.DEFINE_string(
    "config", None, "config file, or file:argument; --config.KEY=VALUE overrides one of its keys"
)
flags.DEFINE_multi_string("sweep", [], "KEY=A,B: combine every point with these values")
flags.DEFINE_multi_string("only", [], "KEY=VALUE: run only this part of the sweep")
flags.DEFINE_string("workdir", None, "where to write (default: experiments/<config>)")
flags.DEFINE_bool("plan", False, "list the points with width, parameters and FLOPs; train nothing")
flags.DEFINE_bool("check", False, "try the config on tiny shapes, in a minute; train nothing")
flags.DEFINE_bool("status", False, "tell where every point stands; train nothing")
flags.DEFINE_bool("report", False, "rebuild the report from what is there and train nothing")
flags.DEFINE_enum(
    "executor",
    "local",
    executors.NAMES,
    "what trains the points: this machine; a job array on SLURM; debug: this process, up to the "
    "first error, which is raised as it is",
)
flags.DEFINE_integer(
    "jobs",
    1,
    "processes that train points at the same time, each with its share of the cores, or its GPU",
)
flags.DEFINE_enum("on_failure", "continue", ["continue", "stop"], "after a point has failed")
flags.DEFINE_string(
    "coordinator",
    None,
    "HOST:PORT of process 0 of several that train each point together; auto: "
    "from the environment (SLURM, Open MPI, Kubernetes, cloud TPU)",
)
flags.DEFINE_integer("processes", None, "how many there are; with --coordinator=HOST:PORT")
flags.DEFINE_integer("process", None, "which this one is, from 0; with --coordinator=HOST:PORT")


def check() -> None:
    """Raise ConfigError for flags that are missing, wrong, or do not go together."""
    if not FLAGS.config:
        raise ConfigError("--config: say which, for example --config=configs/pre_vs_post_ln.py")
    modes = [f"--{name}" for name in MODES if FLAGS[name].value]
    if len(modes) > 1:
        raise ConfigError(f"{' and '.join(modes)}: choose one of them")
    executors.check(FLAGS.executor, FLAGS.jobs, bool(FLAGS.coordinator))
    numbers = [FLAGS.processes, FLAGS.process]
    given = [number for number in numbers if number is not None]
    address = FLAGS.coordinator or ""
    if address in ("", "auto"):
        if given:
            raise ConfigError("--processes, --process: they go with --coordinator=HOST:PORT")
        return
    if not address.rpartition(":")[0] or not address.rpartition(":")[2].isdigit():
        raise ConfigError(f"--coordinator: expected HOST:PORT or auto, got {address!r}")
    if len(given) < 2 or not 0 <= FLAGS.process < FLAGS.processes:
        raise ConfigError(
            f"--coordinator={address}: say --processes=N and --process=I with I from 0 to N-1, "
            f"got {numbers[0]} and {numbers[1]}"
        )
