"""Growing: open nodes in, decisions out, until nothing is open.

What is decided at a node, `treewright.grow.deciding` says; the grower divides it. It goes level by level, so that an
engine can count for all open nodes of a level at once; under a limit on leaves it opens the best node first. The tree
does not depend on which.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from treewright.counts.engine import Engine, Summary
from treewright.counts.table import Counts, branch_counts
from treewright.data.schema import Schema
from treewright.grow.candidates import SplitEvaluator
from treewright.grow.deciding import Decider, Decision, GrowingNode
from treewright.grow.discretise import mdl_bounds
from treewright.grow.drawing import child_key, root_key
from treewright.grow.learner import Grown, Progress
from treewright.grow.monotonic import Span, signs_for, values_of
from treewright.grow.recipe import Intervals, Recipe
from treewright.grow.trace_reuse import NO_TRACES, ReusableTraces, reusable_traces
from treewright.model.build import NodeRecord, build_tree
from treewright.model.split import KNOWN, Split, Test
from treewright.model.tree import Stop, Tree
from treewright.model.working import EvaluatedSplit, SplitStatus

TRACE_CELLS = 20_000
"""Table cells that a model keeps to explain itself; the top of the tree comes first."""

TRACE_CASES = 100_000
"""Grown from more cases, a tree that cuts numbers keeps no working: the best cut of every attribute that lost would
cost more than the tree. `trace_tree` finds it for any node."""

TRACE_NUMBERS = 5_000_000
"""Numbers (cases times numeric attributes) up to which a tree that cuts them keeps its working: a table of every
different number of every attribute takes longer than the tree."""


def grow(engine: Engine, recipe: Recipe, *, progress: Progress | None = None) -> Grown:
    """Grow a tree by a recipe over an engine."""
    return _Grower(engine, recipe, progress).grow()


def trace_tree(
    engine: Engine,
    recipe: Recipe,
    tree: Tree,
    node: int | None = None,
    *,
    cells: int = TRACE_CELLS,
    grown: Grown | None = None,
) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Count again what speaks for and against each attribute at the nodes of a tree, whoever grew or pruned it.

    Parameters
    ----------
    engine : Engine
        Over the training data.
    recipe : Recipe
        By whose rules the attributes are marked; the test that the tree has is the chosen one, also where this
        recipe would have taken another.
    tree : Tree
    node : int or None
        Only this node; None examines from the root down until the tables have `cells` cells.
    cells : int
    grown : Grown or None
        The tree before pruning, grown by the same recipe from the same data: split traces of nodes that still have
        the same cases are taken from it.

    Returns
    -------
    dict
        Nodes at which the recipe stops before it counts (pure ones, say) are left out.
    """
    reuse = NO_TRACES if grown is None or node is not None else reusable_traces(grown.tree, grown.working, tree)
    return _Grower(engine, recipe, None).examine(tree, node, cells, reuse)


NOT_OPENED = -1
"""Engine number of a node whose cases are not needed."""

NODES_PER_BATCH = 8
"""Nodes of a level that are traced before the memory left for traces is checked again."""


