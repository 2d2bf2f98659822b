"""Growing bagged trees and random forests.

Every tree depends on the seed and its own number only: its bootstrap, and what it draws. So the forest is the same for
any number of threads, and a forest that was interrupted goes on to the same bytes.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright._base.errors import ParameterError
from treewright._base.version import __version__
from treewright.data.dataset import Dataset
from treewright.ensemble.bootstrap import ATTRIBUTES, Longs, balanced_bootstrap, bootstrap, tree_key
from treewright.ensemble.growing import CaseWeights, TreeMaker
from treewright.ensemble.plan import EnsemblePlan, ForestPlan, number_of_cases
from treewright.ensemble.running import Interrupted, Progress, Run, run_trees
from treewright.model.forest import Combining, Forest
from treewright.model.grove import pack_trees
from treewright.model.model import Smoothing
from treewright.model.tree import Tree

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
    >>> from treewright.ensemble.plan import bagging
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
