"""Sending cases down trees by a kernel: the leaves of `treewright.model.route`, sooner.

Vocabulary
----------
lost
    A case that no branch takes whole (it would be divided, stay at an inner node, or follow a surrogate). The model
    sends it the long way.
step
    What a case meets at a node that cuts: the attribute, the cut, and the node above the cut; below it the next node
    follows. A leaf leads to itself, by a cut that no number is below. So four cases can go down side by side without a
    question asked but whether all of them have arrived, and the processor need not wait for the memory of each.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright._base.processors import processors
from treewright.counts.compiled.flags import Array, Number, borrowing, part
from treewright.data.dataset import Dataset
from treewright.model.split import Test
from treewright.model.tree import LEAF, TESTS

LOST = -1
"""In place of a leaf: the case has to go the long way."""

ROWS_AT_ONCE = 8192
"""Cases that go down one tree before the next, whose nodes then have to come into the cache."""

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

STEP = np.dtype([("cut", np.float64), ("attribute", np.uint32), ("above", np.uint32)])

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


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
def walk_cuts(steps: Array, roots: Array, table: Array, found: Array) -> Number:
    """Write the leaf of each case, for every root (roots x cases), where all tests are cuts.

    `table` has the numbers of the cases, cases x attributes. Returns whether one of those that were looked at is
    missing: then what is written is wrong. Indices are unsigned, so that none is taken from the end.
    """
    n = np.uint64(found.shape[1])
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    missing = False
    for tree in range(len(roots)):
        root = np.uint64(roots[tree])
        case = np.uint64(0)
        while case < n:
            if n >= four:
                case = min(case, n - four)  # at the end some cases go down a second time
                at_b, at_c, at_d = case + one, case + two, case + three
            else:
                at_b = at_c = at_d = case
            a = b = c = d = root
            while True:
                of_a, of_b = table[case, steps[a]["attribute"]], table[at_b, steps[b]["attribute"]]
                of_c, of_d = table[at_c, steps[c]["attribute"]], table[at_d, steps[d]["attribute"]]
                next_a = a + one if of_a <= steps[a]["cut"] else np.uint64(steps[a]["above"])
                next_b = b + one if of_b <= steps[b]["cut"] else np.uint64(steps[b]["above"])
                next_c = c + one if of_c <= steps[c]["cut"] else np.uint64(steps[c]["above"])
                next_d = d + one if of_d <= steps[d]["cut"] else np.uint64(steps[d]["above"])
                missing |= np.isnan(of_a) | np.isnan(of_b) | np.isnan(of_c) | np.isnan(of_d)
                if next_a == a and next_b == b and next_c == c and next_d == d:
                    break
                a, b, c, d = next_a, next_b, next_c, next_d
            found[tree, case] = a
            found[tree, at_b] = b
            found[tree, at_c] = c
            found[tree, at_d] = d
            case += four if n >= four else one
    return missing


@borrowing
def walk(nodes: Nodes, roots: Array, table: Array, found: Array) -> None:
    """Write the node in which each case ends, for every root (roots x cases).

    `table` has the values of the cases, cases x attributes: numbers, or codes of declared values, -1 for missing.
    """
    for tree in range(len(roots)):
        for case in range(found.shape[1]):
            node = np.int64(roots[tree])
            attribute = nodes.attribute[node]
            while attribute >= 0:
                branch = _branch(nodes, node, table[case, attribute])
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


class Router:
    """Trees made ready to send cases down.

    Parameters
    ----------
    trees : Tree or Grove
        Whatever has the arrays.
    roots : array of int
    """

    def __init__(self, trees: Any, roots: npt.NDArray[Any]) -> None:
        attribute = trees.attribute
        inner = attribute != LEAF
        self._roots = np.asarray(roots, dtype=np.int64)
        self._used = np.flatnonzero(np.bincount(attribute[inner])).tolist()
        self._by_cuts = bool(np.all(trees.test[inner] == THRESHOLD))
        stands_in = np.zeros(len(attribute), dtype=np.bool_)
        stands_in[list(trees.surrogates)] = True
        names = [name for name in Nodes._fields if name != "stands_in"]
        self._nodes = Nodes._make([*(getattr(trees, name) for name in names), stands_in])
        self._steps = np.empty(len(attribute) if self._by_cuts else 0, dtype=STEP)
        if self._by_cuts:
            self._steps["cut"] = np.where(inner, trees.cut, np.nan)
            self._steps["attribute"] = np.where(inner, attribute, self._used[0] if self._used else 0)
            self._steps["above"] = np.arange(len(attribute), dtype=np.uint32)
            self._steps["above"][inner] = trees.children[trees.child_start[:-1][inner] + 1]

    def nodes(self, cases: Dataset, begin: int, end: int) -> Ints:
        """Return the node in which the cases from `begin` to before `end` end, for every root (roots x cases)."""
        whole = as_one_table(cases)
        if whole is not None:
            table = whole[begin:end]
        else:
            table = np.zeros((end - begin, len(cases.columns)))
            for attribute in self._used:
                table[:, attribute] = cases.columns[attribute][begin:end]  # codes are small: doubles hold them
        found = np.empty((len(self._roots), end - begin), dtype=np.int32)
        if not self._by_cuts or walk_cuts(self._steps, self._roots, table, found):
            walk(self._nodes, self._roots, table, found)
        return found


def as_one_table(cases: Dataset) -> Floats | None:
    """Return the columns as one table, cases x attributes, if they lie in memory as such a one.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from treewright.data.samples import sample
    >>> numbers = np.arange(6.0).reshape(3, 2)
    >>> as_one_table(replace(sample("play-tennis"), columns=tuple(numbers.T), n_rows=3)).tolist()
    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    >>> as_one_table(sample("play-tennis")) is None
    True
    """
    if not cases.columns:
        return None
    first, step = cases.columns[0], 8 * len(cases.columns)
    place = first.__array_interface__["data"][0]
    for attribute, column in enumerate(cases.columns):
        # What cannot be written to has a type of its own, for which kernels would have to be compiled again.
        as_here = column.dtype == np.float64 and column.strides == (step,) and column.flags.writeable
        if not as_here or column.__array_interface__["data"][0] != place + 8 * attribute:
            return None
    table: Floats = np.lib.stride_tricks.as_strided(first, (cases.n_rows, len(cases.columns)), (step, 8))
    return table


def ends_of(trees: Any, roots: npt.NDArray[Any], cases: Dataset, first: int, last: int) -> Ints:
    """Return the nodes in which the cases from `first` to before `last` end, for every root (cases x roots).

    Parameters
    ----------
    trees : Tree or Grove
    roots : array of int
    cases : Dataset
    first, last : int
    """
    router = Router(trees, roots)
    found = np.empty((len(roots), last - first), dtype=np.int32)

    def some(begin: int, end: int) -> None:
        found[:, begin - first : end - first] = router.nodes(cases, begin, end)

    in_stretches(some, first, last)
    return found.T


def sums_of(trees: Any, roots: npt.NDArray[Any], cases: Dataset, number: Ints, said: Floats, weights: Floats) -> Floats:
    """Return what the leaves of all trees say of each case, added up (cases x statements); NaN for lost cases.

    Parameters
    ----------
    trees : Tree or Grove
    roots : array of int
    cases : Dataset
    number : array of int
        Row in `said` of each node.
    said : array, rows x statements
    weights : array
        Of the trees.
    """
    router = Router(trees, roots)
    sums = np.zeros((cases.n_rows, said.shape[1]))

    def some(begin: int, end: int) -> None:
        add_up(router.nodes(cases, begin, end), number, said, weights, sums[begin:end])

    in_stretches(some, 0, cases.n_rows)
    return sums


def in_stretches(work: Callable[[int, int], None], first: int, last: int) -> None:
    """Do the cases from `first` to before `last`, some thousand at a time, in threads."""
    begins = range(first, last, ROWS_AT_ONCE)
    ends = [min(begin + ROWS_AT_ONCE, last) for begin in begins]
    if len(begins) < 2:
        for begin, end in zip(begins, ends, strict=True):
            work(begin, end)
        return
    with ThreadPoolExecutor(processors()) as pool:
        for _ in pool.map(work, begins, ends):
            pass
