"""One pair of training and test cases after the other: learn, predict, and keep what came of it.

Vocabulary
----------
pair
    Training rows and test rows.
run
    What was predicted for the test rows of a pair, with the result, the size of the model and the time it took.

Invariants
----------
Runs come in the order of their pairs and do not depend on how many processes share the work, the seconds apart. The
encoded cases are made once: a pair only takes rows of them.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataWarning, ParameterError
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.evaluate.estimate import Fit, Rows
from treewright.evaluate.ways import target_of
from treewright.model.model import Smoothing, TreeModel
from treewright.model.predictor import Predictor
from treewright.model.rule_model import RuleModel
from treewright.plans import Learner, Plan, RulePlan

NumberedPairs = Iterable[tuple[int, tuple[Rows, Rows]]]


@dataclass(frozen=True)
class Learn:
    """Learning by a plan, as a value: what `estimate` and the curves take as `fit`, other processes too.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> Learn(c45())(sample("play-tennis")).tree.n_leaves
    5
    """

    plan: Plan | Learner | RulePlan
    class_weights: Mapping[str, float] | None = None
    smoothing: Smoothing = None
    costs: tuple[tuple[float, ...], ...] | None = None

    def __call__(self, part: Dataset) -> TreeModel | RuleModel:
        """Learn from these cases, without the working that only an explanation needs."""
        from treewright.learn import fit

        if isinstance(self.plan, RulePlan):
            return fit(part, self.plan)
        return fit(
            part,
            self.plan,
            class_weights=self.class_weights,
            smoothing=self.smoothing,
            costs=self.costs,
            keep_working=False,
        )


@dataclass(frozen=True)
class FoldResult:
    """What came of one pair.

    Parameters
    ----------
    fold : int
        From 1.
    trained, n : int
        Training and test cases.
    score : float or None
        Accuracy or root mean squared error on the test cases; None if all of them weigh nothing.
    size : int or None
        Leaves of the tree, or rules.
    seconds : float
        To learn and to predict.
    """

    fold: int
    trained: int
    n: int
    score: float | None
    size: int | None
    seconds: float


@dataclass(frozen=True)
class FoldRun:
    """The rows of one pair with what was predicted for them (class codes or numbers)."""

    result: FoldResult
    rows: Rows
    predicted: npt.NDArray[Any]
    notes: tuple[str, ...] = ()


def run_pair(dataset: Dataset, fit: Fit, fold: int, train: Rows, test: Rows) -> FoldRun:
    """Learn from the training rows and predict the test rows."""
    start = time.perf_counter()
    model = fit(dataset.take(train))
    cases = dataset.take(test)
    said = predictions(model, cases)
    seconds = time.perf_counter() - start
    score = score_of(cases, said)
    return FoldRun(FoldResult(fold, len(train), len(test), score, size_of(model), seconds), test, said)


def predictions(model: Predictor, cases: Dataset) -> npt.NDArray[Any]:
    """Return class codes or numbers."""
    return model.predict(cases) if cases.schema.task is Task.REGRESSION else model.predict_codes(cases)


def score_of(cases: Dataset, said: npt.NDArray[Any]) -> float | None:
    """Return the accuracy or the root mean squared error, None where all cases weigh nothing."""
    weights = np.ones(cases.n_rows) if cases.weights is None else cases.weights
    total = float(weights.sum())
    if total <= 0:
        return None
    if cases.schema.task is Task.REGRESSION:
        return sqrt(float((weights * (target_of(cases) - said) ** 2).sum()) / total)
    return float(weights[target_of(cases) == said].sum()) / total


def size_of(model: Predictor) -> int | None:
    """Return the leaves of a tree or the number of rules."""
    if isinstance(model, TreeModel):
        return model.tree.n_leaves
    return len(model.rules) if isinstance(model, RuleModel) else None


def one_by_one(dataset: Dataset, fit: Fit, pairs: NumberedPairs) -> Iterator[FoldRun]:
    """Yield what comes of each pair, in order."""
    for fold, (train, test) in pairs:
        yield run_pair(dataset, fit, fold, train, test)


def in_processes(dataset: Dataset, fit: Fit, pairs: NumberedPairs, n_jobs: int) -> Iterator[FoldRun]:
    """Share the pairs among fresh processes, which get the data once."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    try:
        pickle.dumps(fit)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ParameterError(f"{fit!r} cannot be sent to other processes; use Learn(plan), or n_jobs=1") from error
    context = get_context("spawn")
    with ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_begin, initargs=(dataset, fit)) as pool:
        futures = [pool.submit(_run_here, fold, train, test) for fold, (train, test) in pairs]
        try:
            for future in futures:
                run = future.result()
                for text in run.notes:
                    warnings.warn(text, DataWarning, stacklevel=3)
                yield run
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_work: dict[str, Any] = {}


def _begin(dataset: Dataset, fit: Fit) -> None:
    _work.update(dataset=dataset, fit=fit)


def _run_here(fold: int, train: Rows, test: Rows) -> FoldRun:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        run = run_pair(_work["dataset"], _work["fit"], fold, train, test)
    return replace(run, notes=tuple(dict.fromkeys(str(one.message) for one in caught)))
