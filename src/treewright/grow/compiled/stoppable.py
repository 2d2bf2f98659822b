"""Cancellation of a growth: its threads accept no work after it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.interrupt import Cancelled


class Threads(ThreadPoolExecutor):
    """A thread pool that accepts no work after the growth is cancelled."""

    def __init__(self, number: int, cancelled: npt.NDArray[np.bool_]) -> None:
        super().__init__(number)
        self._cancelled = cancelled

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Submit a task, unless the growth is cancelled."""
        raise_if_cancelled(self._cancelled)
        return super().submit(fn, *args, **kwargs)


def raise_if_cancelled(cancelled: npt.NDArray[np.bool_]) -> None:
    """Raise `Stopped` if the growth is cancelled."""
    if cancelled[0]:
        raise Cancelled
