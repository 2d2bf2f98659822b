"""Train and test on one train/test split after the other, and keep the results.

A run holds the predictions for the test rows of a split, with the score, the size of the model and the time it took.

Invariants
----------
Runs come in the order of their splits and, except for the seconds, do not depend on how many threads or processes share
the work. The cases are encoded once: a split only takes rows of them.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.concurrency import processors
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.ensembles.running import by_threads
from treewright.errors import DataWarning, ParameterError
from treewright.evaluation.cross_validation import Fit, Rows, target_of
from treewright.evaluation.learners import Learn, LearnByEstimator
from treewright.fitting.algorithms import as_learner
from treewright.fitting.engine_choice import engine_of_folds
from treewright.learners.grower import by_kernels
from treewright.tree.forest import Forest
from treewright.tree.model import Predictor, TreeModel
from treewright.tree.rules import RuleModel

NumberedSplits = Iterable[tuple[int, tuple[Rows, Rows]]]

WORTH_SHARING = 4.0
"""Seconds that must be saved before worker processes are started: starting them takes one or two, kernels some more."""

WARMING_UP = 0.5
"""Seconds of the first run that imports may have taken."""


@dataclass(frozen=True)
class FoldResult:
    """The result of one train/test split.

    Parameters
    ----------
    fold : int
        From 1.
    trained, n : int
        Training and test cases.
    score : float or None
        Accuracy or root mean squared error on the test cases; None if all of them have weight 0.
    size : int or None
        Leaves of the tree, or rules.
    seconds : float
        Time to train and to predict.
    """

    fold: int
    trained: int
    n: int
    score: float | None
    size: int | None
    seconds: float


@dataclass(frozen=True)
class FoldRun:
    """The test rows of one split with their predictions (class codes or numbers), and the size of the model."""

    result: FoldResult
    rows: Rows
    predicted: npt.NDArray[Any]
    size: int | None = None
    size_of: str = ""
    strange: int = 0
    """Test cases of a class absent from the training rows."""
    notes: tuple[str, ...] = ()


def run_split(dataset: Dataset, fit: Fit, fold: int, train: Rows, test: Rows) -> FoldRun:
    """Train on the training rows and predict the test rows."""
    start = time.perf_counter()
    model = fit(dataset.take(train))
    cases = dataset.take(test)
    predicted = predictions(model, cases)
    seconds = time.perf_counter() - start
    score = score_of(cases, predicted)
    strange = 0
    if dataset.schema.task is Task.CLASSIFICATION:
        known = np.unique(target_of(dataset)[train])
        strange = int(np.count_nonzero(~np.isin(target_of(cases), known)))
    result = FoldResult(fold, len(train), len(test), score, size_of(model), seconds)
    return FoldRun(result, test, predicted, *_node_count(model), strange)


def predictions(model: Predictor, cases: Dataset) -> npt.NDArray[Any]:
    """Return class codes or numbers."""
    return model.predict(cases) if cases.schema.task is Task.REGRESSION else model.predict_codes(cases)


def score_of(cases: Dataset, predicted: npt.NDArray[Any]) -> float | None:
    """Return the accuracy or the root mean squared error, None if all cases have weight 0."""
    weights = cases.case_weights
    total = float(weights.sum())
    if total <= 0:
        return None
    if cases.schema.task is Task.REGRESSION:
        return sqrt(float((weights * (target_of(cases) - predicted) ** 2).sum()) / total)
    return float(weights[target_of(cases) == predicted].sum()) / total


def size_of(model: Predictor) -> int | None:
    """Return the leaves of a tree, of all trees of a forest, or the number of rules."""
    if isinstance(model, TreeModel):
        return model.tree.n_leaves
    if isinstance(model, Forest):
        return sum(tree.n_leaves for tree in model.trees)
    return len(model.rules) if isinstance(model, RuleModel) else None


def _node_count(model: Predictor) -> tuple[int | None, str]:
    """Return the number of nodes or rules of a model, and the unit."""
    if isinstance(model, TreeModel):
        return model.tree.n_nodes, "nodes"
    if isinstance(model, Forest):
        return sum(tree.n_nodes for tree in model.trees), "nodes"
    return (len(model.rules), "rules") if isinstance(model, RuleModel) else (None, "")


def run_splits(
    dataset: Dataset, fit: Fit, splits: NumberedSplits, number: int, n_jobs: int | None
) -> Iterator[FoldRun]:
    """Yield the run of each split, in order, on `n_jobs` threads or processes; None uses several if that saves time.

    Learners that use kernels run in threads, since kernels release the interpreter lock; others run in processes.
    """
    waiting = iter(splits)
    workers = processors() if n_jobs is None or n_jobs < 0 else n_jobs
    first = next(waiting, None)
    if first is None:
        return
    waiting = chain([first], waiting)
    if isinstance(fit, Learn) and fit.engine == "auto":
        fit = replace(fit, engine=engine_of_folds(dataset, as_learner(fit.plan), number))
    if workers > 1 and isinstance(fit, Learn) and _by_kernels(dataset.take(first[1][0]), fit):
        alone = replace(fit, n_jobs=1)
        yield from by_threads(lambda split: run_split(dataset, alone, split[0], *split[1]), waiting, workers)
        return
    if n_jobs is None:
        for done, (fold, (train, test)) in enumerate(waiting, start=1):
            run = run_split(dataset, fit, fold, train, test)
            yield run
            warmed_up = done > 1 or run.result.seconds > WARMING_UP
            if warmed_up and _pays(fit, run.result.seconds, number - done):
                break
    elif n_jobs == 1:
        yield from (run_split(dataset, fit, fold, train, test) for fold, (train, test) in waiting)
        return
    first = next(waiting, None)
    if first is not None:
        yield from _shared(dataset, fit, chain([first], waiting), workers)


def _by_kernels(cases: Dataset, fit: Learn) -> bool:
    """Return True if kernels do most of the training on such cases."""
    plan = as_learner(fit.plan)
    recipe = None if plan.abilities.many_trees else plan.tree.learner.recipe
    return recipe is not None and by_kernels(fit.engine, cases, recipe)


def _pays(fit: Fit, seconds: float, left: int) -> bool:
    """Return True if worker processes save time for the remaining runs."""
    # A user's function may rely on running in this process.
    if left * seconds <= WORTH_SHARING or not isinstance(fit, (Learn, LearnByEstimator)):
        return False
    return left * seconds * (1 - 1 / min(processors(), left)) > WORTH_SHARING


def _shared(dataset: Dataset, fit: Fit, splits: NumberedSplits, n_jobs: int) -> Iterator[FoldRun]:
    """Run the splits in worker processes; large columns are memory-mapped, not copied."""
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=n_jobs, return_as="generator")
    runs = work(delayed(_run_in_worker)(dataset, fit, fold, train, test) for fold, (train, test) in splits)
    try:
        for run in runs:
            for text in run.notes:
                warnings.warn(text, DataWarning, stacklevel=3)
            yield run
    except pickle.PicklingError as error:
        raise ParameterError(f"{fit!r} cannot be pickled for other processes; use n_jobs=1") from error


def _run_in_worker(dataset: Dataset, fit: Fit, fold: int, train: Rows, test: Rows) -> FoldRun:
    """Run a split in a worker process and return its warnings as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        run = run_split(dataset, fit, fold, train, test)
    return replace(run, notes=tuple(dict.fromkeys(str(one.message) for one in caught)))
