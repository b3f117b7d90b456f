"""Copy a run without what only training needs: small enough to commit or to send.

    python -m seqlab.export RUN DEST
    python -m seqlab.export RUN DEST --half     # weights in bfloat16, half of the bytes

DEST holds the config, the tokenizers, the metrics, status.json, environment.json,
conventions.json, the first 50 predictions and the weights of the best checkpoint (the moving
average where one was kept). It loads, predicts and serves as `init_from`, but training cannot be
resumed there. With --half, validation sources are predicted with both: DEST is only kept if all
outputs are equal.
"""

import argparse
import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp

from seqlab.analysis.run import Run, load_run
from seqlab.build import ConfigError
from seqlab.train.checkpoint import Checkpoints
from seqlab.train.directory import RunDirectory

FILES = ("config.json", "status.json", "environment.json", "conventions.json", "metrics.jsonl")
PREDICTIONS = 50
COMPARED = 50  # validation sources that --half predicts


def export(run: Run, destination: str | Path, half: bool = False) -> int:
    """Write the smaller run; returns its size in bytes.

    Raises ConfigError where `destination` exists, or where half precision changes a prediction.
    """
    path = Path(destination).expanduser().absolute()
    if path.exists():
        raise ConfigError(f"{path} exists already; choose another directory or delete it")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as parent:
        made = Path(parent) / "run"
        _write(run, made, half)
        if half:
            _compare(run, made)
        made.rename(path)
    return size(path)


def size(path: Path) -> int:
    """Bytes of all files under a directory."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _write(run: Run, path: Path, half: bool) -> None:
    source, made = RunDirectory.open(run.path), RunDirectory(path)
    path.mkdir()
    for name in FILES:
        if (source.path / name).exists():
            shutil.copy(source.path / name, path / name)
    shutil.copytree(source.tokenizer, made.tokenizer)
    if source.predictions.exists():
        made.predictions.parent.mkdir()
        lines = source.predictions.read_bytes().split(b"\n")[:PREDICTIONS]
        made.predictions.write_bytes(b"".join(line + b"\n" for line in lines if line))
    params = run.params
    if half:
        params = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)
    best = run.config["train"]["best"]
    checkpoints = Checkpoints(made.checkpoints, 1, best["metric"], best["direction"])
    try:
        checkpoints.save_weights(params, run.step)
    finally:
        checkpoints.close()


def _compare(run: Run, path: Path) -> None:
    texts = run.sources("valid", COMPARED)
    with warnings.catch_warnings():  # of long texts: told when the run is used
        warnings.simplefilter("ignore")
        before, after = run.predict(texts), load_run(path, trusted=run.trusted).predict(texts)
    changed = sum(old != new for old, new in zip(before, after, strict=True))
    if changed:
        raise ConfigError(
            f"--half changes {changed} of {len(texts)} predictions; export without it"
        )


def main(arguments: Sequence[str]) -> str:
    """Export as the arguments say. Raises ConfigError or FileNotFoundError."""
    parser = argparse.ArgumentParser("python -m seqlab.export")
    parser.add_argument("run", help="run directory")
    parser.add_argument("destination", help="directory to make")
    parser.add_argument("--step", type=int, help="checkpoint (default: the best)")
    parser.add_argument("--half", action="store_true", help="weights in bfloat16")
    parser.add_argument("--trusted", action="append", default=[], metavar="PACKAGE")
    options = parser.parse_args(arguments)
    run = load_run(options.run, options.step, options.trusted)
    return f"{export(run, options.destination, options.half)} bytes in {options.destination}"


if __name__ == "__main__":
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        print(main(sys.argv[1:]))
    except (ConfigError, FileNotFoundError) as error:
        sys.exit(str(error))
