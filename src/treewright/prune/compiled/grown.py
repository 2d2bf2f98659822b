"""What cases meet on their way down a tree that is pruned: its tests, and the values that these ask for, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.flags import Array, Number, inlined_kernel, part
from treewright.data.dataset import Dataset
from treewright.model.split import Test
from treewright.model.tree import LEAF, TESTS, Tree

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

SMALL = 127
"""Up to so many values and classes, codes have one byte."""


class Grown(NamedTuple):
    """The tree as it was given, and the cases.

    Parameters
    ----------
    fields : array, nodes x columns
        What a case meets at a node, together, since nodes are met in no order; see the names of the columns.
    cut, children, value_branch, bounds : array
        As in the tree.
    codes : array, cases x (the class and nominal attributes)
    numbers : array, cases x numeric attributes
    weights : array
        None at all where every case weighs one.
    """

    fields: Array
    cut: Array
    children: Array
    value_branch: Array
    bounds: Array
    codes: Array
    numbers: Array
    weights: Array


# Columns of `Grown.fields`. The slot is that of the attribute among the nominal or the numeric ones, LEAF in a leaf.
SLOT, TEST, MISSING, CHILDREN_AT, BRANCHES, VALUES_AT, BOUNDS_AT, BOUNDS = range(8)


@inlined_kernel
def branch_of_case(grown: Grown, node: Number, row: Number) -> Number:
    """Return the branch that a case takes by the test of a node."""
    slot, test = grown.fields[node, SLOT], grown.fields[node, TEST]
    branch = np.int64(-1)
    if test == THRESHOLD:
        number = grown.numbers[row, slot]
        if number > grown.cut[node]:
            branch = np.int64(1)
        elif number <= grown.cut[node]:
            branch = np.int64(0)
    elif test == INTERVALS:
        number = grown.numbers[row, slot]
        if not np.isnan(number):
            branch = np.int64(0)
            at = grown.fields[node, BOUNDS_AT]
            for place in range(at, at + grown.fields[node, BOUNDS]):
                if grown.bounds[place] < number:
                    branch += 1
    else:
        code = np.int64(grown.codes[row, slot])
        if code >= 0:
            branch = np.int64(grown.value_branch[grown.fields[node, VALUES_AT] + code])
    return branch if branch >= 0 else np.int64(grown.fields[node, MISSING])


@inlined_kernel
def class_of(grown: Grown, row: Number) -> Number:
    """Return the class of a case."""
    return np.int64(grown.codes[row, 0])


@part
def wait_for_branches(grown: Grown, node: Number, to_settle: Array, waiting: Array, n: Number) -> Number:
    """Put the branches of a node that are still to be settled on the list of n; return its new length."""
    begin = grown.fields[node, CHILDREN_AT]
    for edge in range(begin, begin + grown.fields[node, BRANCHES]):
        if to_settle[grown.children[edge]]:
            waiting[n] = grown.children[edge]
            n += 1
    return n


def grown_of(tree: Tree, dataset: Dataset) -> Grown:
    """Put together what a case meets on its way, and what the tree asks of a case."""
    inner = tree.attribute != LEAF
    attributes = tree.schema.attributes
    used = np.unique(tree.attribute[inner]).tolist()
    numeric = [a for a in used if attributes[a].is_numeric]
    nominal = [a for a in used if not attributes[a].is_numeric]
    slot = np.full(len(attributes) + 1, LEAF, dtype=np.int32)  # the last one for leaves, whose attribute is -1
    slot[numeric], slot[nominal] = np.arange(len(numeric)), np.arange(1, len(nominal) + 1)
    fields = np.empty((tree.n_nodes, 8), dtype=np.int32)
    fields[:, SLOT] = slot[tree.attribute]
    fields[:, TEST], fields[:, MISSING] = tree.test, tree.missing
    fields[:, CHILDREN_AT], fields[:, BRANCHES] = tree.child_start[:-1], np.diff(tree.child_start)
    fields[:, VALUES_AT] = tree.value_start[:-1]
    fields[:, BOUNDS_AT], fields[:, BOUNDS] = tree.bound_start[:-1], np.diff(tree.bound_start)
    most = max(len(tree.schema.classes), *(len(attributes[a].values) for a in [0, *nominal]))
    width = -(-(len(nominal) + 1) // 8) * 8  # whole words, which are moved sooner
    codes = np.zeros((dataset.n_rows, width), dtype=np.int8 if most <= SMALL else np.int32)
    codes[:, 0] = dataset.target
    for place, a in enumerate(nominal):
        codes[:, place + 1] = dataset.columns[a]
    numbers = np.empty((dataset.n_rows, len(numeric)))
    for place, a in enumerate(numeric):
        numbers[:, place] = dataset.columns[a]
    weights = np.zeros(0) if dataset.weights is None else np.asarray(dataset.weights, dtype=np.float64)
    return Grown(fields, tree.cut, tree.children, tree.value_branch, tree.bounds, codes, numbers, weights)
