"""Comparison of learners on the same folds: which is better, by how much, and whether that is significant.

A learner is a plan, a recipe, the name of an algorithm, an estimator, or any function that makes a model of a dataset.
Its score is the mean accuracy or root mean squared error over the folds; pooled results count all predictions together.
The corrected resampled t-test over the folds decides about each pair of learners. McNemar's test on the pooled
predictions is reported beside it, and decides only where the folds do not vary. p-values are adjusted for the number of
pairs (Holm); a difference is significant if its adjusted p-value is below alpha, 5 % by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError, ParameterError
from treewright._base.printable import printable
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.evaluate.comparison import Comparison, LearnerResult, Pair, gap_text, p_text
from treewright.evaluate.estimate import Fit, fold_pairs, stratified_folds, wilson_interval
from treewright.evaluate.learners import fit_of, named_learners
from treewright.evaluate.runs import FoldRun, run_pairs
from treewright.evaluate.tests_of_difference import (
    McNemar,
    ResampledT,
    corrected_resampled_t,
    holm,
    mcnemar,
)
from treewright.evaluate.ways import check_whole, given_folds, target_of

Progress = Callable[[int, int], None]

MCNEMAR = "McNemar's test"


def compare(
    dataset: Dataset,
    learners: Mapping[str, Any] | Iterable[Any],
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    fold_of: Sequence[int] | npt.NDArray[Any] | None = None,
    progress: Progress | None = None,
    alpha: float = 0.05,
    *,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare learners on the same folds of one table.

    Parameters
    ----------
    dataset : Dataset
    learners : dict or list
        Names and plans, recipes, names of algorithms, estimators or functions from a dataset to a model; two at
        least. A list makes the names.
    folds, repeats, seed : int
        Stratified folds, dealt out anew in each repeat.
    fold_of : array of int or None
        The fold of each case, instead of the three above.
    progress : callable or None
        Called with models learned and models to learn.
    alpha : float
        Below this adjusted probability a difference is more than noise.
    n_jobs : int or None
        Threads or processes that share the work, as of `estimate`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> result = compare(sample("play-tennis"), {"ID3": "id3", "C4.5": c45()}, folds=7)
    >>> sorted(result.scores), result.pairs[0].more_than_noise
    (['C4.5', 'ID3'], False)
    >>> sorted(compare(sample("play-tennis"), ["id3", "c45"], folds=7).scores)
    ['c45', 'id3']
    """
    target_of(dataset)
    fits = _fits(learners)
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be between 0 and 1, not {alpha!r}")
    check_whole("repeats", repeats, 1)
    if n_jobs not in (None, -1):
        check_whole("n_jobs", n_jobs, 1)
    if fold_of is None:
        check_whole("the number of folds", folds, 2)
        parts = [stratified_folds(dataset, folds, _seed(seed, repeat)) for repeat in range(repeats)]
    else:
        if repeats != 1:
            raise ParameterError("given folds are used once; leave repeats at 1")
        parts = [given_folds(fold_of, dataset.n_rows)]
        folds = int(parts[0].max()) + 1
    tally = {name: _Tally(dataset) for name in fits}
    number = folds * repeats
    for place, (name, fit) in enumerate(fits.items()):
        pairs = enumerate((pair for part in parts for pair in fold_pairs(part)), start=1)
        runs = []
        with _told_by_name(name):
            for run in run_pairs(dataset, fit, pairs, number, n_jobs):
                runs.append(run)
                if progress is not None:
                    progress(place * number + len(runs), len(fits) * number)
        for run in runs:
            tally[name].add(run)
    accuracy = dataset.schema.task is Task.CLASSIFICATION
    found = [one.result(name) for name, one in tally.items()]
    found.sort(key=lambda one: -round(one.score, 12) if accuracy else round(one.score, 12))  # equal ones as given
    baseline, baseline_class = _baseline(dataset)
    pairs_found = _pairs(found, tally, dataset.n_rows, folds, alpha)
    measure = "accuracy" if accuracy else "rmse"
    return Comparison(
        dataset.source,
        dataset.n_rows,
        folds,
        repeats,
        measure,
        baseline,
        baseline_class,
        tuple(found),
        pairs_found,
        alpha,
    )


