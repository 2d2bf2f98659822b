"""Histogram growth: nodes too large for a block are split by their histograms, one by one.

A histogram node has more than `BLOCK` cases, or more than `SHALLOW` where the depth limit ends the tree soon: sorting
them would not pay off. Its attributes are counted in one pass. After a split, all branches but the largest are counted;
the histogram of the largest is its parent's minus theirs. A node that fits into a block is grown by one kernel.

Workers take nodes from a common list, histogram nodes first and the youngest of them first, so that few histograms are
in memory at a time. Between two nodes there is little Python: one kernel searches, another partitions. The first nodes
are too few for all workers; their attributes are counted by all of them. The tree depends neither on the order nor on
the number of workers: it is assembled at the end, depth first.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from threading import Condition
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.arrays import Branches, Entries, Flags, Rows, Sizes, Weights
from treewright.concurrency import Cancelled
from treewright.learners.base import Progress
from treewright.learners.kernels.assemble import Fragment, concatenate
from treewright.learners.kernels.histogram_search import (
    ASKED,
    COPIES,
    COUNT_PART,
    COUNTED,
    DEPTH,
    FINISHED,
    FOUND,
    IN_BLOCK,
    KNOWN_CASES,
    MORE_BUFFERS,
    N_STATE,
    NO_CASES,
    NO_WEIGHTS,
    SHARED,
    SORTED,
    UNTIL,
    EncodedTable,
    Histogram,
    NodeCases,
    NodeRecord,
    SearchBuffers,
    count_part,
    new_record,
    new_search_buffers,
    partition_node,
    search_node,
    subtract_part,
    write_outcome,
)
from treewright.learners.kernels.node_loop import DEPTH as DEPTH_LIMIT
from treewright.learners.kernels.node_loop import EMPTY, PURE
from treewright.learners.kernels.options import CUT, MULTIWAY, NOT_TESTED
from treewright.learners.kernels.refine import NO_ENTRIES, RefineBuffers, new_refine_buffers
from treewright.learners.kernels.workspace import (
    ATTRIBUTE,
    BRANCHES,
    COUNTS_AT,
    MEAN,
    OUTCOME,
    PARENT,
    SIDES_AT,
    STOP,
    CategoryBuffers,
    Rules,
    new_category_buffers,
)
from treewright.learners.sampling import child_key

BLOCK = 8192
"""Nodes of at most this many cases are grown by one kernel."""

SHALLOW = 1024
"""Where at most `LEVELS` levels follow, only nodes of at most this many cases are."""

LEVELS = 3

SHARED_FROM = 32_768
"""From this many cases on, the attributes of a node are counted by all workers, while there are fewer nodes than
workers."""

NO_ROWS: Rows = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Table:
    """What histogram growth needs of the table, the recipe and the threads.

    Parameters
    ----------
    encoded : EncodedTable
    kept : list
        The arrays whose addresses `encoded` holds.
    rules : Rules
    whole : bool
        Whether all weights are integers and no case becomes fractional.
    all_cases : callable
        Returns the number of cases of each code in the whole table.
    entries : callable
        Returns the cases of the whole table in the order of an attribute, empty if they are not sorted.
    n_cases, n_jobs : int
    pool : ThreadPoolExecutor or None
    cancelled : array of bool
        Set by another thread to cancel.
    """

    encoded: EncodedTable
    kept: list[Any]
    rules: Rules
    whole: bool
    all_cases: Callable[[], Sizes]
    entries: Callable[[int], Entries]
    n_cases: int
    n_jobs: int
    pool: ThreadPoolExecutor | None
    cancelled: Flags

    @property
    def regression(self) -> bool:
        """Whether numbers are predicted."""
        return len(self.encoded.numbers) > 0

    @property
    def width(self) -> int:
        """Length of the statistics of a set of cases."""
        return int(self.rules.opt["width"][0])

    @property
    def most_values(self) -> int:
        """Most branches of a test."""
        return max(int(self.rules.n_values.max(initial=0)), 2)

    def new_histogram(self, weights: Weights) -> Histogram:
        """Return a histogram with room for all attributes, for cases with these weights."""
        bins = int(self.encoded.starts[-1])
        unit = len(weights) == 0 and not self.regression
        return Histogram(np.empty((bins, self.width)), NO_CASES if unit else np.empty(bins, dtype=np.int64))


@dataclass
class GrowthNode:
    """A node of histogram growth: first its cases, then the result of processing it.

    Parameters
    ----------
    rows, weights : array
        Its cases; released when the children have them.
    depth : int
    used : array of bool
        Excluded attributes.
    key : int
        Random key.
    outcome : int
        First the parent's, which an empty node keeps.
    mean : float
        Likewise, for a numeric target.
    histogram : Histogram or None
        If it is known already.
    record, children, fragment, branches
        The result: `fragment` is the subtree of a block, `branches` are those of its cases if all children are leaves.
    """

    rows: Rows
    weights: Weights
    depth: int
    used: Flags
    key: int
    outcome: int = 0
    mean: float = 0.0
    histogram: Histogram | None = None
    record: NodeRecord | None = None
    children: list[GrowthNode] = field(default_factory=list)
    fragment: Fragment | None = None
    branches: Branches | None = None


class _Worker:
    """The buffers of one worker."""

    def __init__(self, table: Table) -> None:
        self.refine: RefineBuffers = new_refine_buffers(0, 0, table.width)
        self.search: SearchBuffers = new_search_buffers(table.encoded, table.rules, table.most_values, table.width)
        self.by_value: CategoryBuffers | None = None
        if np.any(table.rules.tests > CUT):
            self.by_value = new_category_buffers(table.most_values, table.width)
        self.state = np.zeros(N_STATE, dtype=np.int64)

    def enlarge(self, n: int, found: int) -> None:
        """Make the buffers of refinement large enough for n cases and this many candidates."""
        width = self.refine.statistics.shape[1]
        self.refine = new_refine_buffers(max(n, len(self.refine.kept)), max(2 * found, len(self.refine.scores)), width)


class HistogramGrowth:
    """Grow the histogram nodes and pass on the nodes that fit into a block.

    Parameters
    ----------
    table : Table
    finish : callable
        Grows the subtree of a node in a block.
    progress : callable or None
        Called with cases in finished subtrees and all cases.
    leaves : array or None
        Output: the leaf of each row, where there are neither blocks nor fractional cases.
    """

    def __init__(
        self,
        table: Table,
        finish: Callable[[GrowthNode], Fragment],
        progress: Progress | None = None,
        leaves: Rows | None = None,
    ) -> None:
        self._t = table
        self._opt = table.rules.opt[0]
        self._finish = finish
        self._progress = progress
        self._leaves = leaves
        self._done = 0
        # The common state of the workers, under the lock of the condition: parts of nodes, nodes, and the number of
        # nodes that are not processed.
        self._changed = Condition()
        self._parts: list[Callable[[], None]] = []
        self._large: list[GrowthNode] = []
        self._small: list[GrowthNode] = []
        self._open = 1
        self._stopped = False

    def grow(self, root: GrowthNode) -> Fragment:
        """Grow the whole tree."""
        self._large.append(root)
        pool = self._t.pool
        if pool is None or self._opt["max_depth"] == 1:  # a stump has one node to split
            self._work()
        else:
            running = [pool.submit(self._work) for _ in range(self._t.n_jobs)]
            while wait(running, timeout=0.1).not_done:  # the timeout lets an interrupt through
                self._report()
            for worker in running:
                worker.result()
        self._report()
        return self._assembled(root)

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(min(self._done, self._t.n_cases), self._t.n_cases)

    # -- workers -----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        """Process nodes until none is left."""
        worker = _Worker(self._t)
        try:
            while (node := self._next()) is not None:
                done = self._process(node, worker)
                opened = _open(node)
                with self._changed:
                    for child in reversed(opened):
                        (self._small if self._fits_block(child) else self._large).append(child)
                    self._done += done
                    self._open += len(opened) - 1
                    self._changed.notify_all() if self._open == 0 else self._changed.notify(len(opened))
                if done and self._t.pool is None:
                    self._report()
        except BaseException:
            with self._changed:
                self._stopped = True
                self._changed.notify_all()
            raise

    def _next(self) -> GrowthNode | None:
        """Return the next node, None if there will be none; meanwhile process parts of the nodes of other workers."""
        while True:
            with self._changed:
                while not (self._parts or self._large or self._small or self._open == 0 or self._stopped):
                    self._changed.wait()
                if self._t.cancelled[0]:
                    self._stopped = True
                    self._changed.notify_all()
                if self._stopped or self._open == 0:
                    return None
                if not self._parts:
                    return (self._large or self._small).pop()
                part = self._parts.pop()
            part()

    def _share(self, function: Callable[[Any], None], parts: list[Any]) -> None:
        """Call a function with each part, in all workers that are idle."""
        waiting = len(parts)

        def run(part: Any) -> None:
            nonlocal waiting
            function(part)
            with self._changed:
                waiting -= 1
                if waiting == 0:
                    self._changed.notify_all()

        with self._changed:
            self._parts += [partial(run, part) for part in parts]
            self._changed.notify_all()
        while True:
            with self._changed:
                while waiting and not self._parts and not self._stopped:
                    self._changed.wait()
                if self._stopped:
                    raise Cancelled
                if not waiting:
                    return
                part = self._parts.pop()
            part()

    # -- one node ----------------------------------------------------------------------------------------------------

    def _fits_block(self, node: GrowthNode) -> bool:
        n = len(node.rows)
        levels = int(self._opt["max_depth"]) - node.depth
        return n <= min(BLOCK, SHALLOW) or (n <= BLOCK and not 0 <= levels <= LEVELS)

    def _process(self, node: GrowthNode, worker: _Worker) -> int:
        """Process a node; return the number of its cases if it is finished, else 0."""
        n = len(node.rows)
        record = node.record = new_record(self._t.width, self._t.most_values, node.outcome, node.mean)
        fits = self._fits_block(node)
        histogram = self._search(node, record, worker, in_block=fits)
        node.outcome, node.mean = int(record.integers[OUTCOME]), float(record.doubles[MEAN])
        if record.integers[STOP] < 0:
            if fits:
                node.fragment = self._finish(node)
            else:
                self._split(node, record, histogram, worker)
        if self._leaves is None or (node.children and node.branches is None):
            node.rows = NO_ROWS
        node.weights, node.histogram = NO_WEIGHTS, None
        return 0 if _open(node) else n

    def _search(self, node: GrowthNode, record: NodeRecord, worker: _Worker, *, in_block: bool) -> Histogram:
        """Find the best test of a node; return its histogram."""
        t, state, n = self._t, worker.state, len(node.rows)
        if t.regression and len(worker.search.deviation) < n:
            worker.search = worker.search._replace(deviation=np.empty(n))
        state[:] = 0
        state[DEPTH], state[IN_BLOCK], state[ASKED] = node.depth, in_block, -1
        histogram = node.histogram
        if histogram is None:
            histogram = Histogram(np.empty((0, t.width)), NO_CASES) if in_block else t.new_histogram(node.weights)
            state[SHARED] = self._is_shared(n)
            if len(histogram.cases) and n == t.encoded.codes.shape[1]:
                histogram = histogram._replace(cases=t.all_cases().copy())
                state[KNOWN_CASES] = True
        else:
            state[COUNTED] = True
        cases, key, entries = NodeCases(node.rows, node.weights), np.uint64(node.key), NO_ENTRIES
        while True:
            status = search_node(
                t.encoded,
                t.rules,
                cases,
                key,
                node.used,
                histogram,
                entries,
                worker.search,
                worker.refine,
                worker.by_value,
                state,
                record,
            )
            if status == FINISHED:
                return histogram
            if status == COUNT_PART:
                self._count(cases, worker, worker.search.part[: state[UNTIL]].copy(), histogram)
                state[COUNTED] = True
            elif status == MORE_BUFFERS:
                worker.enlarge(int(state[SORTED]), int(state[FOUND]))
            else:
                entries = t.entries(int(state[ASKED]))

    def _is_shared(self, n: int) -> bool:
        """Return True if the attributes of a node of n cases are counted by all workers."""
        t = self._t
        return t.pool is not None and n >= max(SHARED_FROM, t.n_cases // t.n_jobs) and self._opt["n_sampled"] == 0

    def _count(
        self, cases: NodeCases, worker: _Worker, attributes: npt.NDArray[np.int64], histogram: Histogram
    ) -> None:
        """Count attributes, in all workers where the node is large."""
        t = self._t
        known = worker.state[KNOWN_CASES] == 1

        def count(part: npt.NDArray[np.int64]) -> None:
            count_part(t.encoded, cases, worker.search.deviation, part, known, histogram)

        if self._is_shared(len(cases.rows)):
            self._share(count, np.array_split(attributes, min(2 * t.n_jobs, len(attributes) // 2 + 1)))
        else:
            count(attributes)

    # -- splitting ---------------------------------------------------------------------------------------------------

    def _split(self, node: GrowthNode, record: NodeRecord, histogram: Histogram, worker: _Worker) -> None:
        """Split a node by the test that was found, and create its children."""
        t, opt, ints = self._t, self._opt, record.integers
        cases, n_branches = NodeCases(node.rows, node.weights), int(ints[BRANCHES])
        ends = not t.regression and 0 <= opt["max_depth"] <= node.depth + 1
        fractional = worker.state[COPIES] > 0
        total = len(node.rows) + int(worker.state[COPIES])
        keeps = not ends or fractional
        branches, starts = np.empty(len(node.rows), dtype=np.int32), np.empty(n_branches + 1, dtype=np.int64)
        rows = np.empty(total if keeps else 0, dtype=np.int32)
        weights = np.empty(total) if keeps and (fractional or len(node.weights)) else NO_WEIGHTS
        counts = np.zeros((0 if keeps else n_branches, t.width))
        partition_node(
            t.encoded.codes,
            t.encoded.columns,
            cases,
            ints,
            float(record.edges[0]),
            worker.search.route,
            t.encoded.target,
            branches,
            starts,
            NodeCases(rows, weights),
            counts,
        )
        if not keeps:
            node.branches = branches
            node.children = [
                self._leaf(node, own, size, worker) for own, size in zip(counts, np.diff(starts), strict=True)
            ]
            return
        used = node.used
        if opt["once_per_path"] and t.rules.tests[ints[ATTRIBUTE]] == MULTIWAY:
            used = used.copy()
            used[ints[ATTRIBUTE]] = True
        bounds = starts.tolist()
        for branch, (start, end) in enumerate(pairwise(bounds)):
            own = weights[start:end] if len(weights) else weights
            key = child_key(node.key, branch)
            child = GrowthNode(rows[start:end], own, node.depth + 1, used, key, node.outcome, node.mean)
            node.children.append(child)
        if not fractional:
            self._inherit(node, histogram, worker)

    def _leaf(self, node: GrowthNode, counts: npt.NDArray[np.float64], size: int, worker: _Worker) -> GrowthNode:
        """Return a child that is a leaf whatever its cases are."""
        child = GrowthNode(NO_ROWS, NO_WEIGHTS, node.depth + 1, node.used, 0)
        record = child.record = new_record(self._t.width, self._t.most_values, node.outcome, 0.0)
        record.doubles[COUNTS_AT:] = counts
        pure = size > 0 and write_outcome(record, worker.search.route.stack)
        record.integers[STOP] = EMPTY if size == 0 else PURE if pure else DEPTH_LIMIT
        return child

    def _inherit(self, node: GrowthNode, histogram: Histogram, worker: _Worker) -> None:
        """Count all branches but the largest, which gets the rest of the histogram (sibling subtraction)."""
        t = self._t
        largest = max(node.children, key=lambda child: len(child.rows))
        ends = 0 <= self._opt["max_depth"] <= largest.depth
        if t.regression or not t.whole or ends or self._fits_block(largest) or self._opt["n_sampled"]:
            return
        if 2 * len(largest.rows) <= len(node.rows):
            return
        free = np.flatnonzero(~largest.used & (t.rules.tests != NOT_TESTED))
        worker.state[KNOWN_CASES] = False
        for child in node.children:
            if child is not largest and len(child.rows):
                counted = t.new_histogram(child.weights)
                self._count(NodeCases(child.rows, child.weights), worker, free, counted)
                subtract_part(t.encoded, histogram, counted, free)
                if not self._fits_block(child):
                    child.histogram = counted
        largest.histogram = histogram

    # -- assembly ----------------------------------------------------------------------------------------------------

    @staticmethod
    def _write_leaves(leaves: Rows, nodes: list[GrowthNode]) -> None:
        """Write the leaf of every row, unless some are fractional; `nodes` are in depth-first order."""
        ends = [(number, node) for number, node in enumerate(nodes) if not node.children or node.branches is not None]
        if sum(len(node.rows) for _, node in ends) != len(leaves):
            return
        for number, node in ends:
            found = number if node.branches is None else node.branches + np.int32(number + 1)
            if len(node.rows) == len(leaves):
                leaves[:] = found
            else:
                leaves[node.rows] = found

    def _assembled(self, root: GrowthNode) -> Fragment:
        """Assemble the nodes depth first, with the subtrees of the blocks."""
        nodes: list[GrowthNode] = []
        records: list[NodeRecord] = []
        sides: list[npt.NDArray[np.int8]] = []
        below: dict[int, Fragment] = {}
        n_sides = 0
        waiting = [(root, -1)]
        while waiting:
            node, parent = waiting.pop()
            if node.record is None:  # a worker stopped before it
                raise Cancelled
            record, ints = node.record, node.record.integers
            ints[PARENT] = parent
            if ints[SIDES_AT] >= 0:
                ints[SIDES_AT] = n_sides
                sides.append(record.sides[: self._t.rules.n_values[ints[ATTRIBUTE]]])
                n_sides += len(sides[-1])
            if node.fragment is not None:
                below[len(nodes)] = node.fragment
            waiting += [(child, len(nodes)) for child in reversed(node.children)]
            nodes.append(node)
            records.append(record)
        if self._leaves is not None and not below:
            self._write_leaves(self._leaves, nodes)
        edges = np.stack([record.edges for record in records])
        top = Fragment(
            np.stack([record.integers for record in records]),
            np.stack([record.doubles for record in records]),
            edges[:, 0].copy(),
            edges[:, 1].copy(),
            np.concatenate(sides) if sides else np.zeros(0, dtype=np.int8),
        )
        return concatenate(top, below)


def _open(node: GrowthNode) -> list[GrowthNode]:
    """Return the children that are not processed yet."""
    return node.children if node.branches is None else []
