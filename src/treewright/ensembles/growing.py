"""Grow trees in sequence over the same cases, each with its own weights and its own random seed."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.learners.base import Run, TreeLearner, Weights
from treewright.learners.discretise import in_bins
from treewright.learners.grower import announce_compilation, grow, with_compiled_criterion
from treewright.learners.recipe import AttributeSampling, MissingPolicy, Recipe
from treewright.plans import Plan
from treewright.pruning.methods import ReducedError, prune, split_off
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.learners.kernels.grower import CompiledGrower

CaseWeights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Leaves = npt.NDArray[np.int32]

COMPILED_FOREST_CELLS = 1_000
"""Least number of cells to grow by kernels: fewer than for one tree, since all trees share the time of loading."""


class InterpretedGrower:
    """Grows by the interpreted engine."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def grow(self, recipe: Recipe, weights: CaseWeights | None = None) -> Tree:
        """Grow by a recipe without the cases of weight zero."""
        data = self._dataset if weights is None else replace(self._dataset, weights=weights.astype(np.float64))
        return grow(MemoryEngine(data, fractional=recipe.missing is MissingPolicy.FRACTIONAL), recipe).tree


class SharedGrower:
    """Grows by the compiled engine if that is faster, otherwise by the interpreted one; the trees are the same.

    The choice depends only on the cases and the recipe, so a resumed run uses the same engine.
    """

    def __init__(self, dataset: Dataset, n_jobs: int = 1, engine: str = "auto") -> None:
        self._interpreted = InterpretedGrower(dataset)
        self._n_rows = dataset.n_rows
        self._compiled: CompiledGrower | None = None
        large = dataset.n_rows * max(1, len(dataset.columns)) >= COMPILED_FOREST_CELLS
        if engine == "compiled" or (engine == "auto" and large):
            announce_compilation()
            from treewright.learners.kernels.grower import CompiledGrower

            self._compiled = CompiledGrower(dataset, n_jobs)

    def grower_for(self, recipe: Recipe) -> tuple[CompiledGrower | InterpretedGrower, Recipe]:
        """Return the grower of a recipe, and the recipe as this grower takes it."""
        if self._compiled is None:
            return self._interpreted, recipe
        from treewright.learners.kernels.options import is_supported

        if is_supported(recipe):
            return self._compiled, recipe
        return self._interpreted, with_compiled_criterion(recipe)

    @property
    def compiled(self) -> bool:
        """Whether kernels grow the trees of supported recipes."""
        return self._compiled is not None

    def grow_and_route(self, recipe: Recipe, weights: CaseWeights) -> tuple[Tree, Leaves | None]:
        """Grow a tree without the cases of weight zero; also return the leaf of each case, None if it is not known."""
        grower, recipe = self.grower_for(recipe)
        if isinstance(grower, InterpretedGrower):
            return grower.grow(recipe, weights), None
        leaves = np.empty(self._n_rows, dtype=np.int32)
        tree = grower.grow(recipe, weights, leaves=leaves)
        return tree, None if leaves[0] < 0 else leaves


