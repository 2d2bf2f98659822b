"""Report how long the command line takes to answer: `--help`, and the tree of the 14 rows.

Targets on a warm disk: 150 ms and 600 ms. Times are reported, never asserted: machines differ.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 7
COMMANDS = {
    "treewright --help": (["--help"], 0.150),
    "treewright train (14 rows)": (["train", "sample:play-tennis"], 0.600),
}


def best_of(arguments: list[str], folder: str, runs: int = RUNS) -> tuple[float, float]:
    """Return the fastest and the median wall time of a command."""
    beside = Path(sys.executable).with_name("treewright")
    program = str(beside) if beside.exists() else shutil.which("treewright") or "treewright"
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([program, *arguments], check=True, capture_output=True, cwd=folder)
        times.append(time.perf_counter() - start)
    times.sort()
    return times[0], times[len(times) // 2]


def main() -> None:
    """Print a line per command."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (arguments, target) in COMMANDS.items():
            best, median = best_of(arguments, folder)
            times = f"best {1000 * best:6.0f} ms   median {1000 * median:6.0f} ms   target {1000 * target:.0f} ms"
            print(f"{name:<30} {times}")


if __name__ == "__main__":
    main()
