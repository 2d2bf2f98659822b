"""Sending cases down trees by a kernel: the leaves of `treewright.model.route`, sooner.

A case that no branch takes whole (it would be divided, stay at an inner node, or follow a surrogate) is lost here; the
model sends it the long way.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright._base.processors import processors
from treewright.counts.compiled.flags import Array, Number, borrowing, part
from treewright.data.dataset import Dataset
from treewright.model.split import Test
from treewright.model.tree import TESTS

LOST = -1
"""In place of a leaf: the case has to go the long way."""

ROWS_AT_ONCE = 8192
"""Cases whose values lie together in the cache."""

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

Ints = npt.NDArray[np.int32]


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


@borrowing
def walk(nodes: Nodes, roots: Array, table: Array, found: Array) -> None:
    """Write the node in which each case ends, for every root (cases x roots).

    `table` has the values of the cases, attributes x cases: numbers, or codes of declared values, -1 for missing.
    """
    for tree in range(len(roots)):
        for case in range(found.shape[0]):
            node = np.int64(roots[tree])
            attribute = nodes.attribute[node]
            while attribute >= 0:
                branch = _branch(nodes, node, table[attribute, case])
                if branch < 0:
                    branch = LOST if nodes.stands_in[node] else np.int64(nodes.missing[node])
                if branch < 0:
                    node = np.int64(LOST)
                    break
                node = np.int64(nodes.children[nodes.child_start[node] + branch])
                attribute = nodes.attribute[node]
            found[case, tree] = node


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


def ends_of(trees: Any, roots: npt.NDArray[Any], cases: Dataset, first: int, last: int) -> Ints:
    """Return the nodes in which the cases from `first` to before `last` end, for every root (cases x roots).

    Parameters
    ----------
    trees : Tree or Grove
        Whatever has the arrays.
    roots : array of int
    cases : Dataset
    first, last : int
    """
    names = [name for name in Nodes._fields if name != "stands_in"]
    stands_in = np.zeros(len(trees.attribute), dtype=np.bool_)
    stands_in[list(trees.surrogates)] = True
    nodes = Nodes._make([*(getattr(trees, name) for name in names), stands_in])
    used = np.unique(trees.attribute)
    found = np.empty((last - first, len(roots)), dtype=np.int32)
    starts = np.asarray(roots, dtype=np.int64)

    def some(begin: int) -> None:
        end = min(begin + ROWS_AT_ONCE, last)
        table = np.empty((len(cases.columns), end - begin))
        for attribute in used[used >= 0].tolist():
            table[attribute] = cases.columns[attribute][begin:end]  # codes of values are small: doubles hold them
        walk(nodes, starts, table, found[begin - first : end - first])

    begins = range(first, last, ROWS_AT_ONCE)
    if len(begins) < 2:
        for begin in begins:
            some(begin)
        return found
    with ThreadPoolExecutor(processors()) as pool:
        for _ in pool.map(some, begins):
            pass
    return found
