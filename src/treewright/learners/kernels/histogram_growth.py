"""Histogram growth: nodes too large for a block are split by their histograms, one by one.

A histogram node has more than `BLOCK` cases, or more than `SHALLOW` where the depth limit ends the tree soon: sorting
them would not pay off. Its attributes are counted in one pass. After a split, all branches but the largest are counted;
the histogram of the largest is its parent's minus theirs. A node that fits into a block is grown by one kernel.

Nodes are processed in threads of a pool, histogram nodes first and the youngest of them first, so that few histograms
are in memory at a time. The tree does not depend on the order: it is assembled at the end, depth first.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.arrays import Branches, Flags, Rows, Statistics, Weights
from treewright.counting.numba import partition_rows, route_and_count, route_rows, sum_class_weights
from treewright.learners.base import Progress
from treewright.learners.kernels.assemble import Fragment, concatenate
from treewright.learners.kernels.histogram_search import NO_WEIGHTS, Floats, Histogram, Search, Table, count_node
from treewright.learners.kernels.options import NOT_TESTED
from treewright.learners.kernels.workspace import (
    ATTRIBUTE,
    BRANCHES,
    COUNTS_AT,
    HIGH,
    LOW,
    MEAN,
    MISSING,
    OUTCOME,
    PARENT,
    SIDES_AT,
    SSE,
    STOP,
    WEIGHT,
)
from treewright.learners.sampling import child_key
from treewright.tree.split import KNOWN, Split, Test
from treewright.tree.tree import STOPS, Stop

BLOCK = 8192
"""Nodes of at most this many cases are grown by one kernel."""

SHALLOW = 1024
"""Where at most `LEVELS` levels follow, only nodes of at most this many cases are."""

LEVELS = 3

NO_ROWS: Rows = np.zeros(0, dtype=np.int32)


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
    counts, weight, sse, stop, split, children, fragment, branches
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
    counts: Statistics = field(default_factory=lambda: NO_WEIGHTS)
    weight: float = 0.0
    sse: float = 0.0
    stop: int = -1
    split: Split | None = None
    children: list[GrowthNode] = field(default_factory=list)
    fragment: Fragment | None = None
    branches: Branches | None = None


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
        self._finish = finish
        self._progress = progress
        self._leaves = leaves
        self._done = 0

    def grow(self, root: GrowthNode) -> Fragment:
        """Grow the whole tree."""
        pool = self._t.pool
        if pool is None or self._t.options["max_depth"][0] == 1:  # a stump has one node to split
            waiting = [root]
            while waiting:
                node = waiting.pop()
                self._report(self._process(node))
                waiting += reversed(_open(node))
        else:
            self._in_threads(root, pool)
        return self._assembled(root)

    def _in_threads(self, root: GrowthNode, pool: ThreadPoolExecutor) -> None:
        large: list[GrowthNode] = [root]
        small: list[GrowthNode] = []
        running: dict[Future[int], GrowthNode] = {}
        most_running = self._t.n_jobs + 1  # one more than there are threads, so that none is idle
        while large or small or running:
            while len(running) < most_running and (large or small):
                node = (large or small).pop()
                running[pool.submit(self._process, node)] = node
            done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)  # the timeout lets an interrupt through
            for future in done:
                node = running.pop(future)
                self._report(future.result())
                for child in reversed(_open(node)):
                    (small if self._fits_block(child) else large).append(child)

    def _report(self, cases: int) -> None:
        if cases and self._progress is not None:
            self._done += cases
            self._progress(min(self._done, self._t.n_cases), self._t.n_cases)

    # -- one node ----------------------------------------------------------------------------------------------------

    def _fits_block(self, node: GrowthNode) -> bool:
        n = len(node.rows)
        levels = int(self._t.options["max_depth"][0]) - node.depth
        return n <= min(BLOCK, SHALLOW) or (n <= BLOCK and not 0 <= levels <= LEVELS)

    def _process(self, node: GrowthNode) -> int:
        """Process a node; return the number of its cases if it is finished, else 0."""
        n = len(node.rows)
        pure = self._summarise(node)
        stop = self._stop(node, n, pure)
        if stop is None and self._fits_block(node):
            node.fragment = self._finish(node)
        elif stop is None:
            stop = self._split(node)
        if stop is not None:
            node.stop = STOPS.index(stop)
        if self._leaves is None or (node.children and node.branches is None):
            node.rows = NO_ROWS
        node.weights, node.histogram = NO_WEIGHTS, None
        return 0 if _open(node) else n

    def _summarise(self, node: GrowthNode) -> bool:
        """Set weight and outcome of a node; return True if it is pure."""
        t = self._t
        node.counts = np.zeros(t.width)
        if len(node.rows) == 0:
            return False
        if not t.regression:
            sum_class_weights(node.rows, t.target, node.weights, node.counts)
            return _set_outcome(node)
        numbers = t.target[node.rows]
        w = node.weights if len(node.weights) else np.ones(len(numbers))
        node.weight = float(w.sum())
        if numbers.min() == numbers.max():
            node.mean = float(numbers[0])
        else:
            node.mean = float((w * numbers).sum()) / node.weight
            node.mean += float((w * (numbers - node.mean)).sum()) / node.weight
            node.sse = float((w * (numbers - node.mean) ** 2).sum())
        node.counts = np.array([node.weight, 0.0, node.sse])
        return bool(numbers.min() == numbers.max())

    def _stop(self, node: GrowthNode, n: int, pure: bool) -> Stop | None:
        o = self._t.options[0]
        if n == 0:
            return Stop.EMPTY
        if pure:
            return Stop.PURE
        if 0 <= o["max_depth"] <= node.depth:
            return Stop.DEPTH
        few = n < o["min_cases"] or n < 2 * o["min_leaf"]
        if few or node.weight < o["min_weight"] or node.weight < o["least_node"]:
            return Stop.TOO_FEW
        return Stop.NO_ATTRIBUTES if node.used.all() else None

    # -- splitting ---------------------------------------------------------------------------------------------------

    def _split(self, node: GrowthNode) -> Stop | None:
        """Split a node by its best test and create its children; return the reason if it is not split."""
        t = self._t
        deviation = t.target[node.rows] - node.mean if t.regression else NO_WEIGHTS
        search = Search(t, node.rows, node.weights, deviation, node.key, node.histogram)
        best = search.best(node.used)
        if best is None or best.split is None:
            return Stop.NO_GAIN
        o = t.options[0]
        if best.score * node.weight / float(o["total_weight"]) < float(o["min_decrease"]):
            return Stop.SMALL_GAIN
        node.split = best.split
        used = node.used
        if t.recipe.once_per_path and best.split.test in {Test.NOMINAL, Test.INTERVALS}:
            used = used.copy()
            used[best.attribute] = True
        if not t.regression and 0 <= o["max_depth"] <= node.depth + 1 and self._end_below(node, best.split):
            return None
        node.children = [
            GrowthNode(rows, weights, node.depth + 1, used, child_key(node.key, branch), node.outcome, node.mean)
            for branch, (rows, weights) in enumerate(self._partition(node, best.split))
        ]
        self._inherit(node, search.histogram)
        return None

    def _end_below(self, node: GrowthNode, split: Split) -> bool:
        """Create children that are leaves in any case, in one pass; return False if there are fractional cases."""
        t = self._t
        n = split.n_branches
        codes, column, table, threshold_bin = self._branch_table(split)
        branches = np.empty(len(node.rows), dtype=np.int32)
        sizes, counts = np.zeros(n + 1, dtype=np.int64), np.zeros((n + 1, t.width))
        route_and_count(codes, column, node.rows, node.weights, t.target, table, threshold_bin, branches, sizes, counts)
        if sizes[n] > 0:
            return False
        for branch in range(n):
            child = GrowthNode(NO_ROWS, NO_WEIGHTS, node.depth + 1, node.used, 0, node.outcome, counts=counts[branch])
            pure = sizes[branch] > 0 and _set_outcome(child)
            child.stop = STOPS.index(Stop.EMPTY if sizes[branch] == 0 else Stop.PURE if pure else Stop.DEPTH)
            node.children.append(child)
        node.branches = branches
        return True

    def _partition(self, node: GrowthNode, split: Split) -> list[tuple[Rows, Floats]]:
        """Return the cases of each branch; a case without a branch becomes fractional cases of all others."""
        n = split.n_branches
        codes, column, table, threshold_bin = self._branch_table(split)
        branches = np.empty(len(node.rows), dtype=np.int32)
        sizes, sums = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1)
        route_rows(codes, column, node.rows, node.weights, table, threshold_bin, branches, sizes, sums)
        fractional = sizes[n] > 0
        whole = np.where(sizes[:n] > 0, sizes[:n] + sizes[n], 0)
        ends = np.cumsum(whole)
        starts = ends - whole
        rows = np.empty(int(ends[-1]), dtype=np.int32)
        weights = np.empty(len(rows)) if fractional or len(node.weights) else NO_WEIGHTS
        shares = sums[:n] / sums[:n].sum() if fractional else sums[:n]
        partition_rows(node.rows, node.weights, branches, sizes, shares, starts.copy(), rows, weights)
        return [
            (rows[start:end], weights[start:end] if len(weights) else weights)
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]

    def _branch_table(self, split: Split) -> tuple[Any, Any, npt.NDArray[np.int32], tuple[int, float]]:
        """Return codes and values of the attribute, the branch of each code, and the bin of the threshold with it.

        The bin is -1 where there is none.
        """
        t, a = self._t, split.attribute
        coded = t.coded[a]
        table = np.full(coded.n_codes, -1, dtype=np.int32)
        threshold_bin, cut = -1, 0.0
        if split.cut is None:
            table[1:] = np.arange(coded.n_codes - 1) if split.test is Test.INTERVALS else split.branch_of
        elif coded.numbers is not None:
            table[1:] = coded.numbers > split.cut
        elif coded.borders is not None:
            threshold_bin, cut = int(np.searchsorted(coded.borders, split.cut, side="left")) + 1, float(split.cut)
            table[1:threshold_bin] = 0
            table[threshold_bin:] = 1
        if split.missing >= 0:
            table[table < 0] = split.missing
        return t.codes[a], NO_WEIGHTS if t.single[a] else t.columns[a], table, (threshold_bin, cut)

    def _inherit(self, node: GrowthNode, histogram: Histogram | None) -> None:
        """Count all branches but the largest, which gets the rest of the histogram (sibling subtraction)."""
        t = self._t
        largest = max(node.children, key=lambda child: len(child.rows))
        fractional = sum(len(child.rows) for child in node.children) != len(node.rows)
        ends = 0 <= int(t.options["max_depth"][0]) <= largest.depth
        if histogram is None or t.regression or not t.whole or fractional or ends or self._fits_block(largest):
            return
        if 2 * len(largest.rows) <= len(node.rows):
            return
        free = np.flatnonzero(~largest.used & (t.tests != NOT_TESTED))
        for child in node.children:
            if child is not largest and len(child.rows):
                counted = count_node(t, child.rows, child.weights, NO_WEIGHTS, free)
                _subtract(histogram, counted, free)
                if not self._fits_block(child):
                    child.histogram = counted
        largest.histogram = histogram

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

    # -- assembly ----------------------------------------------------------------------------------------------------

    def _assembled(self, root: GrowthNode) -> Fragment:
        """Assemble the nodes depth first, with the subtrees of the blocks."""
        nodes: list[tuple[GrowthNode, int]] = []
        waiting = [(root, -1)]
        while waiting:
            node, parent = waiting.pop()
            waiting += [(child, len(nodes)) for child in reversed(node.children)]
            nodes.append((node, parent))
        n = len(nodes)
        integers = np.full((n, 9), -1, dtype=np.int32)
        doubles = np.zeros((n, COUNTS_AT + self._t.width))
        low, high = np.full(n, np.nan), np.full(n, np.nan)
        sides: list[int] = []
        below: dict[int, Fragment] = {}
        for number, (node, parent) in enumerate(nodes):
            integers[number, [PARENT, OUTCOME, STOP, BRANCHES]] = parent, node.outcome, node.stop, 0
            doubles[number, [WEIGHT, MEAN, SSE]] = node.weight, node.mean, node.sse
            doubles[number, COUNTS_AT:] = node.counts
            if node.fragment is not None:
                below[number] = node.fragment
            split = node.split
            if split is None:
                continue
            integers[number, [ATTRIBUTE, BRANCHES, MISSING]] = split.attribute, split.n_branches, split.missing
            if split.cut is not None:
                integers[number, LOW] = integers[number, HIGH] = 0
                low[number] = split.cut
                high[number] = np.inf if split.cut == KNOWN else split.cut
            elif split.test is Test.SUBSET:
                integers[number, SIDES_AT] = len(sides)
                sides += split.branch_of
        if self._leaves is not None and not below:
            self._write_leaves(self._leaves, [node for node, _ in nodes])
        return concatenate(Fragment(integers, doubles, low, high, np.array(sides, dtype=np.int8)), below)


def _open(node: GrowthNode) -> list[GrowthNode]:
    """Return the children that are not processed yet."""
    return node.children if node.branches is None else []


def _set_outcome(node: GrowthNode) -> bool:
    """Set weight and outcome of a node by its class weights; return True if it is pure."""
    node.weight = float(node.counts.sum())
    node.outcome = int(np.argmax(node.counts >= node.counts.max() * (1 - 1e-12)))
    return int(np.count_nonzero(node.counts)) <= 1


def _subtract(histogram: Histogram, counted: Histogram, attributes: npt.NDArray[np.intp]) -> None:
    """Subtract a histogram of these attributes from one that has them, and perhaps more."""
    if np.array_equal(histogram.starts, counted.starts):
        np.subtract(histogram.counts, counted.counts, out=histogram.counts)
        np.subtract(histogram.cases, counted.cases, out=histogram.cases)
        return
    for attribute in attributes.tolist():
        mine, other = histogram.of(attribute), counted.of(attribute)
        histogram.counts[mine] -= counted.counts[other]
        if len(counted.cases):
            histogram.cases[mine] -= counted.cases[other]
