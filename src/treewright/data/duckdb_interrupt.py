"""Ctrl-C in the middle of a query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be what it is: in the middle of a query DuckDB makes an error of its own of it.

    Examples
    --------
    >>> with interruptible():
    ...     raise RuntimeError("Query interrupted")
    Traceback (most recent call last):
    ...
    KeyboardInterrupt
    """
    import duckdb

    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
