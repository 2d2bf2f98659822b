"""Assemble the tree from what the kernels wrote.

A fragment is a range of nodes in depth-first order, with codes replaced by values. The kernel writes one for each
subtree; the fragment of the histogram nodes is concatenated with the subtrees below them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    Boolean,
    Integer,
    NodeDoubles,
    NodeIntegers,
    Numbers,
    Positions,
    Sides,
    Thresholds,
)
from treewright.data.schema import Schema, Task
from treewright.jit import no_alloc_kernel
from treewright.learners.candidates import midpoints
from treewright.learners.kernels.options import CUT, MULTIWAY
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
    RANDOM_CUT,
    SIDES_AT,
    SSE,
    STOP,
    WEIGHT,
)
from treewright.tree.split import KNOWN, Test
from treewright.tree.tree import TESTS, Tree

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


class Fragment(NamedTuple):
    """Nodes in depth-first order.

    Parameters
    ----------
    integers, doubles : array
        As the kernel writes them.
    low, high : array of float
        Values on both sides of each threshold; `high` is infinite where known is split from missing.
    sides : array of int
        Branches of the categories of binary nominal tests; the nodes hold the offsets.
    """

    integers: NodeIntegers
    doubles: NodeDoubles
    low: Thresholds
    high: Thresholds
    sides: Sides

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.integers)


def fragment_of(
    written: tuple[NodeIntegers, NodeDoubles, Sides, int], slots: npt.NDArray[np.int64], numbers: Floats
) -> Fragment:
    """Trim the output of a kernel and look up the values of its codes."""
    integers, doubles, sides, n = written
    low, high = np.empty(n), np.empty(n)
    has_sides = _look_up(integers, doubles, slots, numbers, low, high)
    return Fragment(integers[:n].copy(), doubles[:n].copy(), low, high, sides.copy() if has_sides else sides[:0].copy())


@no_alloc_kernel
def _look_up(
    integers: NodeIntegers, doubles: NodeDoubles, slots: Positions, numbers: Numbers, low: Thresholds, high: Thresholds
) -> Boolean:
    """Write the values on both sides of each threshold; return True if a node holds an offset in `sides`."""
    has_sides = False
    for node in range(len(low)):
        ints = integers[node]
        has_sides = has_sides or ints[SIDES_AT] >= 0
        low[node] = high[node] = np.nan
        if ints[LOW] < 0 or len(numbers) == 0:
            continue
        slot = slots[ints[ATTRIBUTE]]
        low[node] = numbers[slot, ints[LOW]]
        high[node] = np.inf if ints[HIGH] < 0 else numbers[slot, ints[HIGH]]
        if np.isfinite(doubles[node, RANDOM_CUT]) and high[node] < np.inf:
            low[node] = high[node] = doubles[node, RANDOM_CUT]  # the midpoint of a value and itself is the value
    return has_sides


def concatenate(top: Fragment, below: dict[int, Fragment]) -> Fragment:
    """Replace leaves of the top fragment by the fragments of their subtrees."""
    if not below:
        return top
    sizes = np.ones(top.n_nodes, dtype=np.int64)
    for node, fragment in below.items():
        sizes[node] = fragment.n_nodes
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    parents = top.integers[:, PARENT]
    new_parents = np.where(parents >= 0, starts[np.maximum(parents, 0)], -1)
    total = int(sizes.sum())
    n_sides = len(top.sides) + sum(len(fragment.sides) for fragment in below.values())
    whole = Fragment(
        np.empty((total, top.integers.shape[1]), dtype=np.int32),
        np.empty((total, top.doubles.shape[1])),
        np.empty(total),
        np.empty(total),
        np.empty(n_sides, dtype=np.int8),
    )
    offset = len(top.sides)
    whole.sides[:offset] = top.sides
    for node in range(top.n_nodes):
        at, parent = int(starts[node]), int(new_parents[node])
        if node not in below:
            _copy_nodes(top, node, node + 1, whole, at, parent, 0)
            continue
        subtree = below[node]
        _copy_nodes(subtree, 0, subtree.n_nodes, whole, at, parent, offset)
        whole.sides[offset : offset + len(subtree.sides)] = subtree.sides
        offset += len(subtree.sides)
    return whole


@no_alloc_kernel
def _copy_nodes(
    one: Fragment, begin: Integer, end: Integer, whole: Fragment, at: Integer, parent: Integer, offset: Integer
) -> None:
    """Copy nodes of a fragment, of which the first is the root of a subtree, and shift their numbers and offsets."""
    for node in range(begin, end):
        into = at + node - begin
        for column in range(one.integers.shape[1]):
            whole.integers[into, column] = one.integers[node, column]
        for column in range(one.doubles.shape[1]):
            whole.doubles[into, column] = one.doubles[node, column]
        whole.low[into], whole.high[into] = one.low[node], one.high[node]
        whole.integers[into, PARENT] = parent if node == begin else one.integers[node, PARENT] + at
        if one.integers[node, SIDES_AT] >= 0:
            whole.integers[into, SIDES_AT] = one.integers[node, SIDES_AT] + offset


def tree_of(
    fragment: Fragment,
    schema: Schema,
    tests: npt.NDArray[np.int64],
    bounds: dict[int, tuple[float, ...]],
    move: Callable[[int, Floats], Floats] | None,
) -> Tree:
    """Build the tree, without `Tree.validate`: that is for trees from elsewhere, and takes as long as all the rest.

    Parameters
    ----------
    fragment : Fragment
        All its nodes.
    schema : Schema
    tests : array of int
        Form of the test of each attribute.
    bounds : dict
        Interval bounds of the discretised attributes.
    move : callable or None
        Moves the midpoints of an attribute to its thresholds.
    """
    integers, doubles = fragment.integers, fragment.doubles
    n = fragment.n_nodes
    attribute = integers[:, ATTRIBUTE].astype(np.int32)
    inner = np.flatnonzero(attribute >= 0)
    form = np.full(n, -1, dtype=np.int64)
    form[inner] = tests[attribute[inner]]
    numeric = np.array([column.is_numeric for column in schema.attributes], dtype=bool)
    test = np.zeros(n, dtype=np.int8)
    test[form == CUT] = TESTS.index(Test.THRESHOLD)
    test[form == MULTIWAY] = TESTS.index(Test.NOMINAL)
    test[form > MULTIWAY] = TESTS.index(Test.SUBSET)
    by_interval = inner[(form[inner] == MULTIWAY) & numeric[attribute[inner]]]
    test[by_interval] = TESTS.index(Test.INTERVALS)
    sizes = np.array([len(column.values) for column in schema.attributes], dtype=np.int64)
    lengths = np.zeros(n, dtype=np.int64)
    nominal = inner[~numeric[attribute[inner]]]
    lengths[nominal] = sizes[attribute[nominal]]
    value_start = _starts(lengths)
    regression = schema.task is Task.REGRESSION
    counts = doubles[:, COUNTS_AT:]
    return Tree(
        schema=schema,
        attribute=attribute,
        test=test,
        cut=_cuts(fragment, form, attribute, move),
        missing=integers[:, MISSING].astype(np.int32),
        child_start=_starts(integers[:, BRANCHES].astype(np.int64)),
        children=_children(integers[:, BRANCHES].astype(np.int64), integers[1:, PARENT]),
        value_start=value_start,
        value_branch=_value_branches(fragment, nominal, form, lengths, value_start),
        bound_start=_starts(_bound_lengths(n, by_interval, attribute, bounds)),
        bounds=np.array(
            [bound for node in by_interval.tolist() for bound in bounds[int(attribute[node])]], dtype=np.float64
        ),
        weight=doubles[:, WEIGHT].copy(),
        counts=np.zeros((n, 0)) if regression else _counts(counts),
        outcome=doubles[:, MEAN].copy() if regression else integers[:, OUTCOME].astype(np.int32),
        stop=integers[:, STOP].astype(np.int8),
        sse=doubles[:, SSE].copy() if regression else None,
    )


def _starts(lengths: npt.NDArray[np.int64]) -> Ints:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)


def _children(branches: npt.NDArray[np.int64], parent: Ints) -> Ints:
    """Return the children of all nodes, node by node, from the numbers of branches and the parents of all but the root.

    Nodes are in depth-first order. Each node closes one open branch and opens its own; the number of open branches
    below it is the index of the branch of its parent.
    """
    begun = np.cumsum(branches - 1) - (branches - 1)
    first = np.cumsum(branches) - branches
    branch = (begun + branches - 1)[parent] - begun[1:]
    children = np.empty(len(parent), dtype=np.int32)
    children[first[parent] + branch] = np.arange(1, len(branches), dtype=np.int32)
    return children


def _counts(counts: Floats) -> npt.NDArray[np.int64] | Floats:
    with np.errstate(invalid="ignore"):  # a weight beyond the int64 range changes, and stays a float
        whole = counts.astype(np.int64)
    return whole if np.array_equal(whole, counts) else counts.copy()


def _cuts(
    fragment: Fragment, form: npt.NDArray[np.int64], attribute: Ints, move: Callable[[int, Floats], Floats] | None
) -> Floats:
    cut = np.full(fragment.n_nodes, np.nan)
    nodes = np.flatnonzero(form == CUT)
    low, high = fragment.low[nodes], fragment.high[nodes]
    between = high < np.inf
    cut[nodes] = KNOWN
    cut[nodes[between]] = midpoints(low[between], high[between])
    if move is not None:
        for one in np.unique(attribute[nodes]).tolist():
            own = nodes[(attribute[nodes] == one) & (fragment.high[nodes] < np.inf)]
            cut[own] = move(one, cut[own])
    return cut


def _value_branches(
    fragment: Fragment,
    nominal: npt.NDArray[np.intp],
    form: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    starts: Ints,
) -> Ints:
    if np.array_equal(fragment.integers[nominal, SIDES_AT], starts[nominal]):  # only subset tests, written in order
        return fragment.sides[: starts[-1]].astype(np.int32)
    owner = np.repeat(nominal, lengths[nominal])
    offset = np.arange(len(owner)) - starts[owner]
    sides_at = fragment.integers[owner, SIDES_AT]
    multiway = form[owner] == MULTIWAY
    branches: Ints = np.zeros(len(owner), dtype=np.int32)
    branches[multiway] = offset[multiway]
    branches[~multiway] = fragment.sides[sides_at[~multiway] + offset[~multiway]]
    return branches


def _bound_lengths(
    n: int, nodes: npt.NDArray[np.intp], attribute: Ints, bounds: dict[int, tuple[float, ...]]
) -> npt.NDArray[np.int64]:
    lengths = np.zeros(n, dtype=np.int64)
    lengths[nodes] = [len(bounds[int(attribute[node])]) for node in nodes.tolist()]
    return lengths
