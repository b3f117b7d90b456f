"""Files and directories that are written whole or not at all, whatever ends the process."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that readers, and a kill, see the old content or the new one, whole.

    Text is written as UTF-8, line breaks as they are.
    """
    data = content.encode() if isinstance(content, str) else content
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # Ctrl-C came right after it was renamed
            os.unlink(name)
        raise


@contextlib.contextmanager
def make_atomically(path: Path) -> Iterator[Path]:
    """A new directory to fill, which becomes `path` when all went well and else is gone.

        with make_atomically(run.tokenizer) as directory:
            dataset.save(directory)

    Raises OSError where `path` is a directory that holds anything.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # A fixed name: what a kill left half-filled is in nobody's way the next time.
    scratch = path.with_name(f".{path.name}.part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        yield scratch
        os.replace(scratch, path)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
