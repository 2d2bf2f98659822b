"""Compile the kernels, once, before several processes want them at the same time."""

from __future__ import annotations

import sys
import time

import numpy as np

from treewright import Column, Dataset, Kind, Schema, c45, cart, fit, forest

ROWS = 25_000
"""With the four attributes enough for the kernels that prune, too."""


def made(share_missing: float, *, numbers: bool = False, names: int = 2) -> Dataset:
    """Return cases with numbers and so many names, of which a share is missing; classes or numbers to predict."""
    draw = np.random.default_rng(1)
    x, name = draw.normal(size=(2, ROWS)), draw.integers(0, 5, (2, ROWS)).astype(np.int32)
    target = x[0] + name[0] + draw.normal(size=ROWS)
    x[draw.random(x.shape) < share_missing] = np.nan
    name[draw.random(name.shape) < share_missing] = -1
    columns = [Column(f"x{index}", Kind.NUMERIC) for index in range(2)]
    columns += [Column(f"n{index}", Kind.NOMINAL, tuple("abcde")) for index in range(2)]
    last = Column("y", Kind.NUMERIC) if numbers else Column("y", Kind.NOMINAL, ("no", "yes"))
    labels = target if numbers else (target > 2).astype(np.int32)
    return Dataset(Schema((*columns[: 2 + names], last), target="y"), (*x, *name[:names]), ROWS, labels)


def main() -> int:
    """Learn trees of every kind from a made table."""
    start = time.perf_counter()
    for share_missing in (0.0, 0.1):
        classes, numbers = made(share_missing), made(share_missing, numbers=True)
        for data, plan in ((classes, c45()), (classes, cart()), (numbers, cart())):
            fit(data, plan, keep_trace=False).predict(data.X)
    for data in (classes, made(0.0), made(0.0, names=0)):
        fit(data.take(slice(0, 1000)), forest(trees=2))
    for numbers in (made(0.1, numbers=True), made(0.0, numbers=True), made(0.0, numbers=True, names=0)):
        fit(numbers.take(slice(0, 1000)), forest(trees=2))
    sys.stdout.write(f"kernels are compiled ({time.perf_counter() - start:.0f} s)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
