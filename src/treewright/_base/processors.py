"""How many processors this process may use."""

from __future__ import annotations

import os


def processors() -> int:
    """Return the number of processors that the process may use, which may be fewer than the machine has.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
