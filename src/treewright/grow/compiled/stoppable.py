"""Work of a growth that ends soon when the growth is stopped."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.interrupt import Cancelled


class Threads(ThreadPoolExecutor):
    """Threads that take no more work once the growth was stopped."""

    def __init__(self, number: int, cancelled: npt.NDArray[np.bool_]) -> None:
        super().__init__(number)
        self._cancelled = cancelled

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Hand on a piece of work."""
        go_on_unless(self._cancelled)
        return super().submit(fn, *args, **kwargs)


def go_on_unless(cancelled: npt.NDArray[np.bool_]) -> None:
    """End the work if the growth was stopped."""
    if cancelled[0]:
        raise Cancelled