class TreeMaker:
    """Makes trees by a plan; it can be pickled, and other processes then encode the cases again.

    Parameters
    ----------
    dataset : Dataset
        With a target; its weights are multiplied by those of each tree.
    plan : Plan
        For the task of the dataset (see `treewright.plans.Plan.for_schema`).
    n_jobs : int
        Threads that grow one tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> maker = TreeMaker(sample("play-tennis"), c45())
    >>> maker.make(None).n_leaves, maker.make(np.array([1] * 7 + [0] * 7)).n_leaves
    (5, 3)
    """

    def __init__(self, dataset: Dataset, plan: Plan, n_jobs: int = 1, engine: str = "auto") -> None:
        self._dataset = in_bins(dataset, plan.learner)
        self._plan = plan
        self._n_jobs = n_jobs
        self._engine = engine
        self._grower: SharedGrower | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_grower": None}

    def prepare(self) -> TreeMaker:
        """Encode the cases before threads share them."""
        if self._plan.learner.recipe is not None:
            self._shared()
        return self

    def with_min_weight(self, weight: float) -> TreeMaker:
        """Return a maker that splits no node below this weight; the encoded cases are shared. For recipes only."""
        recipe = self._plan.learner.recipe
        if recipe is None:
            raise ParameterError(f"{self._plan.name} has no least weight of a node to be split")
        stopping = replace(recipe.stopping, min_weight=max(weight, recipe.stopping.min_weight))
        other = copy(self)
        other._plan = replace(self._plan, learner=replace(recipe, stopping=stopping))
        other._grower = self._grower
        return other

    def _shared(self) -> SharedGrower:
        if self._grower is None:
            self._grower = SharedGrower(self._dataset, self._n_jobs, self._engine)
        return self._grower

    @property
    def compiled(self) -> bool:
        """Whether kernels grow the trees."""
        return self._plan.learner.recipe is not None and self._shared().compiled

    def make_and_route(self, weights: CaseWeights) -> tuple[Tree, Leaves | None]:
        """Return the tree of these weights, and the leaf of each case if it is known from growing."""
        recipe, own = self._plan.learner.recipe, self._dataset.weights
        if recipe is None or self._plan.pruning or own is not None:
            return self.make(weights), None
        return self._shared().grow_and_route(recipe, weights)

    def make(self, weights: CaseWeights | None, draw: AttributeSampling | None = None) -> Tree:
        """Return the tree of one sample of weights (integers are numbers of copies)."""
        plan, recipe = self._plan, self._plan.learner.recipe
        own = _product(self._dataset.weights, weights)
        if recipe is None:
            return self._made(plan.learner, self._part(own))
        recipe = recipe if draw is None else replace(recipe, draw=draw)
        if any(isinstance(method, ReducedError) for method in plan.pruning):
            return self._made(recipe, self._part(own))
        grower, recipe = self._shared().grower_for(recipe)
        tree = grower.grow(recipe, own)
        return self._pruned(tree, self._part(own)) if plan.pruning else tree

    def _part(self, weights: CaseWeights | None) -> Dataset:
        """Return the cases of positive weight, with their weights."""
        if weights is None:
            return self._dataset
        kept = weights > 0
        return replace(self._dataset.take(kept), weights=weights[kept].astype(np.float64))

    def _pruned(self, tree: Tree, cases: Dataset) -> Tree:
        for method in self._plan.pruning:
            tree = prune(tree, method, cases)
        return tree

    def _made(self, learner: TreeLearner, cases: Dataset) -> Tree:
        """Grow and prune by any learner; a learner without weights gets each case as often as it was sampled."""
        held_out = next((method for method in self._plan.pruning if isinstance(method, ReducedError)), None)
        validation = None
        if held_out is not None:
            cases, validation = split_off(cases, held_out.share, held_out.seed)
        if learner.abilities.weights is Weights.NONE:
            cases = _repeated(cases, self._plan.name)
        grown = learner.grow(cases, Run(engine="interpreted", keep_trace=False))
        tree = grown.tree
        for method in self._plan.pruning:
            tree = prune(tree, method, cases if grown.cases is None else grown.cases, validation)
        return tree


def _product(own: CaseWeights | None, sampled: CaseWeights | None) -> CaseWeights | None:
    if own is None or sampled is None:
        return sampled if own is None else own
    product: CaseWeights = own * sampled
    return product


def _repeated(cases: Dataset, name: str) -> Dataset:
    """Repeat every case as often as its weight, which has to be an integer."""
    weights = cases.weights
    if weights is None:
        return cases
    counts = weights.astype(np.int64)
    if not np.array_equal(counts, weights):
        raise ParameterError(
            f"{name} supports only integer case weights; ID3, CART, CHAID and C4.5 in dialect 'c45' support any"
        )
    return replace(cases.take(np.repeat(np.arange(cases.n_rows), counts)), weights=None)
