"""Report the time of C4.5 in its dialects: on `adult`, on made numbers with 26 classes, on made nominal data.

Where the recorded results of the original programs are at hand (TREEWRIGHT_ORACLE), the seconds that Release 8 took
for `adult` are printed beside. Times are reported, never asserted: machines differ.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from treewright import Column, Dataset, Kind, Schema, c45, fit, read

ORACLE = Path(os.environ.get("TREEWRIGHT_ORACLE", Path(__file__).resolve().parents[2] / "shared" / "oracle"))


def adult() -> tuple[Dataset, float] | None:
    """Return the recorded set and the seconds of Release 8, if they are here."""
    folder = ORACLE / "adult"
    if not folder.is_dir():
        return None
    schema = Schema.from_dict(json.loads((folder / "schema.json").read_text(encoding="utf-8")))
    seconds = json.loads((folder / "c45.json").read_text(encoding="utf-8"))["runs"]["default"]["seconds"]
    return read(folder / "data.csv", schema=schema), float(seconds)


def letters(rows: int = 20_000, columns: int = 16, classes: int = 26) -> Dataset:
    """Make numbers around a centre for each of 26 classes, rounded to 0..15 as in letter recognition."""
    rng = np.random.default_rng(0)
    centres = rng.normal(7.5, 2.5, size=(classes, columns))
    target = rng.integers(0, classes, rows).astype(np.int32)
    values = np.clip(np.round(centres[target] + rng.normal(0, 1.6, size=(rows, columns))), 0, 15)
    attributes = [Column(f"x{i + 1}", Kind.NUMERIC) for i in range(columns)]
    names = tuple(chr(65 + i) for i in range(classes))
    schema = Schema((*attributes, Column("letter", Kind.NOMINAL, names)), target="letter")
    return Dataset(schema, tuple(values.T.copy()), rows, target)


def nominal(rows: int = 300_000, columns: int = 16, values: int = 12, classes: int = 4) -> Dataset:
    """Make noisy nominal data whose class hangs on three of the attributes."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, values, size=(columns, rows)).astype(np.int32)
    target = ((codes[0] * 3 + codes[1] * 5 + codes[2]) // 7 % classes).astype(np.int32)
    noisy = rng.random(rows) < 0.2
    target[noisy] = rng.integers(0, classes, int(noisy.sum())).astype(np.int32)
    names = tuple(f"v{i}" for i in range(values))
    attributes = [Column(f"a{i + 1}", Kind.NOMINAL, names) for i in range(columns)]
    schema = Schema((*attributes, Column("y", Kind.NOMINAL, tuple("ABCD"[:classes]))), target="y")
    return Dataset(schema, tuple(codes), rows, target)


def report(name: str, data: Dataset, dialects: tuple[str, ...], reference: str = "") -> None:
    """Print the seconds of growing with and without pruning, and the size of the tree."""
    for dialect in dialects:
        times, sizes = [], []
        for prune in (False, True):
            start = time.perf_counter()
            model = fit(data, c45(dialect=dialect, prune=prune))
            times.append(time.perf_counter() - start)
            sizes.append(model.tree.n_nodes)
        print(
            f"{name:<28} {dialect:<4} unpruned {times[0]:7.2f} s ({sizes[0]:,} nodes)   "
            f"pruned {times[1]:7.2f} s ({sizes[1]:,} nodes) {reference}",
            flush=True,
        )


def main() -> None:
    """Run the three cases; `--quick` leaves the large nominal one out."""
    recorded = adult()
    if recorded is None:
        print("adult: the recorded results are not here (set TREEWRIGHT_ORACLE)")
    else:
        report("adult, 10,000 x 14", recorded[0], ("c45", "r8", "j48"), f"[Release 8: {recorded[1]} s]")
    report("numbers, 20,000 x 16, 26 cl.", letters(), ("c45", "r8", "j48"))
    if "--quick" not in sys.argv[1:]:
        report("nominal, 300,000 x 16", nominal(), ("c45",), "[Release 8 on data of this shape: 1.1 s]")


if __name__ == "__main__":
    main()
