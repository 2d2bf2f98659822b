"""Growing bagged trees and random forests, with bootstrap samples by row number or by row id.

The bootstrap sample and the random choices of a tree depend only on the seed and the number of the tree. So the forest
is the same for any number of threads, and resuming an interrupted forest gives the same bytes.

Out of core, rows have neither numbers nor an order. A hash of the row id, the seed and the number of the tree then
determines how often the sample of a tree contains a row, with the distribution of a bootstrap: about Poisson(1)
(`treewright.counting.row_sampling`). The same forest can be grown in memory from the same row ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright import plans
from treewright.counting.row_sampling import BootstrapSamples, hashes_of_integers, hashes_of_texts, sample_counts
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.ensembles.bootstrap import ATTRIBUTES, Longs, balanced_bootstrap, bootstrap, tree_key
from treewright.ensembles.growing import CaseWeights, TreeMaker
from treewright.ensembles.plan import EnsemblePlan, ForestPlan, number_of_cases
from treewright.ensembles.running import Interrupted, Progress, run_trees, threads_for
from treewright.errors import ParameterError
from treewright.learners.recipe import Intervals, Recipe
from treewright.pruning.methods import ErrorBased, ReducedError
from treewright.tree.forest import Combining, Forest
from treewright.tree.model import Smoothing
from treewright.tree.packed_forest import pack_trees
from treewright.tree.tree import Tree

HASHED_AT_ONCE = 100_000
"""Least number of cells to hash in a separate thread; below, starting the thread takes longer."""


@dataclass(frozen=True)
class CaseSampling:
    """The sample of cases of each tree of a forest, from the plan and the classes of the cases alone.

    Parameters
    ----------
    plan : ForestPlan
    dataset : Dataset

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import bagging
    >>> CaseSampling(bagging(), sample("play-tennis")).counts(0).sum()
    np.int64(14)
    """

    plan: ForestPlan
    dataset: Dataset

    def counts(self, tree: int) -> Longs:
        """Return how often the sample of a tree contains each case; 0 means out of bag."""
        n = self.dataset.n_rows
        if not self.plan.bootstrap:
            return np.ones(n, dtype=np.int64)
        key = tree_key(self.plan.seed, tree)
        size = None if self.plan.max_samples is None else number_of_cases(self.plan.max_samples, n)
        if self.plan.balanced:
            return balanced_bootstrap(key, _codes(self.dataset), size)
        return bootstrap(key, n, size)

    def weights(self, tree: int) -> CaseWeights | None:
        """Return the weights of the cases for a tree, by which their own weights are multiplied."""
        if not self.plan.bootstrap and not self.plan.balanced_weights:
            return None
        counts = self.counts(tree)
        if not self.plan.balanced_weights:
            return counts
        codes = _codes(self.dataset)
        class_counts = np.bincount(codes, counts)
        present = np.count_nonzero(class_counts)
        factor = counts.sum() / (present * np.where(class_counts > 0, class_counts, 1.0))
        balanced: CaseWeights = counts * factor[codes]
        return balanced


@dataclass(frozen=True)
class _Job:
    """Makes the tree with a given number; it can be pickled."""

    maker: TreeMaker
    sampling: CaseSampling

    def __call__(self, number: int) -> Tree:
        plan, data = self.sampling.plan, self.sampling.dataset
        weights = self.sampling.weights(number)
        if weights is not None and data.weights is not None and not np.any(data.weights[weights > 0] > 0):
            weights = None  # a sample of cases of weight zero only is replaced by all cases
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
        A forest of the same plan and the same cases with fewer trees, to which trees are added.
    n_jobs : int or None
        Threads.
    time_limit : float or None
        Seconds after which no further tree is started.
    smoothing, costs
        As in `Forest`.
    progress : callable or None
        Called with the number of finished trees and of all trees.
    engine : {"auto", "interpreted", "compiled"}
        What grows the trees; the forest is the same.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the trees that were finished.
    """
    fitting = plan.for_schema(dataset.schema)
    digest = DataDigest(dataset)
    earlier = [] if resume is None else list(resumed_trees(resume, fitting, dataset, digest))
    job = _Job(TreeMaker(dataset, fitting.tree, engine=engine).prepare(), CaseSampling(fitting, dataset))
    trees, interrupted = earlier, False
    if len(earlier) < plan.trees:
        grown, interrupted = run_trees(
            job, len(earlier), plan.trees, n_jobs=n_jobs, time_limit=time_limit, progress=progress
        )
        trees = earlier + grown
    if not trees:
        raise KeyboardInterrupt
    forest = Forest(
        pack_trees(dataset.schema, trees, threads_for(n_jobs)),
        np.ones(len(trees)),
        Combining.MEAN,
        fitting.to_dict(),
        provenance_of(dataset, digest),
        {},
        smoothing,
        costs,
    )
    if interrupted:
        raise Interrupted(forest, plan.trees)
    return forest


