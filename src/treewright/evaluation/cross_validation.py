"""Cross-validation: accuracy or error with interval and baseline.

Each fold is predicted by a model trained on the others. Folds are stratified: every class (or every range of a numeric
target) is spread evenly over them. The predictions of all folds are pooled, so every case counts once. The baseline
always predicts the most frequent class, or the mean.

Other train/test splits are made by the splitters (`treewright.evaluation.splitters`).

Invariants: No case is in both the training and the test rows of a split, and neither of them is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError, ParameterError
from treewright.parameters import check_whole_number
from treewright.tree.model import Predictor

if TYPE_CHECKING:
    from treewright.ensembles.out_of_bag import OutOfBag
    from treewright.tree.forest import Forest

Fit = Callable[[Dataset], Predictor]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class AccuracyEstimate:
    """Accuracy on unseen cases, pooled over the folds."""

    folds: int
    tested: int
    correct: int
    accuracy: float
    low: float
    high: float
    baseline: float
    baseline_class: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True)
class ErrorEstimate:
    """Root mean squared error on unseen cases, pooled over the folds, and the share of variance explained."""

    folds: int
    tested: int
    rmse: float
    r2: float
    baseline_rmse: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def wilson_interval(correct: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval for a proportion (Wilson 1927).

    Examples
    --------
    >>> low, high = wilson_interval(9, 14)
    >>> round(low, 3), round(high, 3)
    (0.388, 0.837)
    """
    if n <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p = correct / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half_width = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, min(middle - half_width, p)), min(
        1.0, max(middle + half_width, p)
    )  # at 0 and 1 rounding could pass p


def stratified_folds(dataset: Dataset, k: int, seed: int = 0) -> npt.NDArray[np.intp]:
    """Return the fold of each case: shuffled by the seed, assigned class by class (or along a numeric target).

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> folds = stratified_folds(sample("play-tennis"), 5)
    >>> np.bincount(folds).tolist()
    [3, 3, 3, 3, 2]
    """
    check_whole_number("seed", seed, 0)
    if not 2 <= k <= dataset.n_rows:
        raise ParameterError(f"the number of folds must be from 2 to the number of cases, {dataset.n_rows}, not {k}")
    if dataset.target is None:
        raise ParameterError("stratified folds need a target, and the data have none")
    shuffled = np.random.default_rng(seed).permutation(dataset.n_rows)
    ordered = shuffled[np.argsort(dataset.target[shuffled], kind="stable")]
    folds = np.empty(dataset.n_rows, dtype=np.intp)
    folds[ordered] = np.arange(dataset.n_rows) % k
    return folds


def fold_splits(folds: npt.NDArray[np.intp], used: int | None = None) -> Iterator[tuple[Rows, Rows]]:
    """Yield training and test rows of each fold, or of the first few."""
    for fold in range(int(folds.max()) + 1 if used is None else used):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def cross_validate(
    dataset: Dataset,
    fit: Fit,
    folds: int = 10,
    *,
    used: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> AccuracyEstimate | ErrorEstimate:
    """Estimate by k-fold cross-validation, on all folds or on the first `used` ones (1: a hold-out).

    Parameters
    ----------
    dataset : Dataset
    fit : callable
        Learns a model from the training part.
    folds, used, seed : int
    progress : callable or None
        Called with the number of finished folds and of all folds.
    """
    folds_of = stratified_folds(dataset, folds, seed)
    number = folds if used is None else used
    if not 1 <= number <= folds:
        raise ParameterError(f"used must be from 1 to the number of folds, {folds}, not {used}")
    tested, predicted = [], []
    for done, (train, test) in enumerate(fold_splits(folds_of, number)):
        model = fit(dataset.take(train))
        cases = dataset.take(test)
        if dataset.schema.task is Task.REGRESSION:
            predicted.append(model.predict(cases))
        else:
            predicted.append(model.predict_codes(cases))
        tested.append(test)
        if progress is not None:
            progress(done + 1, number)
    rows = np.concatenate(tested)
    predicted_values = np.concatenate(predicted)
    actual = np.zeros(0) if dataset.target is None else dataset.target[rows]
    weights = np.ones(len(rows)) if dataset.weights is None else dataset.weights[rows]
    if dataset.schema.task is Task.REGRESSION:
        return error_estimate(number, actual, predicted_values, weights)
    return accuracy_estimate(dataset, number, actual, predicted_values, weights)


def accuracy_estimate(
    dataset: Dataset,
    folds: int,
    actual: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    weights: npt.NDArray[np.float64],
) -> AccuracyEstimate:
    """Return the accuracy of predicted class codes, with its interval and the baseline."""
    total = float(weights.sum())
    right = float(weights[actual == predicted].sum())
    # Unequal weights carry less information than equal ones: use the effective number of cases (Kish).
    effective = total * total / float((weights * weights).sum())
    low, high = wilson_interval(effective * right / total, effective)
    counts = np.bincount(actual.astype(np.intp), weights, len(dataset.schema.classes))
    most = int(np.argmax(counts))
    return AccuracyEstimate(
        folds,
        len(actual),
        int(np.count_nonzero(actual == predicted)),
        right / total,
        low,
        high,
        float(counts[most]) / total,
        dataset.schema.classes[most],
    )


def out_of_bag_estimate(dataset: Dataset, model: Forest, found: OutOfBag) -> AccuracyEstimate | ErrorEstimate:
    """Return the estimate that the out-of-bag predictions of a forest give of its own training cases."""
    tested = np.flatnonzero(found.voters > 0)
    cases = dataset.take(tested)
    actual = target_of(cases)
    weights = np.ones(len(tested)) if cases.weights is None else cases.weights
    if model.is_regression:
        return error_estimate(0, actual, found.predictions[tested, 0], weights)
    return accuracy_estimate(cases, 0, actual, model.codes_of(found.predictions[tested]), weights)


def error_estimate(
    folds: int, actual: npt.NDArray[Any], predicted: npt.NDArray[Any], weights: npt.NDArray[np.float64]
) -> ErrorEstimate:
    """Return the error of predicted numbers, and that of the mean."""
    total = weights.sum()
    squares = float((weights * (actual - predicted) ** 2).sum())
    around_mean = float((weights * (actual - (weights * actual).sum() / total) ** 2).sum())
    r2 = 1 - squares / around_mean if around_mean > 0 else 0.0
    return ErrorEstimate(folds, len(actual), sqrt(squares / total), r2, sqrt(around_mean / total))


def target_of(dataset: Dataset) -> npt.NDArray[Any]:
    """Return the target; raise if there is none."""
    if not isinstance(dataset, Dataset):
        raise ParameterError(f"this takes a dataset, such as treewright.read makes, not {type(dataset).__name__}")
    if dataset.target is None:
        raise DataError("there is no target to learn from", source=dataset.source)
    return dataset.target
