"""Work that Ctrl-C can end: it runs in threads, while the main thread waits where an interrupt gets through.

Python answers Ctrl-C in the main thread, between two steps of the interpreter. A kernel is one step, however long it
takes; so kernels that may take long never run there.

Vocabulary
----------
stopper
    What tells running work that nobody waits for it any more. Work that was begun under a stopper asks for flags to
    watch (`watched`); kernels look at them from time to time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Result = TypeVar("Result")
Flag = npt.NDArray[np.bool_]

PATIENCE = 0.5
"""Seconds in which work that was stopped may come to its end before it is left to itself."""

BETWEEN = 0.1
"""Seconds between two looks at what work in a thread has to tell."""


class Stopped(Exception):  # noqa: N818  (no error, and nobody sees it)
    """Ends work that was stopped; nobody waits for its result."""


class Stopper:
    """Stops the work that is run under it.

    Examples
    --------
    >>> stopper = Stopper()
    >>> flag = stopper.run(watched)
    >>> stopper.stop()
    >>> flag.tolist(), stopper.run(watched).tolist()
    ([True], [True])
    """

    def __init__(self) -> None:
        self._flags: list[Flag] = []
        self._stopped = False

    def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in the calling thread, under this stopper."""
        context = copy_context()
        context.run(_stopper.set, self)
        return context.run(function, *arguments)

    def watch(self, flag: Flag) -> None:
        """Set this flag when the work is stopped, at once if it was already."""
        self._flags.append(flag)
        flag[0] |= self._stopped

    def stop(self) -> None:
        """Stop all work that was begun under this stopper."""
        self._stopped = True
        for flag in tuple(self._flags):
            flag[0] = True


_stopper: ContextVar[Stopper | None] = ContextVar("stopper", default=None)


def watched() -> Flag:
    """Return a flag, not set, that becomes so when the work in this context is stopped."""
    flag = np.zeros(1, dtype=bool)
    stopper = _stopper.get()
    if stopper is not None:
        stopper.watch(flag)
    return flag


def apart(
    function: Callable[..., Result],
    *arguments: Any,
    meanwhile: Callable[[], None] | None = None,
    patience: float | None = PATIENCE,
) -> Result:
    """Call a function in a thread of its own and wait: Ctrl-C ends the waiting and stops the work.

    Parameters
    ----------
    function : callable
        Called where it is if this is not the main thread, which alone is interrupted.
    *arguments
    meanwhile : callable or None
        Called here from time to time, and at the end; what it raises stops the work, too.
    patience : float or None
        Seconds that work which was stopped gets for its end; None waits for it.

    Examples
    --------
    >>> apart(max, 1, 2)
    2
    """
    if threading.current_thread() is not threading.main_thread():
        made = function(*arguments)
        if meanwhile is not None:
            meanwhile()
        return made
    stopper = Stopper()
    outcome: Future[Result] = Future()

    def work() -> None:
        try:
            outcome.set_result(stopper.run(function, *arguments))
        except BaseException as error:  # noqa: BLE001  (raised where somebody waits for it)
            outcome.set_exception(error)

    context = copy_context()  # settings that hold for the calling thread hold for the work
    threading.Thread(target=context.run, args=(work,), name="treewright", daemon=True).start()
    try:
        while not wait([outcome], timeout=BETWEEN).done:
            if meanwhile is not None:
                meanwhile()
        made = outcome.result()
        if meanwhile is not None:
            meanwhile()
    except BaseException:
        stopper.stop()
        wait([outcome], timeout=patience)
        raise
    return made
