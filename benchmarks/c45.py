"""Report the time of C4.5 in its dialects: on `adult`, on made numbers with 26 classes, on made nominal data.

Where the recorded results of the original programs are at hand (TREEWRIGHT_ORACLE), the seconds that Release 8 took
for `adult` are printed beside. Times are reported, never asserted: machines differ.

python -m benchmarks.c45
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from benchmarks.made_data import letters, nominal_noisy
from benchmarks.peers import dataset
from treewright import Dataset, Schema, c45, fit, read

ORACLE = Path(os.environ.get("TREEWRIGHT_ORACLE", Path(__file__).resolve().parents[2] / "shared" / "oracle"))


def adult() -> tuple[Dataset, float] | None:
    """Return the recorded set and the seconds of Release 8, if they are here."""
    folder = ORACLE / "adult"
    if not folder.is_dir():
        return None
    schema = Schema.from_dict(json.loads((folder / "schema.json").read_text(encoding="utf-8")))
    seconds = json.loads((folder / "c45.json").read_text(encoding="utf-8"))["runs"]["default"]["seconds"]
    return read(folder / "data.csv", schema=schema), float(seconds)


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
    report("numbers, 20,000 x 16, 26 cl.", dataset(letters(20_000)), ("c45", "r8", "j48"))
    if "--quick" not in sys.argv[1:]:
        report(
            "nominal, 300,000 x 16",
            dataset(nominal_noisy(300_000)),
            ("c45",),
            "[Release 8 on data of this shape: 1.1 s]",
        )


if __name__ == "__main__":
    main()
