"""Kernels that send cases down trees.

Vocabulary
----------
lost
    A case that no branch takes whole (it would be divided, stay at an inner node, or follow a surrogate). The model
    sends it the long way.
step
    What a case meets at a node that cuts: where in its row the number lies, the cut, and the place of the node below
    it; the one above it lies next to that. A leaf leads to itself, by a cut that no number is above. So a step asks no
    question that the processor could guess wrong.
lane
    A case on its way down. Some dozens of them go side by side, one step each in turn, so that the processor need not
    wait for the memory of any; those that have arrived are sorted out every few steps.
odd
    A case without one of its numbers. It goes down alone, and asks at every node where to go.

The numbers of the cases are read in the order in which they lie before the cases go down: only so does the processor
fetch them ahead. What is then read here and there lies near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.flags import Array, Number, borrowing, part
from treewright.model.split import Test
from treewright.model.tree import TESTS

LOST = -1
"""In place of a leaf: the case has to go the long way."""

BATCH_SLOTS = 128
"""Cases that go down side by side: with some 30 attributes, their numbers just fill the nearest cache."""

STEPS = 5
"""Steps after which lanes that have arrived are sorted out. Steps beyond a leaf are lost, and so is every sorting."""

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

STEP = np.dtype([("cut", np.float64), ("offset", np.uint32), ("below", np.uint32)])


class Nodes(NamedTuple):
    """The arrays of a tree, or of many trees numbered through."""

    attribute: Array
    test: Array
    cut: Array
    missing: Array
    child_start: Array
    children: Array
    value_start: Array
    value_branch: Array
    bound_start: Array
    bounds: Array
    stands_in: Array


class Table(NamedTuple):
    """The numbers of cases in one piece of memory, and how far apart those of neighbouring cases and attributes lie.

    Codes of declared values are numbers, too; -1 for missing.
    """

    cells: Array
    case_step: Number
    attribute_step: Number
    attributes: Number


class Lists(NamedTuple):
    """Lists for `walk_cuts` to work in: of odd and of other cases, and of where lanes begin to read and are."""

    odd: Array
    whole: Array
    row: Array
    place: Array
    case: Array


@borrowing
def walk_cuts(steps: Array, names: Array, roots: Array, table: Table, lists: Lists, found: Array) -> Number:
    """Write the leaf of each case that is not odd, for every root (roots x cases), where all tests are cuts.

    Parameters
    ----------
    steps : array of STEP
    names : array
        The node at each place of `steps`.
    roots : array
        Places.
    table : Table
    lists : Lists
        The odd cases are listed afterwards.
    found : array, roots x cases

    Returns
    -------
    int
        How many cases are odd: what is written for them means nothing.
    """
    zero, one, lanes = np.uint64(0), np.uint64(1), np.uint64(BATCH_SLOTS)
    n = np.uint64(found.shape[1])
    # One tree stays in the cache, and so do the cases that go side by side; of many trees each in turn, for all cases.
    reach = lanes if len(roots) == 1 else n
    n_odd = begin = zero
    while begin < n:
        end = min(begin + reach, n)
        _look(table, begin, end, found[0])
        n_whole = zero
        for case in range(begin, end):
            odd = found[0, case]
            lists.odd[n_odd] = case
            lists.whole[n_whole] = case
            n_odd += np.uint64(odd != 0)
            n_whole += np.uint64(odd == 0)
        for tree in range(len(roots)):
            for first in range(zero, n_whole, lanes):
                going = min(lanes, n_whole - first)
                if len(roots) > 1:  # else they were read just now
                    _look(table, lists.whole[first], lists.whole[first + going - one] + one, found[tree])
                for lane in range(going):
                    lists.case[lane] = lists.whole[first + lane]
                    lists.row[lane] = lists.whole[first + lane] * np.uint64(table.case_step)
                    lists.place[lane] = roots[tree]
                while going:
                    for _ in range(STEPS):
                        for lane in range(going):
                            step = steps[lists.place[lane]]
                            value = table.cells[lists.row[lane] + np.uint64(step["offset"])]
                            lists.place[lane] = np.uint64(step["below"]) + np.uint64(value > step["cut"])
                    still = zero
                    for lane in range(going):
                        case, row, place = lists.case[lane], lists.row[lane], lists.place[lane]
                        found[tree, case] = place
                        lists.case[still], lists.row[still], lists.place[still] = case, row, place
                        still += np.uint64(steps[place]["below"] != place)
                    going = still
            for at in range(n_whole):
                found[tree, lists.whole[at]] = names[found[tree, lists.whole[at]]]
        begin = end
    return n_odd


@part
def _look(table: Table, begin: Number, end: Number, odd: Array) -> None:
    """Read the numbers of some cases in the order in which they lie, and write whether one is missing."""
    attributes = np.uint64(table.attributes)
    if table.attribute_step == 1:
        for case in range(begin, end):
            start = case * np.uint64(table.case_step)
            missing = np.int64(0)
            for place in range(start, start + attributes):
                missing |= np.int64(np.isnan(table.cells[place]))
            odd[case] = missing
    else:
        for case in range(begin, end):
            odd[case] = 0
        for attribute in range(attributes):
            start = attribute * np.uint64(table.attribute_step)
            for case in range(begin, end):
                odd[case] |= np.int32(np.isnan(table.cells[start + case]))


@borrowing
def walk(nodes: Nodes, roots: Array, table: Table, cases: Array, found: Array) -> None:
    """Write the node in which each of some cases ends, for every root (roots x cases)."""
    for tree in range(len(roots)):
        for case in cases:
            node = np.int64(roots[tree])
            attribute = nodes.attribute[node]
            while attribute >= 0:
                value = table.cells[np.int64(case) * table.case_step + attribute * table.attribute_step]
                branch = _branch(nodes, node, value)
                if branch < 0:
                    branch = LOST if nodes.stands_in[node] else np.int64(nodes.missing[node])
                if branch < 0:
                    node = np.int64(LOST)
                    break
                node = np.int64(nodes.children[nodes.child_start[node] + branch])
                attribute = nodes.attribute[node]
            found[tree, case] = node


@part
def _branch(nodes: Nodes, node: Number, value: Number) -> Number:
    """Return the branch of a value, -1 where it is missing or belongs to none."""
    test = nodes.test[node]
    if test == THRESHOLD:
        if np.isnan(value):
            return np.int64(-1)
        return np.int64(1) if value > nodes.cut[node] else np.int64(0)
    if test == INTERVALS:
        if np.isnan(value):
            return np.int64(-1)
        branch = np.int64(0)
        for place in range(nodes.bound_start[node], nodes.bound_start[node + 1]):
            if nodes.bounds[place] < value:
                branch += 1
        return branch
    return np.int64(-1) if value < 0 else np.int64(nodes.value_branch[nodes.value_start[node] + np.int64(value)])


@borrowing
def add_up(found: Array, number: Array, said: Array, weights: Array, sums: Array) -> None:
    """Add what the leaves say of each case, tree by tree; a case that is lost in any gets NaN.

    Parameters
    ----------
    found : array, trees x cases
        Nodes.
    number : array
        Row in `said` of each node.
    said : array, leaves x statements
    weights : array
        Of the trees.
    sums : array, cases x statements
        Zeros.
    """
    for tree in range(found.shape[0]):
        weight = weights[tree]
        for case in range(found.shape[1]):
            node = found[tree, case]
            for k in range(sums.shape[1]):
                sums[case, k] += said[number[node], k] * weight if node >= 0 else np.nan
