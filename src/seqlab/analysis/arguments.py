"""Arguments that the commands on a trained run share."""

import argparse
from typing import Any

from seqlab.config import defaults


def run_parser(command: str) -> argparse.ArgumentParser:
    """A parser of RUN, --step, --trusted and the options of the config's `decode`."""
    parser = argparse.ArgumentParser(f"python -m {command}")
    parser.add_argument("run", help="run directory")
    parser.add_argument("--step", type=int, help="checkpoint (default: the best)")
    parser.add_argument("--trusted", action="append", default=[], metavar="PACKAGE")
    for key, value in defaults().to_dict()["decode"].items():
        parser.add_argument(f"--{key}", type=type(value), default=argparse.SUPPRESS)
    return parser


def decode_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of decoding out of what was parsed; --beam alone means --method=beam."""
    keys = defaults().to_dict()["decode"]
    found = {key: options.pop(key) for key in keys if key in options}
    if "beam" in found:
        found.setdefault("method", "beam")
    return found
