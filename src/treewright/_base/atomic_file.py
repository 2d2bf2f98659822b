"""Writing a file so that at any moment either the old or the new one is there, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text (as UTF-8) or bytes to `path` through a temporary file beside it and one rename.

    The bytes are on the disk before the rename, so that a crash leaves the old file or the new.
    A symbolic link is followed, and the permissions of an existing file are kept.
    """
    target = Path(os.path.realpath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    if target.exists() and not target.is_file():
        _write_into(path, data)
        return
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        # The temporary file is nobody's business: name the one that was asked for.
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(name, _mode_for(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write_into(path: str | os.PathLike[str], data: bytes) -> None:
    """Write to a device or a pipe, which must not be replaced by a file."""
    with open(path, "wb") as handle:
        handle.write(data)


def _mode_for(target: Path) -> int:
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
