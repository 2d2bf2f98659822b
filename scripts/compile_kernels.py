"""Compile the kernels, once, before several processes want them at the same time.

A kernel is compiled for each combination of the buffers that it gets. Two processes share the combinations: first those
of most trees, then those of random cuts, of sampled attributes and of columns of one kind.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from treewright import Column, Dataset, Kind, Schema, c45, cart, fit, forest

ROWS = 25_000
"""With the four attributes enough for the kernels that prune, too."""

FEW = slice(0, 1000)


def made(share_missing: float, *, to_numbers: bool = False, numbers: int = 2, names: int = 2) -> Dataset:
    """Return cases with so many numbers and names, of which a share is missing; classes or numbers to predict."""
    draw = np.random.default_rng(1)
    x = draw.normal(size=(max(numbers, 1), ROWS))
    name = draw.integers(0, 5, (max(names, 1), ROWS)).astype(np.int32)
    target = x[0] + name[0] + draw.normal(size=ROWS)
    x[draw.random(x.shape) < share_missing] = np.nan
    name[draw.random(name.shape) < share_missing] = -1
    columns = [Column(f"x{index}", Kind.NUMERIC) for index in range(numbers)]
    columns += [Column(f"n{index}", Kind.NOMINAL, tuple("abcde")) for index in range(names)]
    last = Column("y", Kind.NUMERIC) if to_numbers else Column("y", Kind.NOMINAL, ("no", "yes"))
    labels = target if to_numbers else (target > 2).astype(np.int32)
    return Dataset(Schema((*columns, last), target="y"), (*x[:numbers], *name[:names]), ROWS, labels)


def usual() -> None:
    """Learn the usual trees and forests."""
    for share_missing in (0.0, 0.1):
        classes, numbers = made(share_missing), made(share_missing, to_numbers=True)
        for data, plan in ((classes, c45()), (classes, cart()), (numbers, cart())):
            fit(data, plan, keep_trace=False).predict(data.X)
    for data in (classes, made(0.0), made(0.0, names=0)):
        fit(data.take(FEW), forest(trees=2), engine="compiled")
    for numbers in (made(0.1, to_numbers=True), made(0.0, to_numbers=True), made(0.0, to_numbers=True, names=0)):
        fit(numbers.take(FEW), forest(trees=2), engine="compiled")


def others() -> None:
    """Learn trees of columns of one kind, of random cuts, and of a few of many attributes."""
    for share_missing in (0.0, 0.1):
        for data in (made(share_missing, numbers=0).take(FEW), made(share_missing, names=0).take(FEW)):
            fit(data, c45(), keep_trace=False, engine="compiled")
        fit(made(share_missing).take(FEW), forest("c45", trees=1, random_cuts=True), engine="compiled")
    few_of_many = made(0.0, to_numbers=True, numbers=6, names=0).take(FEW)
    for random_cuts, max_features in ((False, 1), (True, 1), (True, None)):
        fit(few_of_many, forest(trees=1, max_features=max_features, random_cuts=random_cuts), engine="compiled")


def main() -> int:
    """Run both parts side by side."""
    start = time.perf_counter()
    if sys.argv[1:] == ["others"]:
        others()
        return 0
    with subprocess.Popen([sys.executable, __file__, "others"]) as process:
        usual()
    sys.stdout.write(f"kernels are compiled ({time.perf_counter() - start:.0f} s)\n")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