class _Tally:
    """Collects what one learner does over the folds."""

    def __init__(self, dataset: Dataset) -> None:
        self.numbers = dataset.schema.task is Task.REGRESSION
        self.truth: npt.NDArray[Any] = np.zeros(0) if dataset.target is None else np.asarray(dataset.target)
        self.weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
        self.scores: list[float] = []
        self.sizes: list[tuple[int | None, str]] = []
        self.seconds = 0.0
        self.losses: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]] = []
        """For each fold the cases and their losses: 1 for a wrong class, or the squared error."""

    def add(self, run: FoldRun) -> None:
        truth = self.truth[run.rows]
        loss = np.square(run.predicted - truth) if self.numbers else (run.predicted != truth).astype(np.float64)
        self.seconds += run.result.seconds
        self.losses.append((run.rows, loss))
        self.scores.append(self._score(run.rows, loss))
        self.sizes.append((run.size, run.size_of))

    def _score(self, rows: npt.NDArray[np.intp], loss: npt.NDArray[np.float64]) -> float:
        weights = self.weights[rows]
        if not weights.sum() > 0:
            raise DataError("the cases of a fold weigh nothing together; use fewer folds")
        mean = float(np.average(loss, weights=weights))
        return sqrt(mean) if self.numbers else 1 - mean

    def right(self) -> npt.NDArray[np.bool_]:
        """Return which cases that weigh anything were right in the first repeat, which tests every case once."""
        result = np.zeros(len(self.truth), dtype=np.bool_)
        tested = 0
        for rows, loss in self.losses:
            if tested == len(self.truth):
                break
            result[rows] = loss == 0
            tested += len(rows)
        return result[self.weights > 0]

    def result(self, name: str) -> LearnerResult:
        rows = np.concatenate([rows for rows, _ in self.losses])
        loss = np.concatenate([loss for _, loss in self.losses])
        pooled, mean = self._score(rows, loss), float(np.mean(self.scores))
        low = high = errors = None
        if not self.numbers:
            # Repeats test the same cases again: the interval is that of one pass, of its effective size (Kish).
            effective = float(self.weights.sum() ** 2 / np.square(self.weights).sum())
            low, high = wilson_interval(mean * effective, effective)
            errors = int(np.count_nonzero(loss[self.weights[rows] > 0]))
        units = {unit for _, unit in self.sizes}
        unit = units.pop() if len(units) == 1 else ""
        size = float(np.mean([size or 0 for size, _ in self.sizes])) if unit else None
        return LearnerResult(name, tuple(self.scores), mean, pooled, low, high, errors, self.seconds, size, unit)


def _fits(learners: Any) -> dict[str, Fit]:
    named = named_learners(learners)
    if len(named) < 2:
        raise ParameterError(f"a comparison needs two learners at least, not {len(named)}")
    return {name: fit_of(learner, name) for name, learner in named.items()}


@contextmanager
def _told_by_name(name: str) -> Iterator[None]:
    """Let a refusal say whose it is."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"learner {name!r}: {error}") from error
    except DataError as error:
        raise DataError(f"learner {name!r}: {error}") from error


def _seed(seed: int, repeat: int) -> int:
    """Return the seed of a repeat; the first deals the cases out as `cross_validate` does."""
    return seed if repeat == 0 or seed < 0 else int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _baseline(dataset: Dataset) -> tuple[float, str | None]:
    truth = np.zeros(0) if dataset.target is None else dataset.target
    weights = np.ones(len(truth)) if dataset.weights is None else dataset.weights
    if dataset.schema.task is Task.REGRESSION:
        mean = np.average(truth, weights=weights)
        return sqrt(float(np.average((truth - mean) ** 2, weights=weights))), None
    counts = np.bincount(truth.astype(np.intp), weights, len(dataset.schema.classes))
    most = int(np.argmax(counts))
    return float(counts[most] / counts.sum()), dataset.schema.classes[most]


def _pairs(
    found: Sequence[LearnerResult], tally: Mapping[str, _Tally], cases: int, folds: int, alpha: float
) -> tuple[Pair, ...]:
    n_test = cases / folds
    drafts: list[tuple[LearnerResult, LearnerResult, ResampledT, McNemar | None, float, str]] = []
    right = {one.name: tally[one.name].right() for one in found if one.errors is not None}
    for first, second in combinations(found, 2):
        test = corrected_resampled_t(np.subtract(first.scores, second.scores), cases - n_test, n_test)
        other = None
        if right:
            a, b = right[first.name], right[second.name]
            other = mcnemar(int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a)))
        p, decided_by = test.p, "corrected resampled t-test"
        if test.spread == 0 and test.mean != 0:  # equal differences on all folds: nothing to measure noise by
            p, decided_by = (1.0, "nothing: the folds do not spread") if other is None else (other.p, MCNEMAR)
        drafts.append((first, second, test, other, p, decided_by))
    adjusted = holm([draft[4] for draft in drafts])
    measure = "accuracy" if right else "rmse"
    return tuple(_pair(*draft, p_adjusted, measure, alpha) for draft, p_adjusted in zip(drafts, adjusted, strict=True))


def _pair(
    first: LearnerResult,
    second: LearnerResult,
    test: ResampledT,
    other: McNemar | None,
    p: float,
    decided_by: str,
    p_adjusted: float,
    measure: str,
    alpha: float,
) -> Pair:
    same = abs(test.mean) < 1e-12
    better = None if same else first.name  # they come sorted
    beyond = not same and p_adjusted < alpha
    if same and first.scores == second.scores:
        sentence = f"{printable(first.name)} and {printable(second.name)} are equal on every fold."
    elif same:
        sentence = f"{printable(first.name)} and {printable(second.name)} are equal on average."
    else:
        sentence = (
            f"{printable(first.name)} is ahead of {printable(second.name)} by {gap_text(test, measure)}: "
            f"{'significant' if beyond else 'not significant'} "
            f"({_probabilities(p_adjusted, decided_by, other)})."
        )
    return Pair(first.name, second.name, better, test, other, p, p_adjusted, decided_by, beyond, sentence)


def _probabilities(p_adjusted: float, decided_by: str, other: McNemar | None) -> str:
    """Return the deciding p-value, and McNemar's beside it."""
    if other is None:
        return p_text(p_adjusted)
    told = f"McNemar {other.only_first:,} to {other.only_second:,}"
    if decided_by == MCNEMAR:
        return f"{told}, {p_text(p_adjusted)}"
    return f"{p_text(p_adjusted)}; {told}, {p_text(other.p)}"
