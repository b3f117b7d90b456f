"""A directory that cannot be written, said in one line."""

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

CAUSES = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR)


class UnwritableError(Exception):
    """What cannot be written, and why."""


@contextlib.contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Raise UnwritableError for an OSError that tells of a full, protected or read-only disk.

    directory: is named where the error names no file.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in CAUSES:
            raise
        where = error.filename or directory
        raise UnwritableError(f"{where}: cannot be written: {error.strerror}") from error
