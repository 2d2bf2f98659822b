"""Classification as in C4.5 Release 8, in 32-bit arithmetic.

Where a value is missing or belongs to no branch, the case becomes fractional: it goes down all branches in proportion
to their weight. After pruning the shares need not add up to one. A case sums the class shares of all leaves it
reaches, and the first class with the largest sum is predicted.

Invariants: leaves add to the sums in depth-first order, with one rounding per addition, so nodes are visited in index
order. A case reaches a node by one path only. In a numeric attribute -999 means missing, as in training.
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
"""The number that marks a missing numeric value in the original program."""


def class_sums(tree: Tree, cases: Dataset) -> Singles:
    """Return the class sums of each case, rows by classes.

    Parameters
    ----------
    tree : Tree
        A tree grown or pruned by Release 8 (all splits fractional).
    cases : Dataset
        Encoded with the schema of the tree; the target is not used.

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
    all_rows = np.arange(cases.n_rows, dtype=np.intp)
    stack: list[tuple[int, Rows, Singles]] = [(0, all_rows, np.ones(cases.n_rows, dtype=np.float32))]
    while stack:
        node, rows, shares = stack.pop()
        split = tree.split(node)
        if split is None:
            if weight[node] > 0:
                for code in np.flatnonzero(counts[node]):
                    sums[rows, code] += shares * counts[node, code] / weight[node]
            else:  # an empty leaf predicts its class
                sums[rows, int(tree.outcome[node])] += shares
            continue
        children = tree.children_of(node)
        branches = _branches(split, columns[split.attribute][rows])
        unknown = branches < 0
        fractional = bool(unknown.any())
        # push the last branch first, so that the first one is visited first
        for branch in range(split.n_branches - 1, -1, -1):
            child = int(children[branch])
            here = (branches == branch) | unknown if fractional else branches == branch
            if not here.any():
                continue
            part = shares[here]
            if fractional:
                reduced = unknown[here]
                part[reduced] = part[reduced] * weight[child] / max(weight[node], np.finfo(np.float32).tiny)
            stack.append((child, rows[here], part))
    return sums


def _branches(split: Split, values: npt.NDArray[np.float32] | npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    if split.test is Test.THRESHOLD:
        above = (values > np.float32(split.cut or 0.0)).astype(np.int32)
        return np.where(np.isnan(values), np.int32(-1), above)
    return np.array((*split.branch_of, -1), dtype=np.int32)[values.astype(np.int32)]


def as_singles(column: npt.NDArray[np.generic]) -> Singles:
    """Return numbers as the original program reads them: 32-bit floats, NaN if missing."""
    with np.errstate(over="ignore"):
        values = column.astype(np.float32)
    values[values == UNKNOWN_NUMBER] = np.nan
    return values
