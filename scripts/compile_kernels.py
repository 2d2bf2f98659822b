"""Compile the kernels, once, before several processes want them at the same time: as `treewright warm-up` does.

A kernel is compiled for each combination of the buffers that it gets; `treewright.fitting.warm_up` lists them.
"""

from __future__ import annotations

import sys
import time

from treewright.fitting.warm_up import compile_all


def main() -> int:
    """Compile with two processes, which is what the smallest machines have."""
    start = time.perf_counter()
    compile_all(2)
    sys.stdout.write(f"kernels are compiled ({time.perf_counter() - start:.0f} s)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
