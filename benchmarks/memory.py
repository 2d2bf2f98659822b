"""How much memory this process holds and has held at most, in bytes.

Linux reports both of the program itself and lets the peak be set back, so that what making the data took does not
count. Elsewhere only the peak since the start is known.
"""

from __future__ import annotations

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def forget_peak() -> int | None:
    """Set the peak back to what is held now, and return that; None where the system does not offer it."""
    if not _STATUS.exists():
        return None
    try:
        _CLEAR.write_text("5")
    except OSError:  # not allowed in some containers: then the peak counts from the start
        return None
    return _field("VmRSS")


def peak() -> int | None:
    """Return the most that was held since the peak was set back, or since the start."""
    if _STATUS.exists():
        return _field("VmHWM")
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _field(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"{_STATUS} says nothing of {name}")
