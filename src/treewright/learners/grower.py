"""Growing a tree in memory: the interpreted grower, and the choice of an engine.

`treewright.learners.select` decides at the open nodes; the grower splits them until no node is open. It proceeds level
by level, so that an engine can count all open nodes of a level at once; under a limit on leaves it splits the best node
first. The decision at a node does not depend on this order.

`reusable_traces` returns the split traces of a grown tree that are valid after pruning. A node with the same splits
above it has the same cases, so its trace is not counted again. If subtree raising replaced a node by one of its
branches, that node has another split and the nodes below it have other cases.

The interpreter grows trees from small tables, compiled kernels from large ones. Left to itself, `engine="auto"` looks
only at the size of the data, so the same data always give the same bytes. `treewright.fitting.engine_choice` chooses
for a whole command.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby

import numpy as np

from treewright.concurrency import processors, run_in_worker
from treewright.counting.engine import Engine, Summary
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import branch_counts
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.lazy_import import garbage_collection_paused
from treewright.learners.base import Grown, Progress
from treewright.learners.candidates import SplitEvaluator
from treewright.learners.discretise import in_bins, mdl_bounds
from treewright.learners.monotonic import Span, signs_for, values_of
from treewright.learners.recipe import Intervals, MissingPolicy, Recipe
from treewright.learners.sampling import child_key, root_key
from treewright.learners.select import Decider, Decision, GrowingNode
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import KNOWN, EvaluatedSplit, Split, SplitStatus, Test
from treewright.tree.tree import STOPS, Stop, Tree, integers_if_exact, majority_class
from treewright.wording import did_you_mean

BEFORE_COUNTING = frozenset(
    STOPS.index(stop) for stop in (Stop.EMPTY, Stop.PURE, Stop.DEPTH, Stop.TOO_FEW, Stop.NO_ATTRIBUTES)
)
"""Codes of the reasons to stop for which a node has no split trace."""

LEAVES = STOPS.index(Stop.LEAVES)
"""Code of the reason to stop that changes the status of the best attribute: the trace has to be counted again."""


def reusable_traces(
    grown: Tree, traces: Mapping[int, tuple[EvaluatedSplit, ...]], pruned: Tree
) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Return the split traces of a grown tree that hold for the pruned one, by its node numbers.

    They have the statuses that growth gave. The trace of a node where growth stopped before it counted is empty.

    Parameters
    ----------
    grown : Tree
        Before pruning.
    traces : dict of int to tuple of EvaluatedSplit
        Split traces of its nodes, as far as they were kept.
    pruned : Tree
        After pruning.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> from treewright.fitting.learn import fit
    >>> from treewright.pruning.collapse import collapse
    >>> lenses = fit(sample("contact-lenses"), C45())
    >>> reusable = reusable_traces(lenses.tree, lenses.trace, collapse(lenses.tree))
    >>> sorted(reusable), sorted(node for node in reusable if reusable[node])
    ([0, 1, 2, 3, 4, 5, 6], [0, 2, 3, 4])
    """
    kept: dict[int, tuple[EvaluatedSplit, ...]] = {}
    same_cases = [(0, 0)]
    while same_cases:
        node, before = same_cases.pop()
        split, split_before = pruned.split(node), grown.split(before)
        if split is not None and split == split_before:
            same_cases += zip(pruned.children_of(node).tolist(), grown.children_of(before).tolist(), strict=True)
        trace = traces.get(before)
        if trace is None:
            if int(grown.stop[before]) in BEFORE_COUNTING:
                kept[node] = ()
        elif grown.stop[before] != LEAVES and (split is None or any(one.split == split for one in trace)):
            kept[node] = trace
    return kept


TRACE_CELLS = 20_000
"""Maximum number of table cells in the split traces of a model; the top of the tree comes first."""

TRACE_CASES = 100_000
"""Maximum number of cases from which a tree with thresholds keeps split traces: beyond, finding the best threshold of
every other attribute takes longer than the tree. `trace_tree` finds it for any node."""

TRACE_NUMBERS = 5_000_000
"""The same for cases times numeric attributes: a table of every distinct number of every attribute takes longer than
the tree."""


def grow(engine: Engine, recipe: Recipe, *, progress: Progress | None = None) -> Grown:
    """Grow a tree by a recipe over an engine."""
    return TreeGrower(engine, recipe, progress).grow()


