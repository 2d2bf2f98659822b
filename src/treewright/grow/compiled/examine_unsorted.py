"""Find the best test of every sampled attribute of a node by bucketed search.

After one attribute has a test, others are searched only as far as their gain may be greater.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.bits import number_of
from treewright.counts.compiled.flags import Array, Number, inlined_internal
from treewright.counts.compiled.lanes import LANES
from treewright.grow.compiled.arithmetic import decrease
from treewright.grow.compiled.blocks import BestTests, Rules
from treewright.grow.compiled.buckets import count_buckets, refine_buckets
from treewright.grow.compiled.drawing import shuffle
from treewright.grow.compiled.examine import insertion_sort
from treewright.grow.compiled.options import CUT, MISSING_FRACTIONAL, NOT_TESTED
from treewright.grow.compiled.unsorted import (
    PAIRWISE_CASES,
    CutBuffers,
    Node,
    add_few_candidates,
    finalise,
    pairwise_gains,
    threshold,
)
from treewright.grow.compiled.unsorted_values import SubsetBuffers, best_partition_by_share

NO_LIMIT = -1.0
"""Below every gain."""


TOGETHER = 32
"""Number of attributes that are counted before any of them is refined."""


class NodeCodes(NamedTuple):
    """The codes of a node, and their bounds.

    Parameters
    ----------
    codes : array of int, numeric attributes x cases
    values : array of int, nominal attributes x cases
    low, high : array of int
        Bounds of the codes of each numeric attribute at the node.
    """

    codes: Array
    values: Array
    low: Array
    high: Array


@inlined_internal
def evaluate_bucketed(
    node: Node,
    node_codes: NodeCodes,
    key: np.uint64,
    rules: Rules,
    order: Array,
    buffers: CutBuffers,
    sets: SubsetBuffers | None,
    found: BestTests,
) -> None:
    """Find the best tests of the sampled attributes, and of further ones until there is any test.

    An attribute gets no test where another one has a better test.
    """
    n = np.int64(len(order))
    n_sampled = np.int64(rules.opt[0]["n_sampled"])
    for a in range(n):
        found.state[a] = -1
    if 0 < n_sampled < n:
        shuffle(key, order, n)
        insertion_sort(order, n_sampled)
    else:
        n_sampled = n
        for a in range(n):
            order[a] = a
    if node.size <= PAIRWISE_CASES:
        _evaluate_few(node, node_codes, rules, order, n_sampled, buffers, sets, found)
        return
    start, limit, considered = np.int64(0), NO_LIMIT, False
    # Invariant: the attributes before `start` in `order` are evaluated; no test with a gain below `limit` can be
    # chosen.
    while start < n_sampled or (start < n and not considered):
        end = min(start + TOGETHER, n_sampled) if start < n_sampled else start + 1
        any_, limit = _evaluate_many(node, node_codes, rules, order, start, end, limit, buffers, sets, found)
        considered = considered or any_
        start = end


@inlined_internal
def _evaluate_few(
    node: Node,
    node_codes: NodeCodes,
    rules: Rules,
    order: Array,
    n_sampled: Number,
    buffers: CutBuffers,
    sets: SubsetBuffers | None,
    found: BestTests,
) -> None:
    """Find the best tests of a node of few cases, one attribute after another."""
    opt = rules.opt[0]
    fractional = opt["missing"] == MISSING_FRACTIONAL
    nothing = np.int64(0)
    weight = node.one + node.two
    perfect = decrease(node.before, 0.0, weight, weight)
    limit = NO_LIMIT
    considered = False
    for lane in range(LANES):
        buffers.narrow[node.size + lane] = 0
    for index in range(len(order)):
        if index >= n_sampled and considered:
            return
        a = order[index]
        if rules.tests[a] == NOT_TESTED:
            continue
        if sets is not None and rules.tests[a] != CUT:
            column = node_codes.values[sets.slots[a]]
            any_, limit = best_partition_by_share(a, column, limit, node, fractional, rules, buffers, sets, found)
            considered = considered or any_
        elif node_codes.low[a] < node_codes.high[a]:
            numbers = node_codes.codes[rules.slots[a]]
            for p in range(node.size):
                buffers.codes[p] = numbers[np.uint64(node.cases[np.uint64(node.first + p)])]
            best = pairwise_gains(nothing, node.size, nothing, node, buffers.narrow, buffers)
            if best < 0:
                continue
            considered = True
            gain = number_of(best)
            if gain < limit:
                continue
            limit = max(limit, threshold(gain, node))
            n_candidates = add_few_candidates(nothing, node.size, nothing, limit, node, nothing, buffers)
            finalise(a, n_candidates, node, fractional, buffers, found)
        if found.state[a] == 1 and found.score[a] >= perfect:
            return


@inlined_internal
def _evaluate_many(
    node: Node,
    node_codes: NodeCodes,
    rules: Rules,
    order: Array,
    start: Number,
    end: Number,
    limit: Number,
    buffers: CutBuffers,
    sets: SubsetBuffers | None,
    found: BestTests,
) -> tuple[bool, Number]:
    """Find the best tests of some attributes of a node of many cases that reach a limit, which rises.

    Returns whether there are any, and the limit. All attributes are counted before any is refined: the best cut between
    buckets eliminates most buckets of the others.
    """
    fractional = rules.opt[0]["missing"] == MISSING_FRACTIONAL
    greatest = buffers.greatest
    first = np.int64(0)
    considered = False
    for k in range(end - start):
        a = order[start + k]
        greatest[k] = -1
        if rules.tests[a] == NOT_TESTED:
            continue
        if sets is not None and rules.tests[a] != CUT:
            column = node_codes.values[sets.slots[a]]
            any_, limit = best_partition_by_share(a, column, limit, node, fractional, rules, buffers, sets, found)
            considered = considered or any_
        elif node_codes.low[a] < node_codes.high[a]:
            numbers, low, high = (
                node_codes.codes[rules.slots[a]],
                np.int64(node_codes.low[a]),
                np.int64(node_codes.high[a]),
            )
            greatest[k] = count_buckets(
                numbers, low, high, node, buffers.sums[k], buffers.borders[k], buffers.spans[k], buffers
            )
        if greatest[k] > greatest[first]:
            first = np.int64(k)
    if greatest[first] >= 0:
        limit = max(limit, threshold(number_of(greatest[first]), node))
    for turn in range(end - start):
        k = (first + turn) % (end - start)
        a = order[start + k]
        if rules.tests[a] == CUT and node_codes.low[a] < node_codes.high[a]:
            numbers = node_codes.codes[rules.slots[a]]
            n_candidates, limit = refine_buckets(
                numbers, buffers.sums[k], buffers.borders[k], buffers.spans[k], greatest[k], limit, node, buffers
            )
            if n_candidates > 0:
                finalise(a, n_candidates, node, fractional, buffers, found)
                considered = True
    return considered, limit
