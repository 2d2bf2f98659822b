"""Out-of-bag predictions of the training cases, and permutation importance.

About 37 % of the cases (1/e) are out of bag for each tree, so about 37 % of the trees vote on each case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.ensembles.bootstrap import PERMUTATION, permutation, tree_key
from treewright.ensembles.plan import ForestPlan
from treewright.ensembles.random_forest import CaseSampling
from treewright.errors import DataError, ParameterError
from treewright.learners.sampling import child_key
from treewright.tree.forest import Forest
from treewright.tree.packed_forest import Block, blocks, pack_trees
from treewright.tree.tree import LEAF, Tree

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OutOfBag:
    """Out-of-bag predictions and errors of a forest.

    Parameters
    ----------
    predictions : array, cases x classes (or one column of numbers)
        Mean over the trees for which a case is out of bag; NaN for cases that are in every bag.
    voters : array of int
        Number of such trees.
    errors : tuple of float
        After each tree: error rate, or mean squared error, over the cases with an out-of-bag vote so far.
    """

    predictions: Floats
    voters: npt.NDArray[np.int64]
    errors: tuple[float, ...]

    @property
    def error(self) -> float:
        """The error with all trees."""
        return self.errors[-1]

    @property
    def share(self) -> float:
        """Mean share of the cases that are out of bag for a tree."""
        return float(self.voters.mean() / len(self.errors))


def out_of_bag(forest: Forest, dataset: Dataset, plan: ForestPlan) -> OutOfBag:
    """Predict the training cases of a forest out of bag.

    Parameters
    ----------
    forest : Forest
    dataset : Dataset
        The training cases of the forest, in the same order.
    plan : ForestPlan
        The plan of the forest; it determines the bootstrap samples.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import bagging
    >>> from treewright.fitting.learn import fit
    >>> found = out_of_bag(fit(sample("play-tennis"), bagging(trees=50)), sample("play-tennis"), bagging(trees=50))
    >>> bool(0.3 < found.share < 0.45), len(found.errors)
    (True, 50)
    """
    _require_bootstrap(plan)
    sampling = CaseSampling(plan, dataset)
    is_out = np.stack([sampling.counts(tree) == 0 for tree in range(forest.n_trees)], axis=1)
    width = 1 if forest.is_regression else len(forest.schema.classes)
    sums = np.zeros((dataset.n_rows, width))
    wrong = np.zeros(forest.n_trees)
    evaluated_weight = np.zeros(forest.n_trees)
    weights = dataset.case_weights
    for block in blocks(forest.packed, dataset):
        rows = slice(block.first, block.last)
        _add_trees(forest, dataset, block, is_out[rows], sums[rows], weights[rows], wrong, evaluated_weight)
    voters = is_out.sum(axis=1).astype(np.int64)
    with np.errstate(invalid="ignore"):
        predictions = sums / np.where(voters > 0, voters, np.nan)[:, None]
    return OutOfBag(predictions, voters, _filled(wrong, evaluated_weight))


def _require_bootstrap(plan: ForestPlan) -> None:
    if not plan.bootstrap:
        raise ParameterError("without bootstrap samples no case is out of bag; set bootstrap=True")


def _add_trees(
    forest: Forest,
    dataset: Dataset,
    block: Block,
    is_out: npt.NDArray[np.bool_],
    sums: Floats,
    weights: Floats,
    wrong: Floats,
    evaluated_weight: Floats,
) -> None:
    """Add the predictions of the trees for a block of cases, and the errors after each tree."""
    target = _target(dataset)[block.first : block.last]
    prediction = np.zeros_like(sums)
    voters = np.zeros(len(sums))
    mistakes = np.zeros(len(sums))
    for tree in range(forest.n_trees):
        out = is_out[:, tree]
        prediction[:] = 0.0
        forest.add_prediction(prediction, block, tree)
        sums[out] += prediction[out]
        voters[out] += 1
        if forest.is_regression:
            mistakes[out] = (sums[out, 0] / voters[out] - target[out]) ** 2
        else:
            mistakes[out] = forest.codes_of(sums[out]) != target[out]
        wrong[tree] += float((weights * mistakes).sum())
        evaluated_weight[tree] += float(weights[voters > 0].sum())


def _filled(wrong: Floats, evaluated_weight: Floats) -> tuple[float, ...]:
    """Return the errors; those before the first out-of-bag vote are set to the first error."""
    if not np.any(evaluated_weight > 0):
        raise ParameterError("no case was out of bag: there are too few cases or trees for an out-of-bag error")
    errors = wrong / np.where(evaluated_weight > 0, evaluated_weight, 1.0)
    first = int(np.argmax(evaluated_weight > 0))
    errors[:first] = errors[first]
    return tuple(errors.tolist())


@dataclass(frozen=True)
class PermutationImportance:
    """The increase of the out-of-bag error of trees when the values of an attribute are permuted.

    Parameters
    ----------
    importances : array, attributes x trees
        Increase of the error of each tree (error rate, or mean squared error).
    """

    importances: Floats

    @property
    def mean(self) -> Floats:
        """Mean over the trees."""
        mean: Floats = self.importances.mean(axis=1)
        return mean

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over the trees."""
        n = self.importances.shape[1]
        error: Floats = self.importances.std(axis=1, ddof=1 if n > 1 else 0) / np.sqrt(n)
        return error


