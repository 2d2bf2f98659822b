"""Learners compared on the same folds: which is better, by how much, and whether that is more than noise.

Vocabulary
----------
learner
    What is compared: a plan, a recipe, or any function that makes a model of a dataset.
score
    Accuracy where the target has classes, root mean squared error where it is a number; of a learner, the mean over
    the folds. All learners get the same folds.
pooled
    All folds' predictions counted together, so that every case counts once.
pair
    Two learners and the tests of their difference: the corrected resampled t-test over the folds decides; McNemar's
    test, on the pooled predictions, is told beside it, and decides only where the folds do not spread. Probabilities
    are adjusted for the number of pairs (Holm).
noise
    A difference is more than noise if its adjusted probability is below alpha, 5 % by default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from time import perf_counter
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError, ParameterError
from treewright._base.printable import printable
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.evaluate.comparison import Comparison, LearnerResult, Pair, gap_text, p_text
from treewright.evaluate.estimate import stratified_folds, wilson_interval
from treewright.evaluate.tests_of_difference import (
    McNemar,
    ResampledT,
    corrected_resampled_t,
    holm,
    mcnemar,
)
from treewright.learn import fit
from treewright.model.model import TreeModel
from treewright.model.predictor import Predictor
from treewright.model.rule_model import RuleModel
from treewright.plans import Learner, Plan, RulePlan

Compared = Plan | RulePlan | Learner | Callable[[Dataset], Predictor]
Progress = Callable[[int, int], None]


def compare(
    dataset: Dataset,
    learners: Mapping[str, Compared],
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    fold_of: Sequence[int] | npt.NDArray[Any] | None = None,
    progress: Progress | None = None,
    alpha: float = 0.05,
) -> Comparison:
    """Compare learners on the same folds of one table.

    Parameters
    ----------
    dataset : Dataset
    learners : dict
        Names and plans, recipes or functions from a dataset to a model; two at least.
    folds, repeats, seed : int
        Stratified folds, dealt out anew in each repeat.
    fold_of : array of int or None
        The fold of each case, instead of the three above.
    progress : callable or None
        Called with models learned and models to learn.
    alpha : float
        Below this adjusted probability a difference is more than noise.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45, id3
    >>> result = compare(sample("play-tennis"), {"ID3": id3(), "C4.5": c45()}, folds=7)
    >>> sorted(result.scores), result.pairs[0].more_than_noise
    (['C4.5', 'ID3'], False)
    """
    fits = _fits(learners)
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be between 0 and 1, not {alpha!r}")
    if repeats < 1:
        raise ParameterError(f"repeats must be at least 1, not {repeats}")
    if dataset.target is None:
        raise DataError("learners are compared by the target, and there is none", source=dataset.source)
    if fold_of is None:
        parts = [stratified_folds(dataset, folds, _seed(seed, repeat)) for repeat in range(repeats)]
    else:
        if repeats != 1:
            raise ParameterError("given folds are used once; leave repeats at 1")
        parts = [_given(fold_of, dataset.n_rows)]
        folds = int(parts[0].max()) + 1
    tally = {name: _Tally(dataset) for name in fits}
    total, done = len(fits) * folds * repeats, 0
    for part in parts:
        for fold in range(folds):
            train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
            known, unseen = dataset.take(train), dataset.take(test)
            for name, learn in fits.items():
                tally[name].add(_told_by_name(name, learn), known, unseen, test)
                done += 1
                if progress is not None:
                    progress(done, total)
    accuracy = dataset.schema.task is Task.CLASSIFICATION
    found = [one.result(name) for name, one in tally.items()]
    found.sort(key=lambda one: -round(one.score, 12) if accuracy else round(one.score, 12))  # equal ones as given
    baseline, baseline_class = _baseline(dataset)
    pairs = _pairs(found, tally, dataset.n_rows, folds, alpha)
    measure = "accuracy" if accuracy else "rmse"
    return Comparison(
        dataset.source, dataset.n_rows, folds, repeats, measure, baseline, baseline_class, tuple(found), pairs, alpha
    )


class _Tally:
    """Collects what one learner does over the folds."""

    def __init__(self, dataset: Dataset) -> None:
        self.numbers = dataset.schema.task is Task.REGRESSION
        self.truth: npt.NDArray[Any] = np.zeros(0) if dataset.target is None else np.asarray(dataset.target)
        self.weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
        self.scores: list[float] = []
        self.sizes: list[tuple[float, str]] = []
        self.seconds = 0.0
        self.losses: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]] = []
        """For each fold the cases and their losses: 1 for a wrong class, or the squared error."""

    def add(
        self, learn: Callable[[Dataset], Predictor], known: Dataset, unseen: Dataset, rows: npt.NDArray[np.intp]
    ) -> None:
        began = perf_counter()
        model = learn(known)
        self.seconds += perf_counter() - began
        if self.numbers:
            loss = np.square(np.asarray(model.predict(unseen), dtype=np.float64) - self.truth[rows])
        else:
            loss = (model.predict_codes(unseen) != self.truth[rows]).astype(np.float64)
        self.losses.append((rows, loss))
        self.scores.append(self._score(rows, loss))
        self.sizes.append(_size(model))

    def _score(self, rows: npt.NDArray[np.intp], loss: npt.NDArray[np.float64]) -> float:
        weights = self.weights[rows]
        if not weights.sum() > 0:
            raise DataError("the cases of a fold weigh nothing together; use fewer folds")
        mean = float(np.average(loss, weights=weights))
        return sqrt(mean) if self.numbers else 1 - mean

    def right(self) -> npt.NDArray[np.bool_]:
        """Return which cases were right in the first repeat, in which every case is tested once."""
        result = np.zeros(len(self.truth), dtype=np.bool_)
        tested = 0
        for rows, loss in self.losses:
            if tested == len(self.truth):
                break
            result[rows] = loss == 0
            tested += len(rows)
        return result

    def result(self, name: str) -> LearnerResult:
        rows = np.concatenate([rows for rows, _ in self.losses])
        loss = np.concatenate([loss for _, loss in self.losses])
        pooled, mean = self._score(rows, loss), float(np.mean(self.scores))
        low = high = errors = None
        if not self.numbers:
            # Repeats test the same cases again: the interval is that of one pass, of its effective size (Kish).
            effective = float(self.weights.sum() ** 2 / np.square(self.weights).sum())
            low, high = wilson_interval(mean * effective, effective)
            errors = int(np.count_nonzero(loss))
        units = {unit for _, unit in self.sizes}
        unit = units.pop() if len(units) == 1 else ""
        size = float(np.mean([size for size, _ in self.sizes])) if unit else None
        return LearnerResult(name, tuple(self.scores), mean, pooled, low, high, errors, self.seconds, size, unit)


def _fits(learners: Mapping[str, Compared]) -> dict[str, Callable[[Dataset], Predictor]]:
    if len(learners) < 2:
        raise ParameterError(f"a comparison needs two learners at least, not {len(learners)}")
    return {name: _fit(name, learner) for name, learner in learners.items()}


def _fit(name: str, learner: Any) -> Callable[[Dataset], Predictor]:
    if isinstance(learner, (Plan, RulePlan, *get_args(Learner))):
        chosen: Any = learner  # fit's overloads take one or the other
        return lambda part: fit(part, chosen)
    if not callable(learner):
        raise ParameterError(f"learner {name!r} is no plan, recipe or function, but {type(learner).__name__}")
    function: Callable[[Dataset], Predictor] = learner
    return function


def _told_by_name(name: str, learn: Callable[[Dataset], Predictor]) -> Callable[[Dataset], Predictor]:
    """Learn, and let a refusal say whose it is."""

    def learned(part: Dataset) -> Predictor:
        try:
            return learn(part)
        except ParameterError as error:
            raise ParameterError(f"learner {name!r}: {error}") from error
        except DataError as error:
            raise DataError(f"learner {name!r}: {error}") from error

    return learned


def _seed(seed: int, repeat: int) -> int:
    """Return the seed of a repeat; the first deals the cases out as `cross_validate` does."""
    return seed if repeat == 0 or seed < 0 else int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _given(fold_of: Any, n_rows: int) -> npt.NDArray[np.intp]:
    given = np.asarray(fold_of)
    if given.shape != (n_rows,) or given.dtype.kind not in "iu":
        raise ParameterError(f"fold_of must hold a whole number for each of the {n_rows:,} cases")
    numbers, codes = np.unique(given, return_inverse=True)
    if len(numbers) < 2:
        raise ParameterError("fold_of must name two folds at least")
    return codes.astype(np.intp)


def _size(model: Predictor) -> tuple[float, str]:
    if isinstance(model, TreeModel):
        return model.tree.n_nodes, "nodes"
    return (len(model.rules), "rules") if isinstance(model, RuleModel) else (0, "")


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
            p, decided_by = (1.0, "nothing: the folds do not spread") if other is None else (other.p, "McNemar's test")
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
            f"{'more than noise' if beyond else 'may be noise'} ({p_text(p_adjusted)})."
        )
    return Pair(first.name, second.name, better, test, other, p, p_adjusted, decided_by, beyond, sentence)
