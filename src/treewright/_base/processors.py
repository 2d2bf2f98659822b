"""The number of processors available to this process, given its CPU affinity and the limits of its container."""

from __future__ import annotations

import os
from functools import cache
from math import ceil
from pathlib import Path

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
