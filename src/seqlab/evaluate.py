"""Score a trained run anew, with all metrics of its task and what they mean.

    python -m seqlab.evaluate RUN
    python -m seqlab.evaluate RUN --split=valid --limit=200 --beam=4 --json
    python -m seqlab.evaluate RUN --source=mine.tsv --columns=en,de

--source: a .tsv or .jsonl file of one's own, scored whole, or another corpus. --columns: its source
and target, and a third one with all valid targets. Options are those of the config's `decode`, too;
--beam alone means --method=beam.
"""

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from seqlab.analysis.arguments import decode_options, run_parser
from seqlab.analysis.run import load_run
from seqlab.analysis.score import Scores, score
from seqlab.build import ConfigError

COLUMNS = ("source", "target", "references")


def main(arguments: Sequence[str]) -> str:
    """The scores as text. Raises ConfigError or FileNotFoundError."""
    parser = run_parser("seqlab.evaluate")
    parser.add_argument("--split", default="test", choices=("test", "valid", "train"))
    parser.add_argument("--source", default="", metavar="FILE")
    parser.add_argument("--columns", default="", metavar="SOURCE,TARGET[,REFERENCES]")
    parser.add_argument("--limit", type=int, metavar="N", help="so many examples; 0: all")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = vars(parser.parse_args(arguments))
    decode = decode_options(options)
    run = load_run(options["run"], options["step"], options["trusted"])
    found = score(
        run,
        options["split"],
        source=options["source"],
        columns=_columns(options["columns"]),
        limit=options["limit"],
        trusted=options["trusted"],
        **decode,
    )
    where = {key: options[key] for key in ("run", "split", "source")}
    return _as_json(where, found) if options["json"] else _as_table(where, found)


def _columns(text: str) -> dict[str, str]:
    """The columns by field; without a third one the target is the only valid one."""
    names = text.split(",") if text else []
    if len(names) not in (0, 2, 3):
        raise ConfigError(f"--columns: expected SOURCE,TARGET or a third name, got {text!r}")
    return dict(zip(COLUMNS, [*names, ""], strict=False)) if names else {}


def _as_json(where: Mapping[str, Any], found: Scores) -> str:
    fields = ("step", "metrics", "counts", "conventions")
    return json.dumps({**where, **{name: getattr(found, name) for name in fields}})


def _as_table(where: Mapping[str, Any], found: Scores) -> str:
    width = max(map(len, found.metrics))
    read = f"{where['source']} {where['split']}".strip()
    lines = [f"{where['run']}, checkpoint {found.step}, {read}"]
    lines += [f"  {name:<{width}}  {value:,.6g}" for name, value in found.metrics.items()]
    lines += ["as read, the whole split:"]
    lines += [f"  {name:<{width}}  {count:,}" for name, count in found.counts.items()]
    lines += ["where:"]
    lines += [f"  {name:<{width}}  {text}" for name, text in found.conventions.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        print(main(sys.argv[1:]))
    except (ConfigError, FileNotFoundError) as error:
        sys.exit(str(error))
