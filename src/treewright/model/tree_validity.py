"""Validation of a tree, also one from a file.

Whole arrays are checked wherever possible; only nodes with an uncommon test are checked one by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ModelFormatError, ParameterError
from treewright.model.split import NUMERIC_TESTS, STAY, Split, Test
from treewright.model.tree import LEAF, STOPS, TESTS, Tree


def validate(tree: Tree) -> None:
    """Raise `ModelFormatError` unless every invariant holds."""
    n = tree.n_nodes
    if n == 0:
        raise ModelFormatError("a tree has at least one node")
    for name in ("test", "cut", "missing", "weight", "outcome", "stop"):
        if len(getattr(tree, name)) != n:
            raise ModelFormatError(f"{name} has {len(getattr(tree, name))} entries for {n} nodes")
    classes = 0 if tree.is_regression else len(tree.schema.classes)
    if tree.counts.shape != (n, classes):
        raise ModelFormatError(f"counts have shape {tree.counts.shape}, expected {(n, classes)}")
    for optional in (tree.sse, tree.estimate):
        if optional is not None and (len(optional) != n or not np.all(np.isfinite(optional))):
            raise ModelFormatError("sse or estimate is damaged")
    if tree.is_regression and tree.sse is None:
        raise ModelFormatError("a regression tree needs sse")
    if tree.p_value is not None:
        known = tree.p_value[~np.isnan(tree.p_value)]
        if len(tree.p_value) != n or np.any(known < 0) or not np.all(np.isfinite(known)):
            raise ModelFormatError("p_value is damaged")
    _validate_links(tree)
    _validate_numbers(tree)
    for node in np.flatnonzero(~_valid_by_arrays(tree)).tolist():
        _validate_node(tree, node)
    for node, surrogates in tree.surrogates.items():
        if not 0 <= node < n or tree.attribute[node] == LEAF or len(tree.children_of(node)) != 2:
            raise ModelFormatError(f"node {node} cannot have surrogates")
        for surrogate in surrogates:
            _validate_test(tree, node, surrogate.split)


def _validate_links(tree: Tree) -> None:
    n = tree.n_nodes
    for name, flat in (("child", tree.children), ("value", tree.value_branch), ("bound", tree.bounds)):
        start = getattr(tree, f"{name}_start")
        if len(start) != n + 1 or start[0] != 0 or start[-1] != len(flat) or np.any(start[1:] < start[:-1]):
            raise ModelFormatError(f"{name}_start does not fit")
    is_child = np.zeros(n, dtype=bool)
    is_child[tree.children[(tree.children > 0) & (tree.children < n)]] = True
    if len(tree.children) != n - 1 or np.count_nonzero(is_child) != n - 1:
        raise ModelFormatError("every node but the root must be the child of exactly one node")
    owner = np.repeat(np.arange(n), np.diff(tree.child_start))
    if np.any(tree.children <= owner):
        raise ModelFormatError("a child must come after its parent")
    inner = tree.attribute != LEAF
    if np.any((np.diff(tree.child_start) > 0) != inner):
        raise ModelFormatError("inner nodes have branches and leaves have none")
    _validate_order(tree)


def _validate_order(tree: Tree) -> None:
    """Raise unless nodes are numbered depth first.

    In index order, each node fills one open slot and opens one slot per branch. The slots form a stack, so the number
    of slots below a slot determines which nodes can fill it. Since every node is the child of an earlier one, the
    order is right if these numbers are.
    """
    branches = np.diff(tree.child_start)
    below = np.cumsum(branches - 1) - (branches - 1)  # open slots below the one that the node fills
    owner = np.repeat(np.arange(tree.n_nodes), branches)
    turn = np.arange(len(owner)) - tree.child_start[owner]
    wrong = below[tree.children] != below[owner] + branches[owner] - 1 - turn
    if np.any(wrong):
        node = int(owner[np.argmax(wrong)])
        raise ModelFormatError(f"the nodes below node {node} are not numbered depth first")


def _validate_numbers(tree: Tree) -> None:
    for name in ("weight", "counts", "outcome"):
        if not np.all(np.isfinite(getattr(tree, name))):
            raise ModelFormatError(f"{name} has a number that is not finite")
    if np.any(tree.weight < 0) or np.any(tree.counts < 0) or (tree.sse is not None and np.any(tree.sse < 0)):
        raise ModelFormatError("a weight, a count or a sum of squares is negative")
    if not tree.is_regression and np.any((tree.outcome < 0) | (tree.outcome >= len(tree.schema.classes))):
        raise ModelFormatError("an outcome is not a class")
    if np.any((tree.attribute < LEAF) | (tree.attribute >= len(tree.schema.attributes))):
        raise ModelFormatError("a node tests an attribute that the schema does not have")
    if np.any((tree.test < 0) | (tree.test >= len(TESTS))):
        raise ModelFormatError("a node has an unknown form of test")
    leaf = tree.attribute == LEAF
    if np.any((tree.stop < -1) | (tree.stop >= len(STOPS))) or np.any((tree.stop >= 0) != leaf):
        raise ModelFormatError("leaves, and only leaves, have a stop reason")


def _valid_by_arrays(tree: Tree) -> npt.NDArray[np.bool_]:
    """Return which leaves, thresholds, nominal tests and binary subset tests are valid; others need a closer check."""
    n = tree.n_nodes
    branches, values, bounds = (np.diff(start) for start in (tree.child_start, tree.value_start, tree.bound_start))
    leaf = tree.attribute == LEAF
    numeric = np.array([column.is_numeric for column in tree.schema.attributes], dtype=bool)
    n_categories = np.array([len(column.values) for column in tree.schema.attributes], dtype=np.int64)
    tested = np.where(leaf, 0, tree.attribute)
    inside = ~leaf & (tree.missing >= STAY) & (tree.missing < branches) & (bounds == 0) & (branches >= 2)
    threshold = inside & (tree.test == TESTS.index(Test.THRESHOLD)) & (branches == 2) & (values == 0)
    nominal = inside & (tree.test == TESTS.index(Test.NOMINAL)) & (branches == values)
    subset = inside & (tree.test == TESTS.index(Test.SUBSET)) & (branches == 2) & (values > 0)
    if len(numeric):
        threshold &= numeric[tested] & np.isfinite(tree.cut)
        nominal &= ~numeric[tested] & (values == n_categories[tested])
        subset &= ~numeric[tested] & (values == n_categories[tested])
    if np.any(nominal):
        owner = np.repeat(np.arange(n), values)
        categories = np.arange(len(owner)) - tree.value_start[:-1][owner]
        nominal[owner[tree.value_branch != categories]] = False
    pairs = np.flatnonzero(subset)
    if len(pairs):
        ends = np.stack((tree.value_start[pairs], tree.value_start[pairs + 1]), axis=1).ravel()
        own = np.append(tree.value_branch, 0)  # so that the last end is a valid index
        subset[pairs] = np.minimum.reduceat(own, ends)[::2] >= -1
        subset[pairs] &= np.maximum.reduceat(own, ends)[::2] <= 1
        for branch in (0, 1):
            filled = np.logical_or.reduceat(own == branch, ends)[::2]
            subset[pairs] &= filled | (tree.missing[pairs] == branch)  # the default branch needs no category
    plain: npt.NDArray[np.bool_] = leaf & (values == 0) & (bounds == 0)
    plain |= threshold | nominal | subset
    return plain


def _validate_node(tree: Tree, node: int) -> None:
    values = int(tree.value_start[node + 1] - tree.value_start[node])
    if tree.attribute[node] == LEAF:
        if values or tree.bound_start[node + 1] != tree.bound_start[node]:
            raise ModelFormatError(f"leaf {node} has values or bounds")
        return
    try:
        split = tree.split(node)
    except ParameterError as error:
        raise ModelFormatError(f"node {node}: {error}") from error
    if split is not None:
        _validate_test(tree, node, split)


def _validate_test(tree: Tree, node: int, split: Split) -> None:
    if split.attribute >= len(tree.schema.attributes):
        raise ModelFormatError(f"node {node} tests an attribute that the schema does not have")
    column = tree.schema.attributes[split.attribute]
    if (split.test in NUMERIC_TESTS) != column.is_numeric:
        raise ModelFormatError(f"node {node}: {column.kind} attribute {column.name!r} cannot have this test")
    if not column.is_numeric and len(split.branch_of) != len(column.values):
        raise ModelFormatError(
            f"node {node}: {len(split.branch_of)} values, but {column.name!r} declares {len(column.values)}"
        )
