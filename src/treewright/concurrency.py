"""Processors, threads and Ctrl-C.

`processors` is the number available to this process, given its CPU affinity and the limits of its container.

Cancellable work runs in a worker thread while the main thread waits, so that Ctrl-C takes effect. Python handles Ctrl-C
in the main thread, between two bytecode instructions. A kernel is one such instruction, however long it takes, so
long-running kernels never run in the main thread.

A `CancelToken` cancels running work. Work started under a token gets flags from `cancel_flag`; kernels poll them.
`interruptible` handles Ctrl-C during a DuckDB query.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

CGROUP = Path("/sys/fs/cgroup")
"""Where Linux exposes the limits of a container."""


def processors(cgroup: Path = CGROUP) -> int:
    """Return the number of processors that this process may use.

    Parameters
    ----------
    cgroup : Path
        Directory of the control group, version 1 or 2.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota(cgroup)
    return allowed if quota is None else max(1, min(allowed, ceil(quota)))


@cache  # reading the files takes as long as fitting a few cases
def _quota(cgroup: Path) -> float | None:
    """Return the CPU quota of the control group in processors, None if there is no limit."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((cgroup / file).read_text(encoding="ascii") for file in files).split()
            return float(quota) / float(period) if quota != "max" and float(quota) > 0 < float(period) else None
        except (OSError, ValueError):  # the file is absent or has another format
            continue
    return None


Result = TypeVar("Result")
Flag = npt.NDArray[np.bool_]

GRACE_SECONDS = 0.5
"""Seconds that cancelled work gets to finish before the caller stops waiting for it."""

POLL_SECONDS = 0.1
"""Interval at which the waiting thread calls `on_poll`."""


class Cancelled(Exception):  # noqa: N818  (not an error, and never seen by a caller)
    """Ends cancelled work, whose result is no longer wanted."""


class CancelToken:
    """Cancels the work that runs under it.

    Examples
    --------
    >>> token = CancelToken()
    >>> flag = token.run(cancel_flag)
    >>> token.cancel()
    >>> flag.tolist(), token.run(cancel_flag).tolist()
    ([True], [True])
    """

    def __init__(self) -> None:
        self._flags: list[Flag] = []
        self._cancelled = False

    def context(self) -> Context:
        """Return a context whose `run` calls a function under this token, in the thread that calls it."""
        context = Context()
        context.run(_token.set, self)
        return context

    def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in the current thread and its context, under this token."""
        context = copy_context()
        context.run(_token.set, self)
        return context.run(function, *arguments)

    def register(self, flag: Flag) -> None:
        """Set this flag on cancellation, at once if the token is already cancelled."""
        self._flags.append(flag)
        flag[0] |= self._cancelled

    def cancel(self) -> None:
        """Cancel all work started under this token."""
        self._cancelled = True
        for flag in tuple(self._flags):
            flag[0] = True


_token: ContextVar[CancelToken | None] = ContextVar("cancel_token", default=None)


def cancel_flag() -> Flag:
    """Return a flag that is set once the work in this context is cancelled."""
    flag = np.zeros(1, dtype=bool)
    token = _token.get()
    if token is not None:
        token.register(flag)
    return flag


def run_in_worker(
    function: Callable[..., Result],
    *arguments: Any,
    on_poll: Callable[[], None] | None = None,
    grace: float | None = GRACE_SECONDS,
) -> Result:
    """Call a function in a worker thread and wait for it; Ctrl-C ends the wait and cancels the work.

    Parameters
    ----------
    function : callable
        Called in the current thread if that is not the main thread, because only the main thread is interrupted.
    *arguments
    on_poll : callable or None
        Called in the waiting thread every `POLL_SECONDS`, and at the end; an exception from it cancels the work.
    grace : float or None
        Seconds that cancelled work gets to finish; None waits for it without limit.

    Examples
    --------
    >>> run_in_worker(max, 1, 2)
    2
    """
    if threading.current_thread() is not threading.main_thread():
        result = function(*arguments)
        if on_poll is not None:
            on_poll()
        return result
    token = CancelToken()
    future: Future[Result] = Future()

    def work() -> None:
        try:
            future.set_result(token.run(function, *arguments))
        except BaseException as error:  # noqa: BLE001  (raised again in the waiting thread)
            future.set_exception(error)

    context = copy_context()  # context variables of the caller apply to the work as well
    threading.Thread(target=context.run, args=(work,), name="treewright", daemon=True).start()
    try:
        while not wait([future], timeout=POLL_SECONDS).done:
            if on_poll is not None:
                on_poll()
        result = future.result()
        if on_poll is not None:
            on_poll()
    except BaseException:
        token.cancel()
        wait([future], timeout=grace)
        raise
    return result


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `KeyboardInterrupt` for Ctrl-C, which DuckDB turns into an error of its own during a query.

    Examples
    --------
    >>> try:
    ...     with interruptible():
    ...         raise RuntimeError("Query interrupted")
    ... except KeyboardInterrupt:
    ...     print("by the user")
    by the user
    """
    import duckdb

    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
