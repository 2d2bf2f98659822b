"""Which engine grows a tree: small tables are grown by the interpreter, large ones by compiled kernels.

The choice depends on the size of the data alone, so that the same data give the same bytes whenever they are learned.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache

import numpy as np

from treewright._base.errors import ParameterError
from treewright._base.interrupt import run_in_worker
from treewright._base.loading import garbage_collection_paused
from treewright._base.near_names import did_you_mean
from treewright._base.processors import processors
from treewright.counts.memory import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.grow.bins_of_numbers import in_bins
from treewright.grow.grower import grow
from treewright.grow.learner import Grown, Progress, Run
from treewright.grow.recipe import MissingPolicy, Recipe
from treewright.model.tree import Tree

ENGINES = ("auto", "interpreted", "compiled")
"""What `engine` may be for data in memory."""

COMPILED_CELLS = 100_000
"""Cells (rows times attributes) from which on kernels grow the tree; below, loading them takes longer than it saves."""

UNINTERRUPTED_CASES = 1_000
"""Up to this many cases the kernels run in the calling thread: they finish before an interrupt could matter."""


def check_engine(engine: str) -> None:
    """Raise unless there is such an engine."""
    if engine not in ENGINES:
        names = ", ".join(map(repr, ENGINES))
        raise ParameterError(f"engine must be one of {names}, not {engine!r}{did_you_mean(str(engine), ENGINES)}")


def is_compiled(engine: str, dataset: Dataset) -> bool:
    """Say whether kernels are to do the work.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> is_compiled("auto", sample("play-tennis")), is_compiled("compiled", sample("play-tennis"))
    (False, True)
    """
    check_engine(engine)
    if engine == "auto":
        return dataset.n_rows * len(dataset.columns) >= COMPILED_CELLS
    return engine == "compiled"


def by_kernels(engine: str, dataset: Dataset, recipe: Recipe) -> bool:
    """Say whether kernels grow the whole tree; otherwise the interpreted grower does, over whoever counts."""
    if not is_compiled(engine, dataset):
        return False
    with garbage_collection_paused():
        announce_compilation()
        from treewright.grow.compiled.options import is_supported

    return is_supported(recipe)


def threads(n_jobs: int | None) -> int:
    """Return how many threads to use: as many as the process may, unless it is told; -1 means all, too.

    Examples
    --------
    >>> threads(3), threads(None) == threads(-1)
    (3, True)
    """
    if n_jobs is None or n_jobs == -1:
        return processors()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs < 1:
        raise ParameterError(f"n_jobs must be None, -1 or a whole number of at least 1, not {n_jobs!r}")
    return int(n_jobs)


def counting_engine(dataset: Dataset, engine: str, *, fractional: bool) -> MemoryEngine:
    """Return an engine that counts tables for the interpreted grower."""
    if not is_compiled(engine, dataset):
        return MemoryEngine(dataset, fractional=fractional)
    from treewright.counts.compiled.engine import CompiledEngine

    return CompiledEngine(dataset, fractional=fractional)


def with_compiled_criterion(recipe: Recipe) -> Recipe:
    """Return the recipe with the user's own criterion compiled, where it has one."""
    if recipe.own is None or recipe.own.function is None:
        return recipe
    from treewright.grow.own_kernel import compiled_scan

    scan = compiled_scan(recipe.own.name, recipe.own.function)
    return replace(recipe, own=replace(recipe.own, scan=scan))


def grow_by_recipe(recipe: Recipe, cases: Dataset, run: Run) -> Grown:
    """Grow by kernels or by the interpreter, whichever the engine of the run and the size of the data ask for."""
    cases = in_bins(cases, recipe)
    if by_kernels(run.engine, cases, recipe):
        tree = grow_tree(cases, recipe, engine=run.engine, n_jobs=run.n_jobs, progress=run.progress)
        return Grown(tree, traced=False, cases=cases)
    counting = counting_engine(cases, run.engine, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    if is_compiled(run.engine, cases):
        recipe = with_compiled_criterion(recipe)
    return replace(grow(counting, recipe, progress=run.progress), cases=cases)


def grow_tree(
    dataset: Dataset,
    recipe: Recipe,
    *,
    engine: str = "auto",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Tree:
    """Grow a tree by the engine that suits, or that is asked for.

    Parameters
    ----------
    dataset : Dataset
    recipe : Recipe
    engine : str
        One of `ENGINES`.
    n_jobs : int or None
        Threads; the tree does not depend on it.
    progress : callable or None
        Called with cases done and cases in all.
    """
    jobs = threads(n_jobs)
    dataset = in_bins(dataset, recipe)
    with garbage_collection_paused():
        if by_kernels(engine, dataset, recipe):
            return _grown_by_kernels(dataset, recipe, jobs, progress)
    counting = counting_engine(dataset, engine, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    if is_compiled(engine, dataset):
        recipe = with_compiled_criterion(recipe)
    return grow(counting, recipe, progress=progress).tree


def _grown_by_kernels(dataset: Dataset, recipe: Recipe, jobs: int, progress: Progress | None) -> Tree:
    from treewright.grow.compiled.growing import CompiledGrower

    grower = CompiledGrower(dataset, jobs)
    if dataset.n_rows <= UNINTERRUPTED_CASES:
        return grower.grow(recipe, progress=progress)
    told = _ProgressRelay(progress)
    return run_in_worker(lambda: grower.grow(recipe, progress=told.hear), on_poll=told.tell)


class _ProgressRelay:
    """Takes the progress of a growth in its thread, and tells it in that of the caller."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._heard: tuple[int, int] | None = None
        self._last: tuple[int, int] | None = None

    def hear(self, done: int, of: int) -> None:
        self._heard = done, of

    def tell(self) -> None:
        heard = self._heard
        if self._progress is not None and heard is not None and heard != self._last:
            self._last = heard
            self._progress(*heard)


@cache
def announce_compilation() -> None:
    """Tell a terminal, once, that kernels are compiled now: nobody likes to wait without knowing why."""
    from treewright.counts.compiled.flags import cache_folder, is_compiled

    if is_compiled():
        return
    told = "compiling the growing kernels, once"
    if cache_folder() is None:
        told += " for this process: no folder for compiled code can be written"
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"treewright: {told} ...\n")