def permutation_importance(forest: Forest, dataset: Dataset, plan: ForestPlan) -> PermutationImportance:
    """Compute the out-of-bag importance of attributes by permuting their values (Breiman 2001).

    Parameters
    ----------
    forest : Forest
    dataset : Dataset
        The training cases of the forest, in the same order.
    plan : ForestPlan
        The plan of the forest.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import bagging
    >>> from treewright.fitting.learn import fit
    >>> weather, plan = sample("play-tennis"), bagging(trees=50)
    >>> permutation_importance(fit(weather, plan), weather, plan).importances.shape
    (4, 50)
    """
    _require_bootstrap(plan)
    sampling = CaseSampling(plan, dataset)
    result = np.zeros((len(dataset.columns), forest.n_trees))
    for index, tree in enumerate(forest.trees):
        out = np.flatnonzero(sampling.counts(index) == 0)
        if len(out) == 0:
            continue
        cases = dataset.take(out)
        one = _forest_of_one(forest, tree)
        before = _error(one, cases)
        key = tree_key(plan.seed, index, PERMUTATION)
        for attribute in _used(tree):
            shuffled = list(cases.columns)
            shuffled[attribute] = shuffled[attribute][permutation(child_key(key, attribute), len(out))]
            permuted = Dataset(cases.schema, tuple(shuffled), cases.n_rows, cases.target, cases.weights)
            result[attribute, index] = _error(one, permuted) - before
    return PermutationImportance(result)


def _used(tree: Tree) -> list[int]:
    """Return the attributes of splits and surrogates of a tree; permuting others changes nothing."""
    tested = set(tree.attribute[tree.attribute != LEAF].tolist())
    return sorted(tested | {one.split.attribute for ones in tree.surrogates.values() for one in ones})


def _forest_of_one(forest: Forest, tree: Tree) -> Forest:
    return Forest(pack_trees(forest.schema, [tree]), np.ones(1), forest.combining)


def _error(forest: Forest, cases: Dataset) -> float:
    target = _target(cases)
    weights = cases.case_weights
    if not weights.any():
        return 0.0
    if forest.is_regression:
        return float(np.average((forest.answers(cases)[:, 0] - target) ** 2, weights=weights))
    return float(np.average(forest.predict_codes(cases) != target, weights=weights))


def _target(cases: Dataset) -> npt.NDArray[Any]:
    if cases.target is None:
        raise DataError("these cases have no target", source=cases.source)
    return cases.target
