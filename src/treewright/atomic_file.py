"""Atomic file writes: readers see either the complete old file or the complete new one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text (as UTF-8) or bytes to `path` through a temporary file beside it and one rename.

    The data is synced to disk before the rename, so a crash leaves either the old or the new file.
    Symbolic links are followed, and the permissions of an existing file are kept. A device or a pipe is written
    directly.
    """
    target = Path(os.path.realpath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    if target.exists() and not target.is_file():  # a device or a pipe must not be replaced by a file
        with open(path, "wb") as handle:
            handle.write(data)
        return
    if target.exists():
        permissions = target.stat().st_mode & 0o777
    else:  # the mask can only be read by setting it
        mask = os.umask(0)
        os.umask(mask)
        permissions = 0o666 & ~mask
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        # Report the path that the caller asked for, not the temporary file.
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(name, permissions)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    with contextlib.suppress(OSError):  # some file systems cannot sync a directory
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
