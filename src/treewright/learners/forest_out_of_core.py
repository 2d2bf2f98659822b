"""Growing the trees of a forest out of core: all trees share every pass over the data.

The trees grow in step. Before a level is decided, the tables that all trees need are counted at once. Then each tree
chooses its splits as it would alone, from tables that are already counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import OutOfCoreEngine
from treewright.counting.out_of_core import BaseOutOfCoreEngine, TreeView
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.learners.base import Grown
from treewright.learners.out_of_core import (
    FINISH_ROWS,
    OnLevel,
    OutOfCoreGrower,
    ScoreBoundFilter,
    by_middles,
    cuts_to_move,
    fetch_batches,
    move_cuts_to_data_values,
)
from treewright.learners.recipe import Recipe
from treewright.learners.select import GrowingNode
from treewright.tree.tree import Tree

OnTree = Callable[[int, int], None]
"""Called with the number of finished trees and of all trees."""


def grow_forest_over(
    engine: BaseOutOfCoreEngine,
    recipes: Sequence[Recipe],
    *,
    finish_rows: int = FINISH_ROWS,
    progress: OnTree | None = None,
    on_level: OnLevel | None = None,
) -> list[Tree]:
    """Grow a tree by each recipe, over the bootstrap sample with its number.

    Parameters
    ----------
    engine : BaseOutOfCoreEngine
        Over the bootstrap samples of as many trees as there are recipes.
    recipes : sequence of Recipe
        They differ in their random seeds.
    finish_rows : int
        A node with at most this many cases is finished in memory; with 0 the engine counts all nodes.
    progress : callable or None
        Called with the number of finished trees and of all trees.
    on_level : callable or None
        Called before each level with its depth and the number of open nodes of all trees.
    """
    views = [TreeView(engine, tree) for tree in range(len(recipes))]
    growers = [
        ForestTreeGrower(view, by_middles(recipe), finish_rows) for view, recipe in zip(views, recipes, strict=True)
    ]
    levels = [[grower.opened()] for grower in growers]
    while any(levels):
        if on_level is not None:
            on_level(max(level[0].depth for level in levels if level), sum(map(len, levels)))
        sized = [grower.by_size(level) for grower, level in zip(growers, levels, strict=True)]
        _finish(engine, [(grower, node) for grower, (small, _) in zip(growers, sized, strict=True) for node in small])
        _count(engine, growers, [large for _, large in sized])
        levels = [grower.advanced(large) for grower, (_, large) in zip(growers, sized, strict=True)]
        if progress is not None:
            progress(sum(not level for level in levels), len(levels))
    grown = [grower.grown() for grower in growers]
    cuts = [cuts_to_move(one, recipe) for one, recipe in zip(grown, recipes, strict=True)]
    if any(cuts):
        for view, mine, thresholds in zip(views, cuts, engine.largest_in_samples(cuts), strict=True):
            view.thresholds = {one: dict(zip(some, thresholds[one], strict=True)) for one, some in mine.items()}
    return [
        move_cuts_to_data_values(one, recipe, view).tree
        for one, recipe, view in zip(grown, recipes, views, strict=True)
    ]


def _count(
    engine: BaseOutOfCoreEngine, growers: Sequence[ForestTreeGrower], levels: Sequence[Sequence[GrowingNode]]
) -> None:
    """Count the tables that all trees need at a level."""
    requests: list[tuple[int, Sequence[int]]] = []
    run_filters: dict[int, ScoreBoundFilter] = {}
    for grower, level in zip(growers, levels, strict=True):
        run_filter = grower.run_filter()
        for node, attributes in grower.wanted(level):
            requests.append((node, attributes))
            if run_filter is not None:
                run_filters[node] = run_filter
    if requests:
        engine.count(requests, ForestRunFilter(run_filters) if run_filters else None)


def _finish(engine: BaseOutOfCoreEngine, nodes: Sequence[tuple[ForestTreeGrower, GrowingNode]]) -> None:
    """Finish small nodes of all trees in memory, in batches of limited size."""
    summaries = engine.summaries([node.engine_node for _, node in nodes])
    for batch in fetch_batches(nodes, [summary.cases for summary in summaries]):
        fetched = engine.fetch([node.engine_node for _, node in batch])
        for (grower, node), cases in zip(batch, fetched, strict=True):
            grower.finish(node, cases)


class ForestRunFilter:
    """Applies the filter of the tree that a node belongs to."""

    def __init__(self, run_filters: Mapping[int, ScoreBoundFilter]) -> None:
        self._run_filters = run_filters
        self.gap = next(iter(run_filters.values())).gap

    def filter_runs(
        self, node: int, attribute: int, table: FrequencyTable
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return which runs have to be counted number by number, and the number of cuts in the others."""
        return self._run_filters[node].filter_runs(node, attribute, table)


class ForestTreeGrower(OutOfCoreGrower):
    """Grows one tree of a forest level by level, on request; it keeps no split traces."""

    def __init__(self, engine: OutOfCoreEngine, recipe: Recipe, finish_rows: int) -> None:
        super().__init__(engine, recipe, finish_rows, None, None, None)
        self._keeps = False
        self._cells_left = 0

    def opened(self) -> GrowingNode:
        """Open the root."""
        return self._prepared_root()

    def by_size(self, level: Sequence[GrowingNode]) -> tuple[list[GrowingNode], list[GrowingNode]]:
        """Return the nodes that are finished in memory, and the others."""
        return self._by_size(level)

    def run_filter(self) -> ScoreBoundFilter | None:
        """Return the filter for runs of numbers."""
        return self._run_filter()

    def wanted(self, level: Sequence[GrowingNode]) -> Iterator[tuple[int, list[int]]]:
        """Return the open nodes of a level with the attributes that may be evaluated."""
        for node in level:
            [summary] = self._engine.summaries([node.engine_node])
            if self._stop_before_counting(node, summary) is None:
                sampled, spare = self._sampled_attributes(node)
                yield node.engine_node, [*sampled, *spare]

    def finish(self, node: GrowingNode, cases: Dataset) -> None:
        """Grow the subtree of a node in memory."""
        self._attach(node, self._subtree(node, cases))

    def advanced(self, level: Sequence[GrowingNode]) -> list[GrowingNode]:
        """Split the nodes of a level and return their children."""
        return self._next_level(level)

    def grown(self) -> Grown:
        """Return the tree."""
        return self._grown()
