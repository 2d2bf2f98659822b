"""The tree to prune and its cases as arrays: tests by node, and the values of the tested attributes by case."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.flags import Array, Number, inlined_kernel, internal
from treewright.data.dataset import Dataset
from treewright.model.split import Test
from treewright.model.tree import LEAF, TESTS, Tree

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

MOST_BYTE_CODE = 127
"""Up to this many categories and classes, codes have one byte."""


class Grown(NamedTuple):
    """The tree to prune, and its cases.

    Parameters
    ----------
    fields : array, nodes x columns
        The fields of a node in one row, since nodes are visited in no order; see the names of the columns.
    cut, children, value_branch, bounds : array
        As in the tree.
    codes : array, cases x (the class and nominal attributes)
    numbers : array, cases x numeric attributes
    weights : array
        Empty where every case weighs one.
    """

    fields: Array
    cut: Array
    children: Array
    value_branch: Array
    bounds: Array
    codes: Array
    numbers: Array
    weights: Array


# Columns of `Grown.fields`. The slot is the column of the attribute in `codes` or `numbers`, LEAF in a leaf.
(
    SLOT_FIELD,
    TEST_FIELD,
    MISSING_FIELD,
    CHILDREN_FIELD,
    BRANCHES_FIELD,
    CATEGORIES_FIELD,
    BOUNDS_FIELD,
    N_BOUNDS_FIELD,
) = range(8)


@inlined_kernel
def branch_of_case(grown: Grown, node: Number, row: Number) -> Number:
    """Return the branch of a case by the test of a node."""
    slot, test = grown.fields[node, SLOT_FIELD], grown.fields[node, TEST_FIELD]
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
            at = grown.fields[node, BOUNDS_FIELD]
            for index in range(at, at + grown.fields[node, N_BOUNDS_FIELD]):
                if grown.bounds[index] < number:
                    branch += 1
    else:
        code = np.int64(grown.codes[row, slot])
        if code >= 0:
            branch = np.int64(grown.value_branch[grown.fields[node, CATEGORIES_FIELD] + code])
    return branch if branch >= 0 else np.int64(grown.fields[node, MISSING_FIELD])


@inlined_kernel
def class_of(grown: Grown, row: Number) -> Number:
    """Return the class of a case."""
    return np.int64(grown.codes[row, 0])


@internal
def push_children(grown: Grown, node: Number, to_finalise: Array, stack: Array, n: Number) -> Number:
    """Push the children of a node that are not finalised on a stack of n nodes; return its new length."""
    begin = grown.fields[node, CHILDREN_FIELD]
    for edge in range(begin, begin + grown.fields[node, BRANCHES_FIELD]):
        if to_finalise[grown.children[edge]]:
            stack[n] = grown.children[edge]
            n += 1
    return n


def grown_of(tree: Tree, dataset: Dataset) -> Grown:
    """Collect the fields of the nodes, and the values of the attributes that the tree tests."""
    inner = tree.attribute != LEAF
    attributes = tree.schema.attributes
    used = np.unique(tree.attribute[inner]).tolist()
    numeric = [a for a in used if attributes[a].is_numeric]
    nominal = [a for a in used if not attributes[a].is_numeric]
    slot = np.full(len(attributes) + 1, LEAF, dtype=np.int32)  # the last entry is for leaves, whose attribute is -1
    slot[numeric], slot[nominal] = np.arange(len(numeric)), np.arange(1, len(nominal) + 1)
    fields = np.empty((tree.n_nodes, 8), dtype=np.int32)
    fields[:, SLOT_FIELD] = slot[tree.attribute]
    fields[:, TEST_FIELD], fields[:, MISSING_FIELD] = tree.test, tree.missing
    fields[:, CHILDREN_FIELD], fields[:, BRANCHES_FIELD] = tree.child_start[:-1], np.diff(tree.child_start)
    fields[:, CATEGORIES_FIELD] = tree.value_start[:-1]
    fields[:, BOUNDS_FIELD], fields[:, N_BOUNDS_FIELD] = tree.bound_start[:-1], np.diff(tree.bound_start)
    greatest_code = max(len(tree.schema.classes), *(len(attributes[a].values) for a in [0, *nominal]))
    width = -(-(len(nominal) + 1) // 8) * 8  # padded to 64-bit words, which are copied faster
    codes = np.zeros((dataset.n_rows, width), dtype=np.int8 if greatest_code <= MOST_BYTE_CODE else np.int32)
    codes[:, 0] = dataset.target
    for index, a in enumerate(nominal):
        codes[:, index + 1] = dataset.columns[a]
    numbers = np.empty((dataset.n_rows, len(numeric)))
    for index, a in enumerate(numeric):
        numbers[:, index] = dataset.columns[a]
    weights = np.zeros(0) if dataset.weights is None else np.asarray(dataset.weights, dtype=np.float64)
    return Grown(fields, tree.cut, tree.children, tree.value_branch, tree.bounds, codes, numbers, weights)
