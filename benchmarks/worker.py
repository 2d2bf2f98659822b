"""One measurement in a process of its own: ``python -m benchmarks.worker JOB RESULT``, both JSON files.

The clock starts after the data are loaded, brought into the competitor's form, and a small fit has loaded and compiled
whatever that takes; except for `start`, where the runner knows when the process was begun.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Growth
from benchmarks.made_data import Table, make, write_csv
from benchmarks.memory import forget_peak, peak
from benchmarks.peers import Competitor, Treewright, by_class, competitor_named
from treewright.errors import TreewrightError

WARM_ROWS = 600
"""Cases of the small fit before the timed one."""

WARM_ROWS_OF_LARGE = 20_000
"""The same for large tables, whose upper nodes kernels of their own count."""

COMPILED_CASES = 10_000
"""With this many cases the small fit asks for the compiled engine: the large one will use it."""

LATENCY_SECONDS = 0.5
"""How long small fits are repeated; the best of them counts."""

Result = dict[str, Any]


def main(arguments: list[str]) -> None:
    """Do the job and write the result."""
    job_file, result_file = map(Path, arguments)
    job = json.loads(job_file.read_text())
    if job["action"] == "make":
        folder = Path(job["data"])
        columns = make(job["maker"], job["rows"], job["test_rows"], job["shape"], folder, job["recipe"])
        if job["file"]:
            write_csv(Table.load(folder / "training"), folder / "table.csv")
        result: Result = {"columns": columns}
    else:
        try:
            result = measured(job)
        except TreewrightError as error:
            result = {"failed": str(error)}
    result_file.write_text(json.dumps(result))


def measured(job: dict[str, Any]) -> Result:
    """Return what this competitor took, and how good and large its model is."""
    competitor = competitor_named(job["competitor"], job["engine"])
    growth = Growth(**job["growth"])
    folder = Path(job["data"])
    action = {"fit": _fit, "predict": _predict, "latency": _latency, "start": _start, "compile": _compile}
    # Neither predicting nor boosting can be told a number of threads by everybody.
    kept = job["action"] == "predict" or growth.kind == "adaboost"
    with _processors(job["threads"]) if kept else nullcontext():
        result = action[job["action"]](competitor, growth, folder, job)
    return result | {"version": competitor.version, "numba": "numba" in sys.modules}


@contextmanager
def _processors(threads: int) -> Iterator[None]:
    """Use only as many processors as threads were asked for, where the system lets a process choose.

    They are taken from all over the list: neighbours may be two halves of one core.
    """
    if not hasattr(os, "sched_setaffinity"):  # Linux has it
        yield
        return
    allowed = sorted(os.sched_getaffinity(0))
    few = min(threads, len(allowed))
    os.sched_setaffinity(0, {allowed[at * len(allowed) // few] for at in range(few)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _fit(competitor: Competitor, growth: Growth, folder: Path, job: dict[str, Any]) -> Result:
    table = Table.load(folder / "training")
    _warm_up(competitor, growth, table, job["threads"])
    columns = table.n_columns
    form = competitor.form(table)
    labels_alone = _without_attributes(table) if form is not table.numbers else table
    del table
    gc.collect()
    before = forget_peak()
    start, worked = time.perf_counter(), time.process_time()
    model = competitor.grow(form, labels_alone, growth, job["threads"])
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    most = peak()
    del form
    result: Result = {
        "seconds": seconds,
        "processor_seconds": worked,
        "peak_bytes": most,
        "added_bytes": None if most is None or before is None else most - before,
        "nodes": competitor.size(model),
    }
    if isinstance(competitor, Treewright):
        result["visits"] = competitor.visits(model, growth, columns, labels_alone.classes)
    if job["accuracy"]:
        result["training_accuracy"] = _accuracy(competitor, model, Table.load(folder / "training"))
        result["test_accuracy"] = _accuracy(competitor, model, Table.load(folder / "test"))
    if job["store"] and competitor.stores:
        result |= _stored(competitor, model, Table.load(folder / "training"), Path(job["scratch"]), job["threads"])
    return result


def _stored(competitor: Competitor, model: Any, table: Table, scratch: Path, threads: int) -> Result:
    """Save, then time loading and predicting together."""
    file = scratch / f"model-{os.getpid()}.json"
    form = competitor.questions(table)
    start = time.perf_counter()
    competitor.save(model, file)
    saved = time.perf_counter() - start
    size = file.stat().st_size
    del model
    gc.collect()
    with _processors(threads):
        start = time.perf_counter()
        competitor.shares(competitor.load(file), form)
        loaded = time.perf_counter() - start
    file.unlink()
    return {"save_seconds": saved, "load_and_predict_seconds": loaded, "file_bytes": size, "stored_rows": table.n_rows}


def _predict(competitor: Competitor, growth: Growth, folder: Path, job: dict[str, Any]) -> Result:
    """Learn from the smaller part, untimed, and time the probabilities of the larger."""
    training = Table.load(folder / "training")
    model = competitor.grow(competitor.form(training), training, growth, job["threads"])
    del training
    table = Table.load(folder / "test")
    form = competitor.questions(table)
    competitor.shares(model, form)  # loads what so many cases need
    gc.collect()
    before = forget_peak()
    start = time.perf_counter()
    shares = competitor.shares(model, form)
    seconds = time.perf_counter() - start
    most = peak()
    return {
        "seconds": seconds,
        "peak_bytes": most,
        "added_bytes": None if most is None or before is None else most - before,
        "nodes": competitor.size(model),
        "test_accuracy": _share_right(shares, table),
    }


def _latency(competitor: Competitor, growth: Growth, folder: Path, job: dict[str, Any]) -> Result:
    """Fit the same few cases again and again."""
    table = Table.load(folder / "training")
    form = competitor.form(table)
    model = competitor.grow(form, table, growth, job["threads"])
    best, end = np.inf, time.perf_counter() + LATENCY_SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        model = competitor.grow(form, table, growth, job["threads"])
        best = min(best, time.perf_counter() - start)
    accuracy = _accuracy(competitor, model, table)
    return {"seconds": float(best), "nodes": competitor.size(model), "training_accuracy": accuracy}


def _start(competitor: Competitor, growth: Growth, folder: Path, job: dict[str, Any]) -> Result:
    """Fit once, as a program does that was just begun; the runner knows when that was."""
    table = Table.load(folder / "training")
    model = competitor.grow(competitor.form(table), table, growth, job["threads"])
    return {"done_at": time.time(), "nodes": competitor.size(model)}


def _compile(competitor: Competitor, growth: Growth, folder: Path, job: dict[str, Any]) -> Result:
    """Return what the first fit took beyond the second; the runner gives an empty folder for compiled code."""
    table = Table.load(folder / "training")
    form = competitor.form(table)
    times = []
    for _ in range(2):
        start = time.perf_counter()
        model = competitor.grow(form, table, growth, job["threads"])
        times.append(time.perf_counter() - start)
    return {"seconds": max(times[0] - times[1], 0.0), "first_seconds": times[0], "nodes": competitor.size(model)}


def _warm_up(competitor: Competitor, growth: Growth, table: Table, threads: int) -> None:
    """Load and compile what fitting needs, by a few cases of every class."""
    large = table.n_rows >= COMPILED_CASES
    rows = WARM_ROWS_OF_LARGE if large else WARM_ROWS
    few = np.arange(min(rows, table.n_rows))
    if table.classes:
        each = rows // table.classes + 1
        few = np.concatenate([np.flatnonzero(table.labels == one)[:each] for one in range(table.classes)])
    small = Table(table.numbers[few], table.codes[few], table.values, table.labels[few], table.classes)
    if large and isinstance(competitor, Treewright) and competitor.engine == "auto":
        competitor = Treewright("compiled")
    few_trees = Growth(**(growth.to_dict() | {"trees": min(growth.trees, 3)}))
    model = competitor.grow(competitor.form(small), small, few_trees, threads)
    competitor.shares(model, competitor.questions(small))


def _without_attributes(table: Table) -> Table:
    """Return the labels only, so that the form alone is in memory while the clock runs."""
    return Table(np.empty((0, 0)), np.empty((0, 0), np.int32), table.values, table.labels, table.classes)


def _accuracy(competitor: Competitor, model: Any, table: Table) -> float:
    return _share_right(competitor.shares(model, competitor.questions(table)), table)


def _share_right(found: Any, table: Table) -> float:
    """Return the share of cases that are predicted right, of numbers the share of the variance that is explained."""
    found = by_class(found, table.classes)
    if table.classes:
        return float((np.argmax(found, axis=1) == table.labels).mean())
    return 1 - float(((found - table.labels) ** 2).mean() / table.labels.var())


if __name__ == "__main__":
    main(sys.argv[1:])
