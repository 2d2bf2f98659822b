"""Classifying cases as C4.5 Release 8 does, in 32-bit arithmetic.

Vocabulary
----------
share
    The part of a case that reaches a node. Where the value of a test is unknown, or belongs to no branch, the case is
    divided among all branches in proportion to their weight; the shares need not add up to one after pruning.
class sums
    What a case collects for each class from the leaves it reaches; the first largest sum is the answer.

Invariants
----------
Leaves add to the sums in depth-first order, one rounding after each addition, so the nodes are visited in the order
of their numbers. A case reaches a node by one way only. The number -999 of a numeric attribute means unknown, as in
training.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.model.split import Split, Test
from treewright.model.tree import Tree

Singles = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

UNKNOWN_NUMBER = -999.0
"""The number by which the original marks an unknown value of a numeric attribute."""


def class_sums(tree: Tree, cases: Dataset) -> Singles:
    """Return the class sums of each case, rows by classes.

    Parameters
    ----------
    tree : Tree
        A tree grown or pruned by Release 8 (all splits fractional).
    cases : Dataset
        Encoded with the schema of the tree; the target is not looked at.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.release8.growing import grow_release8
    >>> from treewright.grow.release8.options import Release8
    >>> weather = sample("play-tennis")
    >>> sums = class_sums(grow_release8(weather, Release8()).tree, weather)
    >>> bool((np.argmax(sums, axis=1) == weather.target).all())
    True
    """
    if tree.is_regression:
        raise ParameterError("a regression tree has no class sums")
    columns = [
        as_singles(column) if attribute.is_numeric else column.astype(np.int32)
        for attribute, column in zip(tree.schema.attributes, cases.columns, strict=True)
    ]
    sums = np.zeros((cases.n_rows, len(tree.schema.classes)), dtype=np.float32)
    weight = tree.weight.astype(np.float32)
    counts = tree.counts.astype(np.float32)
    everybody = np.arange(cases.n_rows, dtype=np.intp)
    waiting: list[tuple[int, Rows, Singles]] = [(0, everybody, np.ones(cases.n_rows, dtype=np.float32))]
    while waiting:
        node, rows, shares = waiting.pop()
        split = tree.split(node)
        if split is None:
            if weight[node] > 0:
                for code in np.flatnonzero(counts[node]):
                    sums[rows, code] += shares * counts[node, code] / weight[node]
            else:  # a leaf that never had a case says its class
                sums[rows, int(tree.outcome[node])] += shares
            continue
        children = tree.children_of(node)
        branches = _branches(split, columns[split.attribute][rows])
        unknown = branches < 0
        divided = bool(unknown.any())
        # the last branch goes on the stack first, so that the first one is visited first
        for branch in range(split.n_branches - 1, -1, -1):
            child = int(children[branch])
            here = (branches == branch) | unknown if divided else branches == branch
            if not here.any():
                continue
            part = shares[here]
            if divided:
                less = unknown[here]
                part[less] = part[less] * weight[child] / max(weight[node], np.finfo(np.float32).tiny)
            waiting.append((child, rows[here], part))
    return sums


def _branches(split: Split, values: npt.NDArray[np.float32] | npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    if split.test is Test.THRESHOLD:
        above = (values > np.float32(split.cut or 0.0)).astype(np.int32)
        return np.where(np.isnan(values), np.int32(-1), above)
    return np.array((*split.branch_of, -1), dtype=np.int32)[values.astype(np.int32)]


def as_singles(column: npt.NDArray[np.generic]) -> Singles:
    """Return numbers as the original reads them: 32-bit floats, NaN where unknown."""
    with np.errstate(over="ignore"):
        values = column.astype(np.float32)
    values[values == UNKNOWN_NUMBER] = np.nan
    return values