def resumed_trees(earlier: Forest, plan: EnsemblePlan, dataset: Dataset, digest: DataDigest) -> tuple[Tree, ...]:
    """Return the trees of an earlier run; raise unless it had the same plan and the same cases."""
    mine, theirs = plan.to_dict(), dict(earlier.recipe)
    wanted, found = int(mine.pop("trees")), theirs.pop("trees", None)
    different = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
    if different:
        raise ParameterError(f"the forest to resume was trained with other options: {', '.join(different)} differ")
    if earlier.schema != dataset.schema or earlier.provenance.get("data") != digest.value:
        raise ParameterError("the forest to resume was trained on other data")
    if earlier.n_trees > wanted:
        raise ParameterError(f"the forest to resume has {earlier.n_trees} trees (of {found}), more than {wanted}")
    return earlier.trees


def provenance_of(dataset: Dataset, digest: DataDigest) -> dict[str, Any]:
    """Return the provenance of a forest, with a digest of its cases."""
    return plans.provenance(dataset.n_rows, dataset.source) | {"data": digest.value}


def digest_of(dataset: Dataset) -> str:
    """Return a digest of all cells, targets and weights, in their order."""
    digest = hashlib.sha256()
    for column in (*dataset.columns, dataset.target, dataset.weights):
        digest.update(b"|" if column is None else np.ascontiguousarray(column).data)
    return "sha256:" + digest.hexdigest()