def trace_tree(
    engine: Engine,
    recipe: Recipe,
    tree: Tree,
    node: int | None = None,
    *,
    cells: int = TRACE_CELLS,
    grown: Grown | None = None,
) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Count the split traces of the nodes of any tree again.

    Parameters
    ----------
    engine : Engine
        Over the training data.
    recipe : Recipe
        The rules that give each attribute its status. The split of the tree is the chosen one, even if the recipe
        would have chosen another.
    tree : Tree
    node : int or None
        Only this node; None traces from the root down until the tables have `cells` cells.
    cells : int
    grown : Grown or None
        The tree before pruning, grown by the same recipe from the same data: split traces of nodes that still have
        the same cases are taken from it.

    Returns
    -------
    dict
        Nodes at which the recipe stops before it counts (for example, pure nodes) are omitted.
    """
    reuse = {} if grown is None or node is not None else reusable_traces(grown.tree, grown.traces, tree)
    return TreeGrower(engine, recipe, None).trace_nodes(tree, node, cells, reuse)


NOT_OPENED = -1
"""Engine number of a node whose cases are not needed."""

NODES_PER_BATCH = 8
"""Number of nodes that are traced between two checks of the remaining budget."""


class TreeGrower(Decider):
    """Grows a tree by a recipe over an engine, or traces a finished one."""

    def __init__(self, engine: Engine, recipe: Recipe, progress: Progress | None) -> None:
        keeps = keeps_traces(recipe, engine.schema, engine.n_cases)
        super().__init__(engine, recipe, TRACE_CELLS if keeps else 0)
        self._progress = progress
        self._records: list[NodeRecord] = []
        self._cases_done = 0
        self._bounds: dict[int, tuple[float, ...]] = {}
        self._signs = signs_for(recipe.monotonic, self._schema)

    def trace_nodes(
        self, tree: Tree, wanted: int | None, cells: int, reuse: Mapping[int, tuple[EvaluatedSplit, ...]]
    ) -> dict[int, tuple[EvaluatedSplit, ...]]:
        """Return the split traces of a finished tree, as `trace_tree` does."""
        if wanted is not None:
            self._cells_left = sys.maxsize
        elif self._cells_left:
            self._cells_left = cells
        steps = {} if wanted is None else dict(tree.node(wanted).path)
        needed: set[int] = set()  # the nodes that have to be counted, and the nodes above them
        parent = tree.parent.tolist()
        for number in range(tree.n_nodes - 1, -1, -1):  # children have higher numbers than their parents
            if number not in reuse or number in needed:
                needed.update((number, max(parent[number], 0)))
        level = [self.prepared_root() if 0 in needed else GrowingNode(NOT_OPENED, 0, 0, frozenset(), 0)]
        while level and self._cells_left > 0:
            below: list[GrowingNode] = []
            traced = [node for node in level if wanted is None or node.record == wanted]
            for first in range(0, len(traced), NODES_PER_BATCH):
                some = traced[first : first + NODES_PER_BATCH]
                self._trace(some, reuse)
                for node in some:
                    self._mark_split_of_tree(node, tree)
                if self._cells_left <= 0:
                    return self._traces
            for node in level:
                split = tree.split(node.record)
                if split is None or node.record == wanted:
                    continue
                if node.record not in needed:
                    below += [
                        GrowingNode(NOT_OPENED, number, node.depth + 1, frozenset(), 0)
                        for number in tree.children_of(node.record).tolist()
                    ]
                    continue
                children, _ = self._split_node(node, split, tree.children_of(node.record).tolist())
                below += children if wanted is None else [children[steps[node.record]]]
            level = below
        return self._traces

    def _trace(self, nodes: Sequence[GrowingNode], reuse: Mapping[int, tuple[EvaluatedSplit, ...]]) -> None:
        """Keep the traces that are known and count the others, in order, until the budget is spent."""
        for known, some in groupby(nodes, key=lambda node: node.record in reuse):
            if not known:
                self._decide(list(some))
                continue
            for node in some:
                if reuse[node.record]:
                    self._keep(node.record, reuse[node.record])

    def _mark_split_of_tree(self, node: GrowingNode, tree: Tree) -> None:
        """Mark the split of the tree as chosen, even if the recipe would have chosen another."""
        entries = self._traces.get(node.record)
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
        self._traces[node.record] = tuple(marked)

    def prepared_root(self) -> GrowingNode:
        """Open the root, and prepare what evaluates splits for the whole tree."""
        root = self._engine.root()
        [summary] = self._engine.summaries([root])
        self._records.append(self._record(summary, None))
        self._total_weight = summary.weight
        if isinstance(self._recipe.numeric, Intervals):
            self._make_intervals(root)
        self._evaluator = SplitEvaluator(self._recipe, self._engine, self._bounds, self._total_weight)
        draw = self._recipe.draw
        return GrowingNode(root, 0, 0, frozenset(), 0 if draw is None else root_key(draw.seed))

    def grow(self) -> Grown:
        """Grow the tree."""
        root = self.prepared_root()
        if self._recipe.stopping.max_leaves is None:
            level = [root]
            while level:
                level = self.next_level(level)
        else:
            self._grow_best_first(root, self._recipe.stopping.max_leaves)
        return self._built()

    def _built(self) -> Grown:
        tree, order = build_tree(self._schema, self._records)
        number = {record: node for node, record in enumerate(order)}
        return Grown(tree, {number[record]: trace for record, trace in self._traces.items()})

    def _make_intervals(self, root: int) -> None:
        numeric = [index for index, column in enumerate(self._schema.attributes) if column.is_numeric]
        [tables] = self._engine.count([(root, numeric)])
        for attribute, table in zip(numeric, tables, strict=True):
            self._bounds[attribute] = mdl_bounds(table)
            self._engine.use_intervals(attribute, self._bounds[attribute])

    # -- the two orders of growing -----------------------------------------------------------------------------------

    def next_level(self, level: Sequence[GrowingNode]) -> list[GrowingNode]:
        """Decide at the nodes of a level, and return the nodes below those that are split."""
        return [child for decision in self._decide(level) for child in self._carry_out(decision)]

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
            best = decision.chosen.best if decision.chosen is not None else None
            branches = best.split.n_branches if best is not None and best.split is not None else 0
            if leaves + branches - 1 > max_leaves:
                self._stop_at_leaf_limit(decision)
                fresh = []
                continue
            leaves += branches - 1
            fresh = self._decide(self._carry_out(decision))

    def _stop_at_leaf_limit(self, decision: Decision) -> None:
        """Make a leaf where a split would exceed the limit; no attribute in its trace is chosen then."""
        record = decision.node.record
        if record in self._traces:
            self._traces[record] = tuple(
                replace(one, status=SplitStatus.CONSIDERED) if one.status is SplitStatus.CHOSEN else one
                for one in self._traces[record]
            )
        self._carry_out(Decision(decision.node, decision.summary, decision.chosen, Stop.LEAVES))

    @staticmethod
    def _priority(decision: Decision) -> float:
        best = decision.chosen.best if decision.chosen is not None else None
        return 0.0 if best is None else best.score * decision.summary.weight

    # -- decisions ---------------------------------------------------------------------------------------------------

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
        n = len(self._records)
        record.children = list(range(n, n + best.split.n_branches))
        opened, summaries = self._split_node(node, best.split, record.children)
        for child, summary in zip(opened, summaries, strict=True):
            self._records.append(self._record(summary, record))
            if self._regression:  # monotonic values hold to the last bit
                self._records[-1].outcome = child.span.clipped(self._records[-1].outcome)
        return opened

    def _split_node(
        self, node: GrowingNode, split: Split, records: Sequence[int]
    ) -> tuple[list[GrowingNode], list[Summary]]:
        """Split a node at the engine; return its children, which have these records, and their summaries."""
        children = self._engine.split_node(node.engine_node, split)
        summaries = self._engine.summaries(children)
        used = node.used
        if self._recipe.once_per_path and split.test in {Test.NOMINAL, Test.INTERVALS}:
            used |= {split.attribute}
        spans: Sequence[Span] = [node.span] * len(children)
        sign = 0 if split.cut == KNOWN else self._signs.get(split.attribute, 0)
        if sign:
            if self._regression:
                low, high = (summary.mean for summary in summaries)
            else:
                low, high = values_of(np.array([one.statistics for one in summaries]), classification=True).tolist()
            spans = node.span.split(sign, low, high)
        opened = []
        for branch, (child, record, span) in enumerate(zip(children, records, spans, strict=True)):
            key = 0 if self._recipe.draw is None else child_key(node.key, branch)
            opened.append(GrowingNode(child, record, node.depth + 1, used, key, span))
        return opened, summaries

    def _record(self, summary: Summary, parent: NodeRecord | None) -> NodeRecord:
        empty = parent is not None and summary.cases == 0
        if self._regression:
            outcome: int | float = parent.outcome if empty and parent is not None else summary.mean
            return NodeRecord(summary.weight, np.zeros(0), outcome, sse=summary.sse)
        outcome = parent.outcome if empty and parent is not None else majority_class(summary.statistics)
        return NodeRecord(summary.weight, summary.statistics, outcome)


def keeps_traces(recipe: Recipe, schema: Schema, n_cases: int) -> bool:
    """Return True if a tree by this recipe keeps split traces; this does not depend on the engine.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> [keeps_traces(C45(), sample("play-tennis").schema, n) for n in (14, 10**6)]
    [True, True]
    """
    numeric = sum(column.is_numeric for column in schema.attributes)
    if isinstance(recipe.numeric, Intervals) or not numeric:
        return True
    return n_cases <= TRACE_CASES and n_cases * numeric <= TRACE_NUMBERS


CANONICAL = "canonical"
"""The engine whose kernels search the splits, while the interpreter adds up the weights of the nodes."""

ENGINES_IN_MEMORY = ("auto", "interpreted", "compiled", CANONICAL)
"""Allowed values of `engine` for data in memory."""

COMPILED_CELLS = 100_000
"""Least number of cells (rows times attributes) to grow by kernels; below, loading them takes longer than it saves."""

UNINTERRUPTED_CASES = 1_000
"""Up to this many cases the kernels run in the calling thread: they finish before an interrupt could matter."""


def check_engine(engine: str) -> None:
    """Raise unless `engine` is a known engine."""
    if engine not in ENGINES_IN_MEMORY:
        names = ", ".join(map(repr, ENGINES_IN_MEMORY))
        raise ParameterError(
            f"engine must be one of {names}, not {engine!r}{did_you_mean(str(engine), ENGINES_IN_MEMORY)}"
        )


def is_compiled(engine: str, dataset: Dataset) -> bool:
    """Return True if kernels count, grow and prune; those of the canonical engine only search the splits.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> is_compiled("auto", sample("play-tennis")), is_compiled("compiled", sample("play-tennis"))
    (False, True)
    """
    check_engine(engine)
    if engine == "auto":
        return dataset.n_rows * len(dataset.columns) >= COMPILED_CELLS
    return engine == "compiled"


def by_kernels(engine: str, dataset: Dataset, recipe: Recipe) -> bool:
    """Return True if kernels grow the whole tree; otherwise the interpreted grower does."""
    if engine != CANONICAL and not is_compiled(engine, dataset):
        return False
    with garbage_collection_paused():
        announce_compilation()
        from treewright.learners.kernels.options import is_supported

    return is_supported(recipe)


def threads(n_jobs: int | None) -> int:
    """Return the number of threads: by default, and for -1, as many as the process may use.

    Examples
    --------
    >>> threads(3), threads(None) == threads(-1)
    (3, True)
    """
    if n_jobs is None or n_jobs == -1:
        return processors()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs < 1:
        raise ParameterError(f"n_jobs must be None, -1 or a whole number of at least 1, not {n_jobs!r}")
    return int(n_jobs)


def with_compiled_criterion(recipe: Recipe) -> Recipe:
    """Return the recipe with its custom criterion compiled, if it has one."""
    if recipe.own is None or recipe.own.function is None:
        return recipe
    from treewright.learners.kernels.score import compiled_scan

    scan = compiled_scan(recipe.own.name, recipe.own.function)
    return replace(recipe, own=replace(recipe.own, scan=scan))


def counter_for(dataset: Dataset, recipe: Recipe, engine: str) -> tuple[MemoryEngine, Recipe]:
    """Return the engine that counts for the interpreted grower, and the recipe that suits it."""
    fractional = recipe.missing is MissingPolicy.FRACTIONAL
    if not is_compiled(engine, dataset):
        return MemoryEngine(dataset, fractional=fractional), recipe
    from treewright.counting.numba import CompiledEngine

    return CompiledEngine(dataset, fractional=fractional), with_compiled_criterion(recipe)


def grow_tree(
    dataset: Dataset,
    recipe: Recipe,
    *,
    engine: str = "auto",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Tree:
    """Grow a tree by the given engine, or by the one that the size of the data selects.

    Parameters
    ----------
    dataset : Dataset
    recipe : Recipe
    engine : str
        One of `ENGINES_IN_MEMORY`.
    n_jobs : int or None
        Threads; the tree does not depend on it.
    progress : callable or None
        Called with the number of finished cases and of all cases.
    """
    jobs = threads(n_jobs)
    dataset = in_bins(dataset, recipe)
    with garbage_collection_paused():
        if by_kernels(engine, dataset, recipe):
            tree = _grown_by_kernels(dataset, recipe, jobs, progress)
            return with_canonical_sums(tree, dataset, recipe) if engine == CANONICAL else tree
    counting, recipe = counter_for(dataset, recipe, engine)
    return TreeGrower(counting, recipe, progress).grow().tree


def with_canonical_sums(tree: Tree, dataset: Dataset, recipe: Recipe) -> Tree:
    """Return a grown tree with its weights added up by the interpreter.

    Both engines choose the same splits. But sums of weights that are not whole, of fractional cases and of numeric
    targets depend in their last digits on the order of addition, which kernels do not share with the interpreter. Here
    the interpreter sends the cases down the finished tree, as it does when it grows one, so that every bit is its own;
    that takes less than a tenth of the time of growing.

    Parameters
    ----------
    tree : Tree
        Not pruned.
    dataset, recipe
        What the tree was grown from.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> data = sample("contact-lenses")
    >>> tree = grow_tree(data, C45(), engine="interpreted")
    >>> bool((with_canonical_sums(tree, data, C45()).counts == tree.counts).all())
    True
    """
    engine = MemoryEngine(dataset, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    regression = tree.sse is not None
    node_of = [engine.root()] * tree.n_nodes
    parent = tree.parent.tolist()
    weight, sse, counts = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes), []
    outcome = np.zeros(tree.n_nodes, dtype=tree.outcome.dtype)
    for node in range(tree.n_nodes):  # parents come before their children
        opened = node_of[node]
        [summary] = engine.summaries([opened])
        weight[node], sse[node] = summary.weight, summary.sse
        counts.append(summary.statistics)
        if node > 0 and summary.cases == 0:
            outcome[node] = outcome[parent[node]]
        else:
            outcome[node] = summary.mean if regression else majority_class(summary.statistics)
        split = tree.split(node)
        if split is None:
            engine.close(opened)
            continue
        for child, branch in zip(tree.children_of(node).tolist(), engine.split_node(opened, split), strict=True):
            node_of[child] = branch
    if regression:
        return replace(tree, weight=weight, outcome=outcome, sse=sse)
    return replace(tree, weight=weight, counts=integers_if_exact(np.array(counts)), outcome=outcome)


def _grown_by_kernels(dataset: Dataset, recipe: Recipe, jobs: int, progress: Progress | None) -> Tree:
    from treewright.learners.kernels.grower import CompiledGrower

    grower = CompiledGrower(dataset, jobs)
    if dataset.n_rows <= UNINTERRUPTED_CASES:
        return grower.grow(recipe, progress=progress)
    relay = _ProgressRelay(progress)
    return run_in_worker(lambda: grower.grow(recipe, progress=relay.record), on_poll=relay.forward)


class _ProgressRelay:
    """Receives progress in the thread that grows and reports it in the thread of the caller."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._latest: tuple[int, int] | None = None
        self._last: tuple[int, int] | None = None

    def record(self, done: int, of: int) -> None:
        self._latest = done, of

    def forward(self) -> None:
        latest = self._latest
        if self._progress is not None and latest is not None and latest != self._last:
            self._last = latest
            self._progress(*latest)


@cache
def announce_compilation() -> None:
    """Print a note on a terminal, once, that kernels are being compiled, which takes a while."""
    from treewright.jit import cache_folder, is_compiled

    if is_compiled():
        return
    message = "compiling the growing kernels, once"
    if cache_folder() is None:
        message += " for this process: no folder for compiled code can be written"
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"treewright: {message} ...\n")
