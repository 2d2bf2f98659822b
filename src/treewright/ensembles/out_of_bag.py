"""Honest answers for the training cases: each is asked only of the trees that have not seen it.

About 37 % of the cases (1/e) are out of the bag of any one tree, so every case has about 37 % of the trees for judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.ensembles.bootstrap import PERMUTATION, permutation, tree_key
from treewright.ensembles.plan import ForestPlan
from treewright.ensembles.random_forest import Sampling
from treewright.errors import DataError, ParameterError
from treewright.learners.sampling import child_key
from treewright.tree.forest import Forest
from treewright.tree.packed_forest import Block, blocks, pack_trees
from treewright.tree.tree import LEAF, Tree

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OutOfBag:
    """What the trees say of the cases that they have not seen.

    Parameters
    ----------
    answers : array, cases x classes (or one column of numbers)
        Mean over the trees for which a case was out of the bag; NaN for cases that were in every bag.
    judges : array of int
        Number of such trees.
    errors : tuple of float
        After each tree: the share of mistakes, or the mean squared error, over the cases that had a judge by then.
    """

    answers: Floats
    judges: npt.NDArray[np.int64]
    errors: tuple[float, ...]

    @property
    def error(self) -> float:
        """The error with all trees."""
        return self.errors[-1]

    @property
    def share(self) -> float:
        """Mean share of the cases that are out of the bag of a tree."""
        return float(self.judges.mean() / len(self.errors))


def out_of_bag(forest: Forest, dataset: Dataset, plan: ForestPlan) -> OutOfBag:
    """Ask a forest about its own training cases.

    Parameters
    ----------
    forest : Forest
    dataset : Dataset
        The cases that it was grown from, in the same order.
    plan : ForestPlan
        By which it was grown; it tells the bootstraps again.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import bagging
    >>> from treewright.fitting.learn import fit
    >>> found = out_of_bag(fit(sample("play-tennis"), bagging(trees=50)), sample("play-tennis"), bagging(trees=50))
    >>> bool(0.3 < found.share < 0.45), len(found.errors)
    (True, 50)
    """
    if not plan.bootstrap:
        raise ParameterError("without bootstraps no case is out of a bag; set bootstrap=True")
    sampling = Sampling(plan, dataset)
    outside = np.stack([sampling.times(tree) == 0 for tree in range(forest.n_trees)], axis=1)
    width = 1 if forest.is_regression else len(forest.schema.classes)
    sums = np.zeros((dataset.n_rows, width))
    wrong = np.zeros(forest.n_trees)
    judged = np.zeros(forest.n_trees)
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    for block in blocks(forest.packed, dataset):
        rows = slice(block.first, block.last)
        _follow(forest, dataset, block, outside[rows], sums[rows], weights[rows], wrong, judged)
    judges = outside.sum(axis=1).astype(np.int64)
    with np.errstate(invalid="ignore"):
        answers = sums / np.where(judges > 0, judges, np.nan)[:, None]
    return OutOfBag(answers, judges, _filled(wrong, judged))


def _follow(
    forest: Forest,
    dataset: Dataset,
    block: Block,
    outside: npt.NDArray[np.bool_],
    sums: Floats,
    weights: Floats,
    wrong: Floats,
    judged: Floats,
) -> None:
    """Add the answers of one tree after the other for a block of cases, and count the mistakes after each."""
    target = _target(dataset)[block.first : block.last]
    said = np.zeros_like(sums)
    judges = np.zeros(len(sums))
    mistakes = np.zeros(len(sums))
    for tree in range(forest.n_trees):
        out = outside[:, tree]
        said[:] = 0.0
        forest.add_prediction(said, block, tree)
        sums[out] += said[out]
        judges[out] += 1
        if forest.is_regression:
            mistakes[out] = (sums[out, 0] / judges[out] - target[out]) ** 2
        else:
            mistakes[out] = forest.codes_of(sums[out]) != target[out]
        wrong[tree] += float((weights * mistakes).sum())
        judged[tree] += float(weights[judges > 0].sum())


def _filled(wrong: Floats, judged: Floats) -> tuple[float, ...]:
    """Return the errors; before the first case was judged, the first error there is."""
    if not np.any(judged > 0):
        raise ParameterError("no case was out of any bag: there are too few cases or trees for an out-of-bag error")
    errors = wrong / np.where(judged > 0, judged, 1.0)
    first = int(np.argmax(judged > 0))
    errors[:first] = errors[first]
    return tuple(errors.tolist())


@dataclass(frozen=True)
class PermutationImportance:
    """How much worse trees do on their out-of-bag cases when the values of an attribute are shuffled among these.

    Parameters
    ----------
    importances : array, attributes x trees
        Rise of the error of each tree (share of mistakes, or mean squared error).
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
    """Measure the importance of attributes by shuffling their values (Breiman 2001), out of bag.

    Parameters
    ----------
    forest : Forest
    dataset : Dataset
        The cases that it was grown from, in the same order.
    plan : ForestPlan
        By which it was grown.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import bagging
    >>> from treewright.fitting.learn import fit
    >>> weather, plan = sample("play-tennis"), bagging(trees=50)
    >>> permutation_importance(fit(weather, plan), weather, plan).importances.shape
    (4, 50)
    """
    if not plan.bootstrap:
        raise ParameterError("without bootstraps no case is out of a bag; set bootstrap=True")
    sampling = Sampling(plan, dataset)
    result = np.zeros((len(dataset.columns), forest.n_trees))
    for place, tree in enumerate(forest.trees):
        out = np.flatnonzero(sampling.times(place) == 0)
        if len(out) == 0:
            continue
        cases = dataset.take(out)
        one = _alone(forest, tree)
        plain = _error(one, cases)
        key = tree_key(plan.seed, place, PERMUTATION)
        for attribute in _used(tree):
            shuffled = list(cases.columns)
            shuffled[attribute] = shuffled[attribute][permutation(child_key(key, attribute), len(out))]
            moved = Dataset(cases.schema, tuple(shuffled), cases.n_rows, cases.target, cases.weights)
            result[attribute, place] = _error(one, moved) - plain
    return PermutationImportance(result)


def _used(tree: Tree) -> list[int]:
    """Return the attributes that a tree tests, also by surrogates: shuffling others changes nothing."""
    tested = set(tree.attribute[tree.attribute != LEAF].tolist())
    return sorted(tested | {one.split.attribute for ones in tree.surrogates.values() for one in ones})


def _alone(forest: Forest, tree: Tree) -> Forest:
    return Forest(pack_trees(forest.schema, [tree]), np.ones(1), forest.combining)


def _error(forest: Forest, cases: Dataset) -> float:
    target = _target(cases)
    weights = np.ones(cases.n_rows) if cases.weights is None else cases.weights
    if not weights.any():
        return 0.0
    if forest.is_regression:
        return float(np.average((forest.answers(cases)[:, 0] - target) ** 2, weights=weights))
    return float(np.average(forest.predict_codes(cases) != target, weights=weights))


def _target(cases: Dataset) -> npt.NDArray[Any]:
    if cases.target is None:
        raise DataError("these cases have no target", source=cases.source)
    return cases.target