class DataDigest:
    """The digest of a dataset; for a large one a thread computes it while the trees grow.

    It is complete before the fit returns and not computed later, for example when saving: columns may share the memory
    of arrays that the caller may change after the fit.

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
        """The digest as `digest_of` returns it; waits for the thread."""
        return self._digest.result()


def with_log(forest: Forest, **numbers: tuple[float, ...]) -> Forest:
    """Return the forest with further entries in its log."""
    return replace(forest, log={**forest.log, **numbers})


def _codes(dataset: Dataset) -> Longs:
    return np.zeros(0, dtype=np.int64) if dataset.target is None else dataset.target.astype(np.int64)


Costs = tuple[tuple[float, ...], ...]


def bootstrap_samples_of(plan: ForestPlan, key: str | None) -> BootstrapSamples:
    """Return the bootstrap samples of the trees of a plan; a key is required if rows are sampled.

    Examples
    --------
    >>> from treewright.ensembles.plan import forest
    >>> len(bootstrap_samples_of(forest(trees=3), "id"))
    3
    """
    if plan.bootstrap and key is None:
        raise ParameterError(
            "a bootstrap out of core samples rows by a key, a column that identifies every row: "
            "name it (key=..., --key COL), or grow every tree from all rows (bootstrap=False)"
        )
    return BootstrapSamples.from_tree_keys(
        key if plan.bootstrap else None, (tree_key(plan.seed, tree) for tree in range(plan.trees))
    )


def require_forest_out_of_core(plan: ForestPlan, schema: Schema, name: str) -> None:
    """Raise unless the forest of a plan can be counted out of core."""
    tree = plan.tree
    if plan.max_samples is not None or plan.balanced or plan.balanced_weights:
        raise ParameterError(
            f"{name} samples each row independently: omit max_samples, balanced and balanced_weights, or read the table"
        )
    recipe = tree.learner.recipe
    if recipe is None:
        raise ParameterError(f"{name} does not support forests of {tree.name} trees; use ID3, C4.5 or CART")
    if recipe.numeric_bins is not None:
        raise ParameterError(f"{name} does not support bins: omit them")
    if recipe.stopping.max_leaves is not None:
        raise ParameterError("with a limit on leaves trees cannot share a scan: limit the depth instead")
    if isinstance(recipe.numeric, Intervals) and any(column.is_numeric for column in schema.attributes):
        raise ParameterError(
            f"{tree.name} discretises numeric attributes separately for each tree, which {name} does not support: "
            "use C4.5 or CART"
        )
    if any(isinstance(method, (ErrorBased, ReducedError)) for method in tree.pruning):
        raise ParameterError(f"{name} does not support forests of trees that are pruned on cases: leave them unpruned")


def tree_recipes(plan: ForestPlan, n_attributes: int) -> list[Recipe]:
    """Return the recipe of each tree; they differ in their random seeds."""
    recipe = plan.tree.learner.recipe
    if recipe is None:
        raise ParameterError(f"{plan.tree.name} does not grow by a recipe")
    recipes = []
    for tree in range(plan.trees):
        draw = plan.draw(tree_key(plan.seed, tree, ATTRIBUTES), n_attributes)
        recipes.append(recipe if draw is None else replace(recipe, draw=draw))
    return recipes


def forest_of_trees(
    trees: Sequence[Tree],
    plan: ForestPlan,
    key: str | None,
    provenance: Mapping[str, Any],
    smoothing: Smoothing = None,
    costs: Costs | None = None,
) -> Forest:
    """Make a forest of trees whose bootstrap samples depend on a key."""
    recipe = plan.to_dict()
    if plan.bootstrap:
        recipe |= {"bootstrap": "poisson", "key": key}
    schema = trees[0].schema
    return Forest(
        pack_trees(schema, trees), np.ones(len(trees)), Combining.MEAN, recipe, provenance, {}, smoothing, costs
    )


def grow_forest_by_row_id(
    dataset: Dataset,
    row_ids: npt.NDArray[Any] | Sequence[str],
    plan: ForestPlan,
    key: str = "key",
    *,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
) -> Forest:
    """Grow in memory the same forest that an out-of-core engine grows from the same rows.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    row_ids : array of int, or sequence of str
        The row id of each row.
    plan : ForestPlan
    key : str
        Name of the column of row ids, which the model stores.
    smoothing, costs
        As in `Forest`.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import forest
    >>> grow_forest_by_row_id(sample("play-tennis"), np.arange(14), forest(trees=5)).n_trees
    5
    """
    fitting = plan.for_schema(dataset.schema)
    bootstraps = bootstrap_samples_of(fitting, key)
    maker = TreeMaker(dataset, fitting.tree).prepare()
    array = np.asarray(row_ids)
    hashes = hashes_of_integers(array) if array.dtype.kind in "iu" else hashes_of_texts(map(str, row_ids))
    own = dataset.case_weights
    trees = []
    for tree, seeds in enumerate(bootstraps.seeds):
        counts = sample_counts(hashes, seeds)
        sampled = (
            counts if np.any(own * counts > 0) else np.ones_like(counts)
        )  # as out of core, all cases replace an empty sample
        draw = fitting.draw(tree_key(fitting.seed, tree, ATTRIBUTES), len(dataset.columns))
        trees.append(maker.make(sampled if fitting.bootstrap else None, draw))
    return forest_of_trees(trees, fitting, key, plans.provenance(dataset.n_rows, dataset.source), smoothing, costs)
