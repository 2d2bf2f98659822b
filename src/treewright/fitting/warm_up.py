"""Compiling kernels ahead of their use: for one kind of table in a second process, or for all usual kinds at once.

Kernels are compiled for combinations of types. Each `Work` is a fit of a few synthetic cases that needs the kernels of
one combination; what it compiles is stored in the cache. `python -m treewright.fitting.warm_up` does the work of the
request on its standard input: the second process of `treewright.fitting.engine_choice`, and of `compile_all`.

The second process runs at low priority. It ends when its standard input ends, so it does not outlive the process that
started it, however that ends, unless the word `LEAVE` comes first.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treewright.concurrency import POLL_SECONDS, processors
from treewright.data.dataset import Dataset
from treewright.data.schema import Kind, Task
from treewright.ensembles.plan import ForestPlan
from treewright.errors import ParameterError, TreewrightError
from treewright.fitting.engine_choice import kernel_kind, ready_mark
from treewright.fitting.learn import fit
from treewright.jit import cache_folder, cache_roots
from treewright.learners.base import Progress
from treewright.learners.grower import threads
from treewright.learners.kernels import compile_ahead
from treewright.learners.kernels.compile_ahead import LAST, LEAVE, BackgroundProcess
from treewright.learners.kernels.histogram_growth import BLOCK
from treewright.learners.recipe import for_regression, recipe_from_dict
from treewright.plans import Plan, c45, cart, id3
from treewright.pruning.methods import prune, pruner_named

LOW_PRIORITY = 19
"""Added to the niceness of the second process."""

BACKGROUND = "background"
"""The argument of a second process that works beside the first."""

ROWS_OF_BLOCK = 600
"""Synthetic cases for the kernels of one block; enough for a tree that can be pruned."""

ROWS_OF_HISTOGRAMS = BLOCK + 1000
"""Synthetic cases for the kernels of large nodes, which are split into blocks."""

COLUMNS_OF_KIND = 8
"""Numeric, and nominal, synthetic columns at most; those with the most values are kept."""

Request = dict[str, Any]
"""A work as plain data: kinds of columns, the recipe and its pruning; no cells and no names."""


@dataclass(frozen=True)
class Family:
    """Works that share most of their kernels, so one process does them, one after the other."""

    name: str
    requests: tuple[Request, ...]


# -- one kind of table in the background -------------------------------------------------------------------------------


def start_background(dataset: Dataset, plan: Plan) -> BackgroundProcess | None:
    """Start a process that compiles the kernels for trees of such cases; None where that is impossible."""
    if ready_mark(kernel_kind(dataset, plan)) is None or not compile_ahead.can_compile_elsewhere():
        return None
    process = compile_ahead.started(__name__, subprocess.DEVNULL, BACKGROUND, own_session=True)
    if process is None:
        return None
    background = BackgroundProcess(process)
    background.send(json.dumps(request_for(dataset, plan)))
    background.send(LAST)
    return background


def request_for(dataset: Dataset, plan: Plan) -> Request:
    """Return the work that compiles the kernels for trees of such cases by this plan.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> request_for(sample("play-tennis"), c45())["kinds"]
    ['nominal', 'ordinal', 'nominal', 'nominal', 'nominal']
    """
    recipe = plan.learner.recipe
    if recipe is None:
        raise ParameterError(f"{plan.name} is not grown by kernels")
    columns = dataset.schema.attributes
    numeric = [column for column in columns if column.is_numeric]
    nominal = sorted((column for column in columns if not column.is_numeric), key=lambda one: -len(one.values))
    kept = (*numeric[:COLUMNS_OF_KIND], *nominal[:COLUMNS_OF_KIND], dataset.schema.target_column)
    return {
        "kinds": [str(column.kind) for column in kept],
        "values": [len(column.values) for column in kept],
        "missing": dataset.has_missing,
        "weights": dataset.weights is not None,
        "rows": ROWS_OF_BLOCK if dataset.n_rows <= BLOCK else ROWS_OF_HISTOGRAMS,
        "recipe": recipe.to_dict(),
        "pruning": [method.to_dict() for method in plan.pruning],
        "trees": 0,
    }


# -- what a process does -----------------------------------------------------------------------------------------------


def compile_for(request: Request) -> None:
    """Do the work of a request: learn from synthetic cases, and note that kernels of this kind are compiled."""
    data = _cases_of(request)
    methods = tuple(
        pruner_named(plain["method"], **{key: value for key, value in plain.items() if key != "method"})
        for plain in request["pruning"]
    )
    plan = Plan(recipe_from_dict(request["recipe"]), methods, data.schema.task)
    if request["trees"]:
        options = {"max_features": None, **request.get("forest", {})}
        fit(data, ForestPlan(plan.unpruned(), trees=request["trees"], **options), engine="compiled")
        return
    model = fit(data, plan, engine="compiled")
    model.predict(data.X)
    tuple(model.trace)  # counted again by kernels when a model is saved
    if any(method.name == "error_based" for method in methods):
        _compile_whole_pruning(data, plan)
    for one in (plan, replace(plan, pruning=())):
        mark = ready_mark(kernel_kind(data, one))
        if mark is not None:
            mark.touch()


def _cases_of(request: Request) -> Dataset:
    """Return synthetic cases whose target depends on the first and the last attribute, so that trees have nodes."""
    data = compile_ahead.synthetic_cases(request, request["rows"])
    rng = np.random.default_rng(1)
    signal = rng.normal(size=data.n_rows) / 2
    for column in (data.columns[0], data.columns[-1]):
        signal = signal + np.nan_to_num(column.astype(np.float64))
    if data.schema.task is Task.REGRESSION:
        return replace(data, target=signal)
    rank = np.argsort(np.argsort(signal))
    return replace(data, target=(rank * len(data.schema.classes) // data.n_rows).astype(np.int32))


def _compile_whole_pruning(data: Dataset, plan: Plan) -> None:
    """Compile the pruning of trees that send each case to one leaf: missing values elsewhere do not matter to it."""
    if data.has_missing:
        data = data.take(slice(0, ROWS_OF_BLOCK))
        columns: tuple[Any, ...] = tuple(
            np.nan_to_num(one) if one.dtype.kind == "f" else np.maximum(one, 0) for one in data.columns
        )
        data = replace(data, columns=columns)
        tree = fit(data, replace(plan, pruning=()), keep_trace=False, engine="interpreted").tree
        for method in plan.pruning:
            prune(tree, method, data, engine="compiled")


def main(arguments: Sequence[str]) -> None:
    """Do the work of each request on standard input and print a line after it."""
    in_background = BACKGROUND in arguments
    if in_background and hasattr(os, "nice"):
        os.nice(LOW_PRIORITY)
    compile_ahead.Helpers.allowed = in_background and processors() > 2  # `compile_all` has a process for each processor
    requests: queue.Queue[Request | None] = queue.Queue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    while (request := requests.get()) is not None:
        compile_for(request)
        sys.stdout.write("done\n")
        sys.stdout.flush()


def _read(requests: queue.Queue[Request | None]) -> None:
    """Queue the requests; end this process, and those it has started, with its input, unless it was told to go on."""
    with open(0, "rb", buffering=0, closefd=False) as given:  # a buffer would be locked when the process ends
        for line in given:
            text = line.decode().strip()
            if text not in (LAST, LEAVE):
                requests.put(json.loads(text))
                continue
            requests.put(None)
            if text == LEAVE:
                return
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


# -- all usual kinds ---------------------------------------------------------------------------------------------------


def families() -> list[Family]:
    """Return all works, those that take longest first.

    Examples
    --------
    >>> [family.name for family in families()]
    ['classes', 'missing values', 'numeric targets', 'forests', 'columns of one kind']
    """
    usual, by_tree = (c45(), cart(), id3()), (c45(), cart())
    forests = [
        _request(cart(), trees=2, block=True, task=task, missing=missing, numeric=numeric, nominal=nominal, **options)
        for task, missing, numeric, nominal, options in (
            ("class", False, 2, 2, {"max_features": "sqrt"}),
            ("class", False, 2, 0, {"max_features": "sqrt"}),
            ("class", True, 2, 2, {"max_features": "sqrt"}),
            ("number", False, 2, 2, {"max_features": "sqrt"}),
            ("number", True, 2, 2, {"max_features": "sqrt"}),
            ("number", False, 2, 0, {"max_features": "sqrt"}),
            ("number", False, 6, 0, {"max_features": 1}),
            ("number", False, 6, 0, {"max_features": 1, "random_cuts": True}),
            ("number", False, 6, 0, {"random_cuts": True}),
        )
    ]
    forests += [
        _request(c45(), trees=1, block=True, missing=missing, max_features="sqrt", random_cuts=True)
        for missing in (False, True)
    ]
    one_kind = [
        _request(plan, block=block, missing=missing, numeric=numeric, nominal=nominal)
        for numeric, nominal in ((4, 0), (0, 4))
        for missing in (False, True)
        for plan in by_tree
        for block in (True, False)
    ]
    sizes = (False, True)
    return [
        Family("classes", tuple(_request(plan, block=block) for plan in usual for block in sizes)),
        Family("missing values", tuple(_request(plan, block=block, missing=True) for plan in usual for block in sizes)),
        Family(
            "numeric targets",
            tuple(
                _request(cart(), block=block, task="number", missing=missing, nominal=nominal)
                for nominal in (2, 0)
                for missing in (False, True)
                for block in sizes
            ),
        ),
        Family("forests", tuple(forests)),
        Family("columns of one kind", tuple(one_kind)),
    ]


def _request(
    plan: Plan,
    *,
    block: bool,
    task: str = "class",
    missing: bool = False,
    numeric: int = 2,
    nominal: int = 2,
    trees: int = 0,
    **options: Any,
) -> Request:
    """Return the work for trees of so many numeric and nominal columns."""
    kinds = [str(Kind.NUMERIC)] * numeric + [str(Kind.NOMINAL)] * nominal
    kinds.append(str(Kind.NUMERIC if task == "number" else Kind.NOMINAL))
    values = [0] * numeric + [5] * nominal + [0 if task == "number" else 2]
    recipe = plan.learner.recipe
    if recipe is None:
        raise ParameterError(f"{plan.name} is not grown by kernels")
    return {
        "kinds": kinds,
        "values": values,
        "missing": missing,
        "weights": False,
        "rows": ROWS_OF_BLOCK if block else ROWS_OF_HISTOGRAMS,
        "recipe": (for_regression(recipe) if task == "number" else recipe).to_dict(),
        "pruning": [] if trees else [method.to_dict() for method in plan.pruning],
        "trees": trees,
        "forest": options,
    }


def compile_all(jobs: int | None = None, progress: Progress | None = None) -> Path:
    """Compile the kernels for all usual kinds of tables, and return the folder in which the code is stored.

    Parameters
    ----------
    jobs : int or None
        Processes; None and -1 for all processors.
    progress : callable or None
        Called with the number of finished works and of all works.
    """
    folder = cache_folder()
    if folder is None:
        places = ", ".join(str(root) for root in cache_roots())
        raise TreewrightError(
            f"compiled code cannot be stored: none of these folders is writable: {places}; "
            "set NUMBA_CACHE_DIR to a folder that is"
        )
    waiting = families()
    total = sum(len(family.requests) for family in waiting)
    done, failed = 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal done, failed
        process = compile_ahead.started(__name__, subprocess.PIPE)
        if process is None:
            failed += 1
            return
        worker = BackgroundProcess(process)
        workers.append(worker)
        answers = worker.answers()
        while True:
            with lock:
                family = waiting.pop(0) if waiting else None
            if family is None:
                break
            for request in family.requests:
                worker.send(json.dumps(request))
                if next(answers, None) is None:
                    failed += 1
                    return
                done += 1
        worker.send(LAST)

    workers: list[BackgroundProcess] = []
    threads_of_work = [threading.Thread(target=work, daemon=True) for _ in range(min(threads(jobs), len(waiting)))]
    for thread in threads_of_work:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads_of_work):
            threads_of_work[0].join(POLL_SECONDS)
            time.sleep(0 if threads_of_work[0].is_alive() else POLL_SECONDS)
            if progress is not None:
                progress(done, total)
    finally:
        for worker in workers:
            worker.end()
    if failed:
        raise TreewrightError(f"a process that compiles has failed after {done} of {total} kinds of tables")
    return folder


if __name__ == "__main__":
    main(sys.argv[1:])
