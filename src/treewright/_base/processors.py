"""How many processors this process may use: what its affinity and the limits of its container leave."""

from __future__ import annotations

import os
from functools import cache
from math import ceil
from pathlib import Path

LIMITS = Path("/sys/fs/cgroup")
"""Where Linux tells the limits of a container."""


def processors(limits: Path = LIMITS) -> int:
    """Return the number of processors that the process may use, which may be fewer than the machine has.

    Parameters
    ----------
    limits : Path
        Folder of the control group, of either version.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = _share(limits)
    return allowed if share is None else max(1, min(allowed, ceil(share)))


@cache  # read once: a fit of a few cases takes no longer than three files
def _share(limits: Path) -> float | None:
    """Return how many processors' time the control group grants, None where it sets no limit."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((limits / file).read_text(encoding="ascii") for file in files).split()
            return float(quota) / float(period) if quota != "max" and float(quota) > 0 < float(period) else None
        except (OSError, ValueError):  # not told here, or not in this form
            continue
    return None
