"""Time against rows, for tables that stay in Parquet files: 20 nominal attributes, depth 8, counted by DuckDB.

    python benchmarks/scale.py                 # 1,000,000, 10,000,000 and 100,000,000 rows
    python benchmarks/scale.py --short         # 1,000,000 and 10,000,000 rows
    python benchmarks/scale.py --rows 100000000 --folder /somewhere/with/room

The largest table takes about 1 GB. The tables are made once, by DuckDB, and kept in the folder. Each size is learned in
a process of its own, so that the memory reported is that of one run. Seconds of all processors together are printed
beside those of the clock, because a machine may have other work to do.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = [1_000_000, 10_000_000, 100_000_000]
DEPTH = 8
ATTRIBUTES = 20
ROWS_PER_FILE = 10_000_000
MOST_MEMORY = 3 * 1024**3


def made(folder: Path, rows: int) -> str:
    """Make the files of a table unless they are there; return their pattern."""
    import duckdb

    target = folder / f"scale-{rows}"
    target.mkdir(parents=True, exist_ok=True)
    columns = ", ".join(
        f"'v' || ((hash(i * {2 * number + 3} + {number}) >> 9) % {3 + number % 4})::VARCHAR AS a{number}"
        for number in range(ATTRIBUTES)
    )
    # The class depends on a few attributes in turn, with noise, so that every level finds something.
    rule = (
        "CASE WHEN (hash(i * 977 + 5) >> 11) % 10 = 0 THEN (hash(i * 31 + 7) >> 13) % 3 "
        "WHEN a0 = 'v0' THEN CASE WHEN a1 = 'v1' THEN 0 WHEN a3 IN ('v2', 'v3') THEN 1 ELSE 2 END "
        "WHEN a2 IN ('v0', 'v4') THEN CASE WHEN a5 = 'v0' THEN 1 WHEN a7 = 'v5' THEN 0 ELSE 2 END "
        "WHEN a4 = 'v1' THEN CASE WHEN a6 = 'v2' THEN 2 WHEN a9 IN ('v1', 'v2') THEN 0 ELSE 1 END "
        "ELSE CASE WHEN a8 = 'v0' AND a10 <> 'v1' THEN 0 ELSE 1 END END"
    )
    for start in range(0, rows, ROWS_PER_FILE):
        path = target / f"part-{start // ROWS_PER_FILE:04d}.parquet"
        if path.exists():
            continue
        stop = min(start + ROWS_PER_FILE, rows)
        unfinished = path.with_suffix(".unfinished")
        duckdb.connect(config={"threads": 2, "memory_limit": "2GB"}).execute(
            f"COPY (SELECT *, 'c' || ({rule})::VARCHAR AS y FROM "  # noqa: S608 - all of it is written here
            f"(SELECT i, {columns} FROM range({start}, {stop}) t(i))) TO '{unfinished}' (FORMAT parquet)"
        )
        unfinished.rename(path)
    return str(target / "part-*.parquet")


def learned(pattern: str, finish_rows: int) -> dict[str, float]:
    """Learn a tree from the files and return its figures."""
    import treewright
    from treewright.counting.engine import engine_over
    from treewright.data.infer import Overrides
    from treewright.fitting.out_of_core import fit_over
    from treewright.learners.recipe import CART, Stopping

    start, worked = time.perf_counter(), time.process_time()
    with engine_over(treewright.Table(pattern), "y", None, Overrides(ignore=("i",))) as engine:
        model = fit_over(engine, CART(stopping=Stopping(max_depth=DEPTH)), finish_rows=finish_rows)
        seconds = time.perf_counter() - start
        scans = engine.scans
    return {
        "rows": model.provenance["rows"],
        "seconds": seconds,
        "processor": time.process_time() - worked,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "scans": scans,
        "leaves": model.tree.n_leaves,
        "depth": model.tree.depth,
    }


def main() -> int:
    """Measure all sizes, print a table, and return 1 if memory or growth of time is not as promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, action="append", help="a size (repeatable)")
    parser.add_argument("--short", action="store_true", help="leave out the largest size")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "treewright-scale")
    parser.add_argument("--finish-rows", type=int, default=0, help="nodes of so many rows are finished in memory")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one is not None:
        print(json.dumps(learned(chosen.one, chosen.finish_rows)))
        return 0
    results = []
    print(f"{'rows':>13}  {'seconds':>8}  {'processor':>9}  {'s/10^6 rows':>11}  {'memory':>8}  scans  leaves  depth")
    for rows in sorted(chosen.rows or (SIZES[:-1] if chosen.short else SIZES)):
        pattern = made(chosen.folder, rows)
        command = [sys.executable, __file__, "--one", pattern, "--finish-rows", str(chosen.finish_rows)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        results.append(result)
        print(
            f"{result['rows']:>13,}  {result['seconds']:>8.1f}  {result['processor']:>9.1f}  "
            f"{result['processor'] / result['rows'] * 1e6:>11.2f}  "
            f"{result['memory'] / 1024**3:>5.2f} GB  {result['scans']:>5}  {result['leaves']:>6}  {result['depth']:>5}",
            flush=True,
        )
    too_much = [one for one in results if one["memory"] > MOST_MEMORY]
    if too_much:
        print(f"more than {MOST_MEMORY / 1024**3:.0f} GB of memory", file=sys.stderr)
    return 1 if too_much else 0


if __name__ == "__main__":
    sys.exit(main())
