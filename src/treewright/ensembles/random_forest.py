"""Growing bagged trees and random forests, by row number or by row id.

Growing bagged trees and random forests. Every tree depends on the seed and its own number only: its bootstrap, and what
it draws. So the forest is the same for any number of threads, and a forest that was interrupted goes on to the same
bytes.

Forests whose bootstraps are decided by the key of each row, so that they are the same wherever the rows are. Outside
memory rows have no numbers to draw, and no order. Each row is therefore in the bag of a tree as often as a hash of its
key, the seed and the number of the tree says, which is about as often as a bootstrap would draw it: Poisson(1) times
(`treewright.counting.row_sampling`). The same forest can be grown in memory from the same keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.row_sampling import Bags, residues_of_numbers, residues_of_texts, times
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.ensembles.bootstrap import ATTRIBUTES, Longs, balanced_bootstrap, bootstrap, tree_key
from treewright.ensembles.growing import CaseWeights, TreeMaker
from treewright.ensembles.plan import EnsemblePlan, ForestPlan, number_of_cases
from treewright.ensembles.running import Interrupted, Progress, Run, run_trees
from treewright.errors import ParameterError
from treewright.learners.recipe import Intervals, Recipe
from treewright.pruning.methods import ErrorBased, ReducedError
from treewright.tree.forest import Combining, Forest
from treewright.tree.model import Smoothing
from treewright.tree.packed_forest import pack_trees
from treewright.tree.tree import Tree
from treewright.version import __version__

HASHED_AT_ONCE = 100_000
"""Cells below which hashing the data takes no longer than starting a thread for it."""


@dataclass(frozen=True)
class Sampling:
    """Says which cases each tree of a forest has, from nothing but the plan and the classes of the cases.

    Parameters
    ----------
    plan : ForestPlan
    dataset : Dataset

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import bagging
    >>> Sampling(bagging(), sample("play-tennis")).times(0).sum()
    np.int64(14)
    """

    plan: ForestPlan
    dataset: Dataset

    def times(self, tree: int) -> Longs:
        """Return how often each case is in a tree; a case of 0 times is out of its bag."""
        n = self.dataset.n_rows
        if not self.plan.bootstrap:
            return np.ones(n, dtype=np.int64)
        key = tree_key(self.plan.seed, tree)
        size = None if self.plan.max_samples is None else number_of_cases(self.plan.max_samples, n)
        if self.plan.balanced:
            return balanced_bootstrap(key, _codes(self.dataset), size)
        return bootstrap(key, n, size)

    def weights(self, tree: int) -> CaseWeights | None:
        """Return the weights by which a tree is grown, beside those of the cases."""
        if not self.plan.bootstrap and not self.plan.balanced_weights:
            return None
        times = self.times(tree)
        if not self.plan.balanced_weights:
            return times
        codes = _codes(self.dataset)
        counts = np.bincount(codes, times)
        present = np.count_nonzero(counts)
        factor = times.sum() / (present * np.where(counts > 0, counts, 1.0))
        balanced: CaseWeights = times * factor[codes]
        return balanced


@dataclass(frozen=True)
class _Job:
    """Makes the tree of a number; a value that other processes can be given."""

    maker: TreeMaker
    sampling: Sampling

    def __call__(self, number: int) -> Tree:
        plan, data = self.sampling.plan, self.sampling.dataset
        weights = self.sampling.weights(number)
        if weights is not None and data.weights is not None and not np.any(data.weights[weights > 0] > 0):
            weights = None  # a bootstrap of nothing but cases of weight zero says nothing: all cases then
        draw = plan.draw(tree_key(plan.seed, number, ATTRIBUTES), len(data.columns))
        return self.maker.make(weights, draw)


def grow_forest(
    dataset: Dataset,
    plan: ForestPlan,
    *,
    resume: Forest | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    engine: str = "auto",
) -> Forest:
    """Grow a forest.

    Parameters
    ----------
    dataset : Dataset
        With a target; its weights are respected.
    plan : ForestPlan
    resume : Forest or None
        A forest of the same plan and the same cases with fewer trees: they are taken over.
    n_jobs : int or None
        Threads.
    time_limit : float or None
        Seconds after which no further tree is begun.
    smoothing, costs
        As in `Forest`.
    progress : callable or None
        Called with trees done and trees in all.
    engine : {"auto", "interpreted", "compiled"}
        What grows the trees; the forest is the same.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the trees that were finished.
    """
    fitting = plan.for_schema(dataset.schema)
    digest = DataDigest(dataset)
    before = [] if resume is None else list(taken_over(resume, fitting, dataset, digest))
    job = _Job(TreeMaker(dataset, fitting.tree, engine=engine).prepare(), Sampling(fitting, dataset))
    run = Run([])
    if len(before) < plan.trees:
        run = run_trees(job, len(before), plan.trees, n_jobs=n_jobs, time_limit=time_limit, progress=progress)
    trees = before + run.trees
    if not trees:
        raise KeyboardInterrupt
    forest = Forest(
        pack_trees(dataset.schema, trees),
        np.ones(len(trees)),
        Combining.MEAN,
        fitting.to_dict(),
        provenance_of(dataset, digest),
        {},
        smoothing,
        costs,
    )
    if run.interrupted:
        raise Interrupted(forest, plan.trees)
    return forest


def taken_over(before: Forest, plan: EnsemblePlan, dataset: Dataset, digest: DataDigest) -> tuple[Tree, ...]:
    """Return the trees of an earlier run, which must have been of the same plan on the same cases."""
    mine, theirs = plan.to_dict(), dict(before.recipe)
    wanted, found = int(mine.pop("trees")), theirs.pop("trees", None)
    different = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
    if different:
        raise ParameterError(f"the forest to go on with was learned otherwise: {', '.join(different)} differ")
    if before.schema != dataset.schema or before.provenance.get("data") != digest.value:
        raise ParameterError("the forest to go on with was learned from other data")
    if before.n_trees > wanted:
        raise ParameterError(f"the forest to go on with has {before.n_trees} trees (of {found}), more than {wanted}")
    return before.trees


def provenance_of(dataset: Dataset, digest: DataDigest) -> dict[str, Any]:
    """Return what a forest was learned from, with a digest that tells the cases from others."""
    return {
        "treewright": __version__,
        "rows": dataset.n_rows,
        "source": dataset.source,
        "data": digest.value,
    }


def digest_of(dataset: Dataset) -> str:
    """Return a digest of all cells, targets and weights, in their order."""
    digest = hashlib.sha256()
    for column in (*dataset.columns, dataset.target, dataset.weights):
        digest.update(b"|" if column is None else np.ascontiguousarray(column).data)
    return "sha256:" + digest.hexdigest()


class DataDigest:
    """The digest of a dataset; a thread computes that of a large one while the trees grow.

    It is complete before the fit returns. A later moment, such as saving, would be wrong: columns may share the memory
    of the caller's arrays, which the caller may change after the fit.

    Parameters
    ----------
    dataset : Dataset

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> DataDigest(sample("play-tennis")).value == digest_of(sample("play-tennis"))
    True
    """

    def __init__(self, dataset: Dataset) -> None:
        self._digest: Future[str] = Future()
        if dataset.n_rows * (len(dataset.columns) + 1) < HASHED_AT_ONCE:
            self._digest.set_result(digest_of(dataset))
            return
        pool = ThreadPoolExecutor(1, "treewright-digest")
        self._digest = pool.submit(digest_of, dataset)
        pool.shutdown(wait=False)

    @property
    def value(self) -> str:
        """The digest as `digest_of` returns it, waiting until it is known."""
        return self._digest.result()


def with_log(forest: Forest, **numbers: tuple[float, ...]) -> Forest:
    """Return the forest with more in its log."""
    return replace(forest, log={**forest.log, **numbers})


def _codes(dataset: Dataset) -> Longs:
    return np.zeros(0, dtype=np.int64) if dataset.target is None else dataset.target.astype(np.int64)


Costs = tuple[tuple[float, ...], ...]


def bags_of(plan: ForestPlan, key: str | None) -> Bags:
    """Return the bags of the trees of a plan; without a key only if no rows are drawn.

    Examples
    --------
    >>> from treewright.ensembles.plan import forest
    >>> len(bags_of(forest(trees=3), "id"))
    3
    """
    if plan.bootstrap and key is None:
        raise ParameterError(
            "rows outside memory have no numbers, so a bootstrap draws them by a column that names every row: "
            "say which (key=..., --key COL), or grow every tree from all rows (bootstrap=False)"
        )
    return Bags.of_keys(key if plan.bootstrap else None, (tree_key(plan.seed, tree) for tree in range(plan.trees)))


def require_possible(plan: ForestPlan, schema: Schema, name: str) -> None:
    """Raise unless the forest of a plan can be counted outside memory."""
    tree = plan.tree
    if plan.max_samples is not None or plan.balanced or plan.balanced_weights:
        raise ParameterError(
            f"{name} draws every row by itself: leave out max_samples, balanced and balanced_weights, or read the table"
        )
    recipe = tree.learner.recipe
    if recipe is None:
        raise ParameterError(f"{tree.name} trees of a forest are not grown by {name}: ID3, C4.5 and CART are")
    if recipe.numeric_bins is not None:
        raise ParameterError(f"bins are made from numbers in memory, and not by {name}: leave bins out")
    if recipe.stopping.max_leaves is not None:
        raise ParameterError("under a limit of leaves trees cannot share a scan: limit the depth instead")
    if isinstance(recipe.numeric, Intervals) and any(column.is_numeric for column in schema.attributes):
        raise ParameterError(
            f"{tree.name} makes intervals of numbers, for every tree of a forest its own, which {name} does not count: "
            "use C4.5 or CART"
        )
    if any(isinstance(method, (ErrorBased, ReducedError)) for method in tree.pruning):
        raise ParameterError(f"trees of a forest are not pruned by cases that {name} holds: leave them unpruned")


def recipes_of(plan: ForestPlan, n_attributes: int) -> list[Recipe]:
    """Return the recipe of each tree: they differ in what is left to chance."""
    recipe = plan.tree.learner.recipe
    if recipe is None:
        raise ParameterError(f"{plan.tree.name} does not grow by a recipe")
    recipes = []
    for tree in range(plan.trees):
        draw = plan.draw(tree_key(plan.seed, tree, ATTRIBUTES), n_attributes)
        recipes.append(recipe if draw is None else replace(recipe, draw=draw))
    return recipes


def joined(
    trees: Sequence[Tree],
    plan: ForestPlan,
    key: str | None,
    provenance: Mapping[str, Any],
    smoothing: Smoothing = None,
    costs: Costs | None = None,
) -> Forest:
    """Make a forest of trees; it says that its bootstraps are decided by a key."""
    recipe = plan.to_dict()
    if plan.bootstrap:
        recipe |= {"bootstrap": "poisson", "key": key}
    schema = trees[0].schema
    return Forest(
        pack_trees(schema, trees), np.ones(len(trees)), Combining.MEAN, recipe, provenance, {}, smoothing, costs
    )


def grow_forest_by_key(
    dataset: Dataset,
    keys: npt.NDArray[Any] | Sequence[str],
    plan: ForestPlan,
    key: str = "key",
    *,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
) -> Forest:
    """Grow in memory the forest that any engine grows from the same rows.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    keys : array of whole numbers, or sequence of str
        The key of each row.
    plan : ForestPlan
    key : str
        The name of the column, which the model tells.
    smoothing, costs
        As in `Forest`.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import forest
    >>> grow_forest_by_key(sample("play-tennis"), np.arange(14), forest(trees=5)).n_trees
    5
    """
    fitting = plan.for_schema(dataset.schema)
    bags = bags_of(fitting, key)
    maker = TreeMaker(dataset, fitting.tree).prepare()
    array = np.asarray(keys)
    residues = residues_of_numbers(array) if array.dtype.kind in "iu" else residues_of_texts(map(str, keys))
    own = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    trees = []
    for tree, numbers in enumerate(bags.numbers):
        often = times(residues, numbers)
        drawn = often if np.any(own * often > 0) else np.ones_like(often)  # as outside memory: all cases then
        draw = fitting.draw(tree_key(fitting.seed, tree, ATTRIBUTES), len(dataset.columns))
        trees.append(maker.make(drawn if fitting.bootstrap else None, draw))
    provenance = {"treewright": __version__, "rows": dataset.n_rows, "source": dataset.source}
    return joined(trees, fitting, key, provenance, smoothing, costs)
