"""Predict line by line: as many lines out as in, in their order.

    python -m seqlab.predict RUN < in.txt > out.txt
    python -m seqlab.predict RUN --beam=4 --length_penalty=gnmt:0.6 < in.txt > out.txt
    python -m seqlab.predict RUN --scores < in.txt          # score TAB text
    python -m seqlab.predict RUN --beam=8 --nbest=4 < in.txt    # line TAB score TAB text, 4 a line

A line ends at a line feed, and only there. An empty line gives an empty line. Lines that are too
long and outputs that do not end are cut and named on standard error. Options are those of the
config's `decode`; --beam or --nbest alone mean --method=beam. --nbest=N above 1 writes exactly N
lines for each line of the input, best first, with its number, counted from 1; where the search
found fewer, the score is -inf. Scores: `seqlab.analysis.generation.Hypothesis`.
"""

import sys
import warnings
from collections.abc import Sequence

from seqlab.analysis.arguments import decode_options, run_parser
from seqlab.analysis.run import load_run
from seqlab.build import ConfigError


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
    parser = run_parser("seqlab.predict")
    parser.add_argument("--nbest", type=int, default=1, metavar="N", help="outputs for each line")
    parser.add_argument("--scores", action="store_true", help="put the score before the text")
    parser.add_argument("--batch", type=int, metavar="N", help="lines decoded at a time")
    options = vars(parser.parse_args(arguments))
    decode = decode_options(options)
    nbest, batch = options["nbest"], options["batch"]
    if nbest < 1 or (batch is not None and batch < 1):
        raise ConfigError(f"--nbest and --batch must be 1 or more, got {nbest} and {batch}")
    if nbest > 1:
        decode.setdefault("method", "beam")
    run = load_run(options["run"], options["step"], options["trusted"])
    found = run.hypotheses(read_lines(data), nbest=nbest, batch=batch or 0, **decode)
    rows = []
    for number, ranked in enumerate(found, 1):
        for each in ranked:
            numbered = [str(number)] if nbest > 1 else []
            scored = [f"{each.score:.6g}"] if options["scores"] or nbest > 1 else []
            rows.append("\t".join([*numbered, *scored, each.text.replace("\n", " ")]))
    return b"".join(row.encode() + b"\n" for row in rows)


if __name__ == "__main__":
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        sys.stdout.buffer.write(main(sys.argv[1:], sys.stdin.buffer.read()))
    except (ConfigError, FileNotFoundError) as error:
        sys.exit(str(error))
