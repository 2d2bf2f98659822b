"""Growing the trees of a forest over an engine whose data are outside memory: all trees share every pass.

The trees grow in step. Before a level is decided, what all of them need is counted at once; then each tree decides by
itself, as it would alone, and finds its tables counted already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import DistantEngine
from treewright.counting.out_of_core import OutsideEngine, TreeView
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.learners.base import Grown
from treewright.learners.out_of_core import (
    FETCHED_ROWS,
    FINISH_ROWS,
    NumberSieve,
    OnLevel,
    _InPlaceGrower,
    by_middles,
    cuts_to_place,
    place_cuts,
)
from treewright.learners.recipe import Recipe
from treewright.learners.select import GrowingNode
from treewright.tree.tree import Tree

OnTree = Callable[[int, int], None]
"""Called with trees done and trees in all."""


def grow_forest_over(
    engine: OutsideEngine,
    recipes: Sequence[Recipe],
    *,
    finish_rows: int = FINISH_ROWS,
    progress: OnTree | None = None,
    on_level: OnLevel | None = None,
) -> list[Tree]:
    """Grow a tree by each recipe, over the bag of its number.

    Parameters
    ----------
    engine : OutsideEngine
        Over the bags of as many trees as there are recipes.
    recipes : sequence of Recipe
        They differ in what is left to chance.
    finish_rows : int
        A node with at most so many cases is finished in memory; 0 leaves all counting to the engine.
    progress : callable or None
        Called with the trees that are finished and those in all.
    on_level : callable or None
        Called before each level with its depth and the number of open nodes of all trees.
    """
    views = [TreeView(engine, tree) for tree in range(len(recipes))]
    growers = [_OneOfMany(view, by_middles(recipe), finish_rows) for view, recipe in zip(views, recipes, strict=True)]
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
    asked = [cuts_to_place(one, recipe) for one, recipe in zip(grown, recipes, strict=True)]
    if any(asked):
        for view, mine, answers in zip(views, asked, engine.largest_in_bags(asked), strict=True):
            view.placed = {one: dict(zip(some, answers[one], strict=True)) for one, some in mine.items()}
    return [place_cuts(one, recipe, view).tree for one, recipe, view in zip(grown, recipes, views, strict=True)]


def _count(engine: OutsideEngine, growers: Sequence[_OneOfMany], levels: Sequence[Sequence[GrowingNode]]) -> None:
    """Count what all trees need to decide at a level."""
    requests: list[tuple[int, Sequence[int]]] = []
    sieves: dict[int, NumberSieve] = {}
    for grower, level in zip(growers, levels, strict=True):
        sieve = grower.sieve()
        for node, attributes in grower.wanted(level):
            requests.append((node, attributes))
            if sieve is not None:
                sieves[node] = sieve
    if requests:
        engine.count(requests, _SieveOfMany(sieves) if sieves else None)


def _finish(engine: OutsideEngine, nodes: Sequence[tuple[_OneOfMany, GrowingNode]]) -> None:
    """Finish small nodes of all trees in memory, some at a time."""
    for portion in _portions(engine, nodes):
        fetched = engine.fetch([node.engine_node for _, node in portion])
        for (grower, node), cases in zip(portion, fetched, strict=True):
            grower.finish(node, cases)


def _portions(
    engine: OutsideEngine, nodes: Sequence[tuple[_OneOfMany, GrowingNode]]
) -> Iterator[list[tuple[_OneOfMany, GrowingNode]]]:
    portion: list[tuple[_OneOfMany, GrowingNode]] = []
    rows = 0
    for grower, node in nodes:
        [summary] = engine.summaries([node.engine_node])
        if portion and rows + summary.cases > FETCHED_ROWS:
            yield portion
            portion, rows = [], 0
        portion = [*portion, (grower, node)]
        rows += summary.cases
    if portion:
        yield portion


class _SieveOfMany:
    """Asks the sieve of the tree that a node belongs to."""

    def __init__(self, sieves: Mapping[int, NumberSieve]) -> None:
        self._sieves = sieves
        self.gap = next(iter(sieves.values())).gap

    def sift(
        self, node: int, attribute: int, table: FrequencyTable
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return which runs have to be counted number by number, and the cuts inside the others."""
        return self._sieves[node].sift(node, attribute, table)


class _OneOfMany(_InPlaceGrower):
    """Grows one tree of a forest, a level whenever it is told to; it keeps no working."""

    def __init__(self, engine: DistantEngine, recipe: Recipe, finish_rows: int) -> None:
        super().__init__(engine, recipe, finish_rows, None, None, None)
        self._keeps = False
        self._cells_left = 0

    def opened(self) -> GrowingNode:
        """Open the root."""
        return self._prepared_root()

    def by_size(self, level: Sequence[GrowingNode]) -> tuple[list[GrowingNode], list[GrowingNode]]:
        """Return the nodes that are finished in memory, and all others."""
        return self._by_size(level)

    def sieve(self) -> NumberSieve | None:
        """Return what rules runs of numbers out."""
        return self._sieve()

    def wanted(self, level: Sequence[GrowingNode]) -> Iterator[tuple[int, list[int]]]:
        """Return the open nodes of a level with the attributes that may be asked for."""
        for node in level:
            [summary] = self._engine.summaries([node.engine_node])
            if self._stop_before_counting(node, summary) is None:
                drawn, spare = self._drawn(node)
                yield node.engine_node, [*drawn, *spare]

    def finish(self, node: GrowingNode, cases: Dataset) -> None:
        """Grow what is below a node in memory."""
        self._graft(node, self._subtree(node, cases))

    def advanced(self, level: Sequence[GrowingNode]) -> list[GrowingNode]:
        """Decide at the nodes of a level, and return those below."""
        return self._advanced(level)

    def grown(self) -> Grown:
        """Return the tree."""
        return self._grown()
