"""Growing: open nodes in, decisions out, until nothing is open.

The grower asks an engine for tables, examines every attribute, lets the recipe's rule choose and divides. It goes
level by level, so that an engine can count for all open nodes of a level at once; under a limit on leaves it opens
the best node first. The tree does not depend on which.

Vocabulary
----------
open node
    A node that is not decided yet: the engine knows its cases.
decision
    Either a test with its working, or a reason to stop.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treewright.counts.engine import Engine, Summary
from treewright.counts.table import Counts, FrequencyTable
from treewright.data.schema import Schema, Task
from treewright.grow.candidates import SHORT, Candidate, Examiner, branch_counts
from treewright.grow.choice import Chosen, choose
from treewright.grow.criteria import chi_square
from treewright.grow.discretise import mdl_bounds
from treewright.grow.drawing import child_key, root_key, shuffled
from treewright.grow.monotonic import ANYWHERE, Span, signs_for, values_of
from treewright.grow.recipe import Intervals, NominalTest, Recipe
from treewright.model.build import NodeRecord, build_tree
from treewright.model.split import KNOWN, Split, Test
from treewright.model.tree import Stop, Tree
from treewright.model.working import Examined, Verdict

WORKING_CELLS = 20_000
"""Table cells that a model keeps to explain itself; the top of the tree comes first."""

WORKING_CASES = 100_000
"""Grown from more cases, a tree that cuts numbers keeps no working: the best cut of every attribute that lost would
cost more than the tree. `examine_tree` finds it for any node."""

WORKING_NUMBERS = 5_000_000
"""Numbers (cases times numeric attributes) up to which a tree that cuts them keeps its working: a table of every
different number of every attribute takes longer than the tree."""

Progress = Callable[[int, int], None]
"""Called with the number of cases in finished leaves and the number of all cases."""


@dataclass(frozen=True)
class _Open:
    """An open node: its number at the engine, its record, and what its place in the tree says."""

    engine_node: int
    record: int
    depth: int
    used: frozenset[int]
    key: int
    span: Span = ANYWHERE


@dataclass(frozen=True)
class _Decision:
    node: _Open
    summary: Summary
    chosen: Chosen | None
    stop: Stop | None


@dataclass(frozen=True)
class Grown:
    """A tree and, for its nodes, the working that was kept."""

    tree: Tree
    working: dict[int, tuple[Examined, ...]]


def grow(engine: Engine, recipe: Recipe, *, progress: Progress | None = None) -> Grown:
    """Grow a tree by a recipe over an engine."""
    return _Grower(engine, recipe, progress).grow()


def examine_tree(
    engine: Engine, recipe: Recipe, tree: Tree, node: int | None = None, *, cells: int = WORKING_CELLS
) -> dict[int, tuple[Examined, ...]]:
    """Count again what speaks for and against each attribute at the nodes of a tree, whoever grew or pruned it.

    Parameters
    ----------
    engine : Engine
        Over the training data.
    recipe : Recipe
        By whose rules the attributes are judged; the test that the tree has is the chosen one, also where this
        recipe would have taken another.
    tree : Tree
    node : int or None
        Only this node; None examines from the root down until the tables have `cells` cells.
    cells : int

    Returns
    -------
    dict
        Nodes at which the recipe stops before it counts (pure ones, say) are left out.
    """
    return _Grower(engine, recipe, None).examine(tree, node, cells)


AT_ONCE = 8
"""Nodes of a level that are examined before it is seen whether there is room for more."""


class _Grower:
    def __init__(self, engine: Engine, recipe: Recipe, progress: Progress | None) -> None:
        self._engine = engine
        self._recipe = recipe
        self._progress = progress
        self._schema = engine.schema
        self._regression = self._schema.task is Task.REGRESSION
        self._records: list[NodeRecord] = []
        self._working: dict[int, tuple[Examined, ...]] = {}
        self._cells_left = WORKING_CELLS if keeps_working(recipe, engine.schema, engine.n_cases) else 0
        self._cases_done = 0
        self._bounds: dict[int, tuple[float, ...]] = {}
        self._signs = signs_for(recipe.monotonic, self._schema)

    def examine(self, tree: Tree, wanted: int | None, cells: int) -> dict[int, tuple[Examined, ...]]:
        if wanted is not None:
            self._cells_left = sys.maxsize
        elif self._cells_left:
            self._cells_left = cells
        steps = {} if wanted is None else dict(tree.node(wanted).path)
        level = [self._prepared_root()]
        while level and self._cells_left > 0:
            below: list[_Open] = []
            asked = [node for node in level if wanted is None or node.record == wanted]
            for first in range(0, len(asked), AT_ONCE):
                some = asked[first : first + AT_ONCE]
                self._decide(some)
                for node in some:
                    self._judge_as_in_tree(node, tree)
                if self._cells_left <= 0:
                    return self._working
            for node in level:
                split = tree.split(node.record)
                if split is None or node.record == wanted:
                    continue
                used = node.used | {split.attribute} if self._bars(split.test) else node.used
                children = self._engine.divide(node.engine_node, split)
                spans = self._spans_below(node, split, self._engine.summaries(children))
                for branch, (child, number) in enumerate(zip(children, tree.children_of(node.record), strict=True)):
                    if wanted is None or steps[node.record] == branch:
                        key = child_key(node.key, branch)
                        below.append(_Open(child, int(number), node.depth + 1, used, key, spans[branch]))
            level = below
        return self._working

    def _judge_as_in_tree(self, node: _Open, tree: Tree) -> None:
        """Give the verdict to the test that the tree has, where the recipe would have decided otherwise."""
        entries = self._working.get(node.record)
        if entries is None:
            return
        split = tree.split(node.record)
        judged = []
        for one in entries:
            if split is not None and one.split == split:
                judged.append(replace(one, verdict=Verdict.CHOSEN))
            elif split is not None and one.attribute == split.attribute:
                [[table]] = self._engine.count([(node.engine_node, [split.attribute])])
                counts = branch_counts(table, split)
                tries = one.tries if split.cut is not None else 0
                own_score = self._examiner.own_score(split, counts, one.unknown)
                judged.append(
                    Examined(one.attribute, Verdict.CHOSEN, split, counts, one.unknown, tries, own_score=own_score)
                )
            elif one.verdict is Verdict.CHOSEN:
                beaten = Verdict.CONSIDERED if split is not None else Verdict.PRUNED
                judged.append(replace(one, verdict=beaten))
            else:
                judged.append(one)
        self._working[node.record] = tuple(judged)

    def _prepared_root(self) -> _Open:
        root = self._opened_root()
        if isinstance(self._recipe.numeric, Intervals):
            self._make_intervals(root.engine_node)
        self._examiner = Examiner(self._recipe, self._engine, self._bounds, self._total_weight)
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

    def _opened_root(self) -> _Open:
        node = self._engine.root()
        [summary] = self._engine.summaries([node])
        self._records.append(self._record(summary, None))
        seed = self._recipe.draw.seed if self._recipe.draw is not None else 0
        return _Open(node, 0, 0, frozenset(), root_key(seed))

    def _make_intervals(self, root: int) -> None:
        numeric = [index for index, column in enumerate(self._schema.attributes) if column.is_numeric]
        [tables] = self._engine.count([(root, numeric)])
        for attribute, table in zip(numeric, tables, strict=True):
            self._bounds[attribute] = mdl_bounds(table)
            self._engine.use_intervals(attribute, self._bounds[attribute])

    # -- the two orders of growing -----------------------------------------------------------------------------------

    def _grow_by_levels(self, root: _Open) -> None:
        level = [root]
        while level:
            below: list[_Open] = []
            for decision in self._decide(level):
                below += self._carry_out(decision)
            level = below

    def _grow_best_first(self, root: _Open, max_leaves: int) -> None:
        leaves = 1
        waiting: list[tuple[float, int, _Decision]] = []
        fresh = self._decide([root])
        while fresh or waiting:
            for decision in fresh:
                if decision.stop is not None:
                    self._carry_out(decision)
                else:
                    heapq.heappush(waiting, (-self._worth(decision), decision.node.record, decision))
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

    def _cut_off(self, decision: _Decision) -> None:
        """Make a leaf where a test would pass the limit; its working has a best attribute, but none that was chosen."""
        record = decision.node.record
        if record in self._working:
            self._working[record] = tuple(
                replace(one, verdict=Verdict.CONSIDERED) if one.verdict is Verdict.CHOSEN else one
                for one in self._working[record]
            )
        self._carry_out(_Decision(decision.node, decision.summary, decision.chosen, Stop.LEAVES))

    @staticmethod
    def _worth(decision: _Decision) -> float:
        best = decision.chosen.best if decision.chosen is not None else None
        return 0.0 if best is None else best.score * decision.summary.weight

    # -- deciding ----------------------------------------------------------------------------------------------------

    def _decide(self, nodes: Sequence[_Open]) -> list[_Decision]:
        summaries = self._engine.summaries([node.engine_node for node in nodes])
        stops = [self._stop_before_counting(node, summary) for node, summary in zip(nodes, summaries, strict=True)]
        open_nodes = [
            (node, summary) for node, summary, stop in zip(nodes, summaries, stops, strict=True) if stop is None
        ]
        drawn = [self._drawn(node) for node, _ in open_nodes]
        counted = self._count(open_nodes, [asked for asked, _ in drawn])
        decided = iter(
            self._decision(node, summary, asked, tables, spare)
            for (node, summary), (asked, spare), tables in zip(open_nodes, drawn, counted, strict=True)
        )
        return [
            next(decided) if stop is None else _Decision(node, summary, None, stop)
            for node, summary, stop in zip(nodes, summaries, stops, strict=True)
        ]

    def _count(
        self, open_nodes: Sequence[tuple[_Open, Summary]], asked: Sequence[Sequence[int]]
    ) -> list[list[FrequencyTable]]:
        return self._engine.count([(node.engine_node, free) for (node, _), free in zip(open_nodes, asked, strict=True)])

    def _stop_before_counting(self, node: _Open, summary: Summary) -> Stop | None:
        stopping = self._recipe.stopping
        if summary.cases == 0:
            return Stop.EMPTY
        if summary.pure:
            return Stop.PURE
        if stopping.max_depth is not None and node.depth >= stopping.max_depth:
            return Stop.DEPTH
        if (
            summary.cases < stopping.min_cases
            or summary.cases < 2 * stopping.min_leaf
            or summary.weight < stopping.min_weight * SHORT
            or summary.weight < 2 * stopping.min_share * self._total_weight * SHORT
        ):
            return Stop.TOO_FEW
        if len(node.used) == len(self._schema.attributes):
            return Stop.NO_ATTRIBUTES
        return None

    def _attributes_for(self, node: _Open) -> list[int]:
        return [index for index in range(len(self._schema.attributes)) if index not in node.used]

    def _decision(
        self,
        node: _Open,
        summary: Summary,
        asked: Sequence[int],
        tables: Sequence[FrequencyTable],
        spare: Sequence[int],
    ) -> _Decision:
        """Decide by the tables of the attributes asked; spare ones are asked only while none of these can be tested."""
        span = node.span.shifted(-summary.mean)
        found = {
            attribute: self._examiner.examine(attribute, table, span, node.key)
            for attribute, table in zip(asked, tables, strict=True)
        }
        for attribute in spare:
            if any(candidate.verdict is Verdict.CONSIDERED for candidate in found.values()):
                break
            [[table]] = self._count([(node, summary)], [[attribute]])
            found[attribute] = self._examiner.examine(attribute, table, span, node.key)
        candidates = [found.get(one) or _not_drawn(one, self._width) for one in self._attributes_for(node)]
        many_count = self._recipe.nominal is NominalTest.GROUPS
        chosen = choose(self._recipe.choice, candidates, self._schema, self._n_cases, many_count=many_count)
        best = chosen.best
        stop = None
        if best is None:
            stop = Stop.NO_GAIN
        elif best.score * summary.weight / self._total_weight < self._recipe.stopping.min_decrease * (1 - 1e-12):
            stop = Stop.SMALL_GAIN
        elif not self._significant(best):
            stop = Stop.NOT_SIGNIFICANT
        self._keep_working(node, chosen, stop)
        return _Decision(node, summary, chosen, stop)

    @property
    def _n_cases(self) -> int:
        return self._engine.n_cases

    @property
    def _total_weight(self) -> float:
        return self._records[0].weight

    def _significant(self, best: Candidate) -> bool:
        level = self._recipe.stopping.significance
        return level is None or self._regression or chi_square(best.counts).p <= level

    def _drawn(self, node: _Open) -> tuple[list[int], list[int]]:
        """Return the attributes to look at, and those to fall back on in their order."""
        free, draw = self._attributes_for(node), self._recipe.draw
        if draw is not None and draw.per_tree:
            fixed = set(shuffled(root_key(draw.seed), len(self._schema.attributes))[: draw.attributes])
            return [attribute for attribute in free if attribute in fixed], []
        if draw is None or draw.attributes >= len(free):
            return free, []
        order = [free[place] for place in shuffled(node.key, len(free))]
        return sorted(order[: draw.attributes]), order[draw.attributes :]

    # -- carrying out ------------------------------------------------------------------------------------------------

    def _carry_out(self, decision: _Decision) -> list[_Open]:
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
        used = node.used | {best.split.attribute} if self._bars(best.split.test) else node.used
        opened = []
        summaries = self._engine.summaries(children)
        spans = self._spans_below(node, best.split, summaries)
        for branch, (child, summary, span) in enumerate(zip(children, summaries, spans, strict=True)):
            record.children.append(len(self._records))
            opened.append(_Open(child, len(self._records), node.depth + 1, used, child_key(node.key, branch), span))
            self._records.append(self._record(summary, record))
            if self._regression:  # values are kept apart to the last bit
                self._records[-1].outcome = span.clipped(self._records[-1].outcome)
        return opened

    def _spans_below(self, node: _Open, split: Split, summaries: Sequence[Summary]) -> Sequence[Span]:
        """Return the span of each branch of a test."""
        sign = 0 if split.cut == KNOWN else self._signs.get(split.attribute, 0)
        if not sign:
            return [node.span] * len(summaries)
        if self._regression:
            low, high = (summary.mean for summary in summaries)
        else:
            low, high = values_of(np.array([one.statistics for one in summaries]), classification=True).tolist()
        return node.span.divided(sign, low, high)

    def _bars(self, test: Test) -> bool:
        return self._recipe.once_per_path and test in {Test.NOMINAL, Test.INTERVALS}

    def _record(self, summary: Summary, parent: NodeRecord | None) -> NodeRecord:
        empty = parent is not None and summary.cases == 0
        if self._regression:
            outcome: int | float = parent.outcome if empty and parent is not None else summary.mean
            return NodeRecord(summary.weight, np.zeros(0), outcome, sse=summary.sse)
        outcome = parent.outcome if empty and parent is not None else _majority(summary.statistics)
        return NodeRecord(summary.weight, summary.statistics, outcome)

    def _keep_working(self, node: _Open, chosen: Chosen, stop: Stop | None) -> None:
        entries = examined_entries(chosen, stop, sorted(node.used), self._width)
        cells = sum(one.cells for one in entries)
        if cells > self._cells_left:
            self._cells_left = 0
            return
        self._cells_left -= cells
        self._working[node.record] = entries

    @property
    def _width(self) -> int:
        return 3 if self._regression else len(self._schema.classes)


def _majority(counts: Counts) -> int:
    """Return the first class of the greatest weight; weights that differ by rounding only are equal."""
    best = float(counts.max())
    return int(np.argmax(counts >= best * (1 - 1e-12)))


def _not_drawn(attribute: int, width: int) -> Candidate:
    nothing = np.zeros((0, width), dtype=np.int64)
    return Candidate(attribute, Verdict.NOT_DRAWN, nothing, nothing.sum(axis=0))


def keeps_working(recipe: Recipe, schema: Schema, n_cases: int) -> bool:
    """Say whether a tree by this recipe keeps what was looked at, whichever engine counts.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> [keeps_working(C45(), sample("play-tennis").schema, n) for n in (14, 10**6)]
    [True, True]
    """
    numeric = sum(column.is_numeric for column in schema.attributes)
    if isinstance(recipe.numeric, Intervals) or not numeric:
        return True
    return n_cases <= WORKING_CASES and n_cases * numeric <= WORKING_NUMBERS


def examined_entries(chosen: Chosen, stop: Stop | None, used: Sequence[int], width: int) -> tuple[Examined, ...]:
    """Return what was looked at in a node, attribute by attribute; `used` are those that were used above."""
    barred = [_unused(attribute, width) for attribute in used]
    examined = [_examined(candidate, stop) for candidate in chosen.candidates]
    return tuple(sorted((*examined, *barred), key=lambda one: one.attribute))


def _unused(attribute: int, width: int) -> Examined:
    nothing = np.zeros((0, width), dtype=np.int64)
    return Examined(attribute, Verdict.USED_ABOVE, None, nothing, nothing.sum(axis=0))


def _examined(candidate: Candidate, stop: Stop | None) -> Examined:
    verdict = candidate.verdict
    if verdict is Verdict.CHOSEN and stop is not None:
        verdict = Verdict.NOT_SIGNIFICANT if stop is Stop.NOT_SIGNIFICANT else Verdict.SMALL_GAIN
    counts, unknown = candidate.counts, candidate.unknown
    if candidate.split is None:
        counts = counts[:0]
    own_score = candidate.own_score
    return Examined(
        candidate.attribute, verdict, candidate.split, counts, unknown, candidate.tries, own_score=own_score
    )
