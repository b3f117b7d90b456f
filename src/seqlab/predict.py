"""Predict line by line: as many lines out as in, in their order.

    python -m seqlab.predict RUN < in.txt > out.txt
    python -m seqlab.predict RUN --beam=4 --length_penalty=gnmt:0.6 < in.txt > out.txt

A line ends at a line feed, and only there. An empty line gives an empty line. Lines that are too
long and outputs that do not end are cut and named on standard error. Options are those of the
config's `decode`; --beam alone means --method=beam.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence

from seqlab.analysis.run import load_run
from seqlab.build import ConfigError
from seqlab.config import defaults


def read_lines(data: bytes) -> list[str]:
    """The lines of a UTF-8 file, without a byte order mark and carriage returns at their ends.

    Separators that Unicode also counts as line breaks (U+2028, U+0085, ...) stay in the text.
    Raises ConfigError naming the first line that is no UTF-8.
    """
    rows = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if rows[-1] == b"":  # what follows the last line feed
        rows.pop()
    lines = []
    for number, row in enumerate(rows, 1):
        try:
            lines.append(row.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ConfigError(f"line {number} is not UTF-8: {error}") from None
    return lines


def main(arguments: Sequence[str], data: bytes) -> bytes:
    """The output for the input `data`. Raises ConfigError or FileNotFoundError."""
    parser = argparse.ArgumentParser("python -m seqlab.predict")
    parser.add_argument("run", help="run directory")
    parser.add_argument("--step", type=int, help="checkpoint (default: the best)")
    parser.add_argument("--trusted", action="append", default=[], metavar="PACKAGE")
    for key, value in defaults().to_dict()["decode"].items():
        parser.add_argument(f"--{key}", type=type(value), default=argparse.SUPPRESS)
    options = vars(parser.parse_args(arguments))
    run = load_run(options.pop("run"), options.pop("step"), options.pop("trusted"))
    if "beam" in options:
        options.setdefault("method", "beam")
    outputs = run.predict(read_lines(data), **options)
    return b"".join(line.replace("\n", " ").encode() + b"\n" for line in outputs)


if __name__ == "__main__":
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        sys.stdout.buffer.write(main(sys.argv[1:], sys.stdin.buffer.read()))
    except (ConfigError, FileNotFoundError) as error:
        sys.exit(str(error))