class _Grower(Decider):
    def __init__(self, engine: Engine, recipe: Recipe, progress: Progress | None) -> None:
        keeps = keeps_traces(recipe, engine.schema, engine.n_cases)
        super().__init__(engine, recipe, TRACE_CELLS if keeps else 0)
        self._progress = progress
        self._records: list[NodeRecord] = []
        self._cases_done = 0
        self._bounds: dict[int, tuple[float, ...]] = {}
        self._signs = signs_for(recipe.monotonic, self._schema)

    def examine(
        self, tree: Tree, wanted: int | None, cells: int, reuse: ReusableTraces = NO_TRACES
    ) -> dict[int, tuple[EvaluatedSplit, ...]]:
        if wanted is not None:
            self._cells_left = sys.maxsize
        elif self._cells_left:
            self._cells_left = cells
        steps = {} if wanted is None else dict(tree.node(wanted).path)
        needed = reuse.unknown_and_ancestors(tree)
        level = [self._prepared_root() if 0 in needed else GrowingNode(NOT_OPENED, 0, 0, frozenset(), 0)]
        while level and self._cells_left > 0:
            below: list[GrowingNode] = []
            asked = [node for node in level if wanted is None or node.record == wanted]
            for first in range(0, len(asked), NODES_PER_BATCH):
                some = asked[first : first + NODES_PER_BATCH]
                self._trace(some, reuse)
                for node in some:
                    self._mark_split_of_tree(node, tree)
                if self._cells_left <= 0:
                    return self._working
            for node in level:
                split = tree.split(node.record)
                if split is None or node.record == wanted:
                    continue
                if node.record not in needed:
                    below += [
                        GrowingNode(NOT_OPENED, int(number), node.depth + 1, frozenset(), 0)
                        for number in tree.children_of(node.record)
                    ]
                    continue
                used = node.used | {split.attribute} if self._excludes_attribute(split.test) else node.used
                children = self._engine.divide(node.engine_node, split)
                spans = self._spans_below(node, split, self._engine.summaries(children))
                for branch, (child, number) in enumerate(zip(children, tree.children_of(node.record), strict=True)):
                    if wanted is None or steps[node.record] == branch:
                        key = child_key(node.key, branch)
                        below.append(GrowingNode(child, int(number), node.depth + 1, used, key, spans[branch]))
            level = below
        return self._working

    def _trace(self, nodes: Sequence[GrowingNode], reuse: ReusableTraces) -> None:
        """Keep the traces that are known and count for the others, in order: the first ones fit into the budget."""
        for known, some in groupby(nodes, key=lambda node: node.record in reuse.known):
            if not known:
                self._decide(list(some))
                continue
            for node in some:
                if node.record in reuse.traces:
                    self._keep(node.record, reuse.traces[node.record])

    def _mark_split_of_tree(self, node: GrowingNode, tree: Tree) -> None:
        """Give the status to the test that the tree has, where the recipe would have decided otherwise."""
        entries = self._working.get(node.record)
        if entries is None:
            return
        split = tree.split(node.record)
        marked = []
        for one in entries:
            if split is not None and one.split == split:
                marked.append(replace(one, status=SplitStatus.CHOSEN))
            elif split is not None and one.attribute == split.attribute:
                [[table]] = self._engine.count([(node.engine_node, [split.attribute])])
                counts = branch_counts(table, split)
                tries = one.tries if split.cut is not None else 0
                own_score = self._evaluator.own_score(split, counts, one.unknown)
                marked.append(
                    EvaluatedSplit(
                        one.attribute, SplitStatus.CHOSEN, split, counts, one.unknown, tries, own_score=own_score
                    )
                )
            elif one.status is SplitStatus.CHOSEN:
                beaten = SplitStatus.CONSIDERED if split is not None else SplitStatus.PRUNED
                marked.append(replace(one, status=beaten))
            else:
                marked.append(one)
        self._working[node.record] = tuple(marked)

    def _prepared_root(self) -> GrowingNode:
        root = self._opened_root()
        if isinstance(self._recipe.numeric, Intervals):
            self._make_intervals(root.engine_node)
        self._evaluator = SplitEvaluator(self._recipe, self._engine, self._bounds, self._total_weight)
        return root

    def grow(self) -> Grown:
        root = self._prepared_root()
        if self._recipe.stopping.max_leaves is None:
            self._grow_by_levels(root)
        else:
            self._grow_best_first(root, self._recipe.stopping.max_leaves)
        tree, order = build_tree(self._schema, self._records)
        number = {record: node for node, record in enumerate(order)}
        return Grown(tree, {number[record]: work for record, work in self._working.items()})

    @property
    def _total_weight(self) -> float:
        return self._records[0].weight

    def _opened_root(self) -> GrowingNode:
        node = self._engine.root()
        [summary] = self._engine.summaries([node])
        self._records.append(self._record(summary, None))
        seed = self._recipe.draw.seed if self._recipe.draw is not None else 0
        return GrowingNode(node, 0, 0, frozenset(), root_key(seed))

    def _make_intervals(self, root: int) -> None:
        numeric = [index for index, column in enumerate(self._schema.attributes) if column.is_numeric]
        [tables] = self._engine.count([(root, numeric)])
        for attribute, table in zip(numeric, tables, strict=True):
            self._bounds[attribute] = mdl_bounds(table)
            self._engine.use_intervals(attribute, self._bounds[attribute])

    # -- the two orders of growing -----------------------------------------------------------------------------------

    def _grow_by_levels(self, root: GrowingNode) -> None:
        level = [root]
        while level:
            below: list[GrowingNode] = []
            for decision in self._decide(level):
                below += self._carry_out(decision)
            level = below

    def _grow_best_first(self, root: GrowingNode, max_leaves: int) -> None:
        leaves = 1
        waiting: list[tuple[float, int, Decision]] = []
        fresh = self._decide([root])
        while fresh or waiting:
            for decision in fresh:
                if decision.stop is not None:
                    self._carry_out(decision)
                else:
                    heapq.heappush(waiting, (-self._priority(decision), decision.node.record, decision))
            if not waiting:
                return
            _, _, decision = heapq.heappop(waiting)
            winner = decision.chosen.best if decision.chosen is not None else None
            branches = winner.split.n_branches if winner is not None and winner.split is not None else 0
            if leaves + branches - 1 > max_leaves:
                self._cut_off(decision)
                fresh = []
                continue
            leaves += branches - 1
            fresh = self._decide(self._carry_out(decision))

    def _cut_off(self, decision: Decision) -> None:
        """Make a leaf where a test would pass the limit; its working has a best attribute, but none that was chosen."""
        record = decision.node.record
        if record in self._working:
            self._working[record] = tuple(
                replace(one, status=SplitStatus.CONSIDERED) if one.status is SplitStatus.CHOSEN else one
                for one in self._working[record]
            )
        self._carry_out(Decision(decision.node, decision.summary, decision.chosen, Stop.LEAVES))

    @staticmethod
    def _priority(decision: Decision) -> float:
        best = decision.chosen.best if decision.chosen is not None else None
        return 0.0 if best is None else best.score * decision.summary.weight

    # -- carrying out ------------------------------------------------------------------------------------------------

    def _carry_out(self, decision: Decision) -> list[GrowingNode]:
        node, record = decision.node, self._records[decision.node.record]
        best = decision.chosen.best if decision.chosen is not None else None
        if decision.stop is not None or best is None or best.split is None:
            record.become_leaf(decision.stop or Stop.NO_GAIN)
            self._engine.close(node.engine_node)
            self._cases_done += decision.summary.cases
            if self._progress is not None:
                self._progress(self._cases_done, self._n_cases)
            return []
        record.split = best.split
        children = self._engine.divide(node.engine_node, best.split)
        used = node.used | {best.split.attribute} if self._excludes_attribute(best.split.test) else node.used
        opened = []
        summaries = self._engine.summaries(children)
        spans = self._spans_below(node, best.split, summaries)
        for branch, (child, summary, span) in enumerate(zip(children, summaries, spans, strict=True)):
            record.children.append(len(self._records))
            opened.append(
                GrowingNode(child, len(self._records), node.depth + 1, used, child_key(node.key, branch), span)
            )
            self._records.append(self._record(summary, record))
            if self._regression:  # values are kept apart to the last bit
                self._records[-1].outcome = span.clipped(self._records[-1].outcome)
        return opened

    def _spans_below(self, node: GrowingNode, split: Split, summaries: Sequence[Summary]) -> Sequence[Span]:
        """Return the span of each branch of a test."""
        sign = 0 if split.cut == KNOWN else self._signs.get(split.attribute, 0)
        if not sign:
            return [node.span] * len(summaries)
        if self._regression:
            low, high = (summary.mean for summary in summaries)
        else:
            low, high = values_of(np.array([one.statistics for one in summaries]), classification=True).tolist()
        return node.span.divided(sign, low, high)

    def _excludes_attribute(self, test: Test) -> bool:
        return self._recipe.once_per_path and test in {Test.NOMINAL, Test.INTERVALS}

    def _record(self, summary: Summary, parent: NodeRecord | None) -> NodeRecord:
        empty = parent is not None and summary.cases == 0
        if self._regression:
            outcome: int | float = parent.outcome if empty and parent is not None else summary.mean
            return NodeRecord(summary.weight, np.zeros(0), outcome, sse=summary.sse)
        outcome = parent.outcome if empty and parent is not None else _majority(summary.statistics)
        return NodeRecord(summary.weight, summary.statistics, outcome)


def _majority(counts: Counts) -> int:
    """Return the first class of the greatest weight; weights that differ by rounding only are equal."""
    best = float(counts.max())
    return int(np.argmax(counts >= best * (1 - 1e-12)))


def keeps_traces(recipe: Recipe, schema: Schema, n_cases: int) -> bool:
    """Say whether a tree by this recipe keeps what was looked at, whichever engine counts.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> [keeps_traces(C45(), sample("play-tennis").schema, n) for n in (14, 10**6)]
    [True, True]
    """
    numeric = sum(column.is_numeric for column in schema.attributes)
    if isinstance(recipe.numeric, Intervals) or not numeric:
        return True
    return n_cases <= TRACE_CASES and n_cases * numeric <= TRACE_NUMBERS
