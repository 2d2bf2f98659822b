"""The tree: immutable arrays over nodes, numbered depth first with branches in order.

Invariants: node 0 is the root, and a child has a higher index than its parent. A forward pass therefore visits
parents first, a backward pass visits children first, and nothing needs recursion.

`validate` checks every invariant, also for trees read from a file. It checks whole arrays where possible, and only
nodes with an uncommon test one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Column, Schema, Task
from treewright.errors import ModelFormatError, ParameterError
from treewright.tree.output_methods import InNotebook, TreeForms
from treewright.tree.split import NUMERIC_TESTS, STAY, Split, Surrogate, Test

if TYPE_CHECKING:
    from treewright.tree.formula import Formula

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

TESTS = tuple(Test)
"""The forms of a split in the order of their codes."""

LEAF = -1
"""In `attribute`: no test, the node is a leaf."""


class Stop(StrEnum):
    """Why a node was not split."""

    PURE = "pure"
    EMPTY = "no cases"
    NO_ATTRIBUTES = "no attributes left"
    NO_GAIN = "no admissible test"
    TOO_FEW = "too few cases"
    DEPTH = "depth limit"
    LEAVES = "leaf limit"
    SMALL_GAIN = "gain below the minimum"
    PRUNED = "pruned"
    NOT_SIGNIFICANT = "not significant"
    OPEN = "open"
    CLOSED = "closed"


STOPS = tuple(Stop)
"""The stop reasons in the order of their codes."""


@dataclass(frozen=True)
class Tree(TreeForms, InNotebook):
    """A decision tree.

    Parameters
    ----------
    schema : Schema
    attribute : array of int
        Attribute tested at each node, `LEAF` for leaves.
    test, cut, missing : arrays
        Form of the test (index in `TESTS`), its cut (NaN if it has none), its treatment of missing values.
    child_start, children : arrays of int
        Children of node i are ``children[child_start[i]:child_start[i + 1]]``, one per branch.
    value_start, value_branch : arrays of int
        The same for the branch of each category of a nominal test.
    bound_start, bounds : arrays
        The same for the bounds of intervals.
    weight : array of float
        Weighted number of training cases that reached the node.
    counts : array, nodes x classes
        Weight of each class at the node: integers if all weights are; zero columns for regression.
    outcome : array
        What the node predicts as a leaf: a class index, or the mean of the target.
    sse : array of float or None
        For regression, the sum of squared deviations from the mean.
    stop : array of int
        Index in `STOPS` for leaves, -1 for inner nodes.
    estimate : array of float or None
        Errors estimated by a pruning method.
    p_value : array of float or None
        Significance of each node's test (or of the best test it rejected), NaN if there is none.
    surrogates : dict of int to tuple of Surrogate
        For inner nodes: the surrogate splits, the best first.
    """

    schema: Schema
    attribute: Ints
    test: npt.NDArray[np.int8]
    cut: Floats
    missing: Ints
    child_start: Ints
    children: Ints
    value_start: Ints
    value_branch: Ints
    bound_start: Ints
    bounds: Floats
    weight: Floats
    counts: npt.NDArray[np.int64] | Floats
    outcome: Ints | Floats
    stop: npt.NDArray[np.int8]
    sse: Floats | None = None
    estimate: Floats | None = None
    p_value: Floats | None = None
    surrogates: Mapping[int, tuple[Surrogate, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    # -- shape -------------------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.attribute)

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.attribute == LEAF))

    @cached_property
    def parent(self) -> Ints:
        """Parent of each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[self.children] = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.child_start))
        return parent

    @cached_property
    def depths(self) -> Ints:
        """Depth of each node; the root has depth 0."""
        depths = np.zeros(self.n_nodes, dtype=np.int32)
        for depth, level in enumerate(self.levels()):
            depths[level] = depth
        return depths

    def levels(self) -> Iterator[Ints]:
        """Yield the nodes of each depth, ascending."""
        level: Ints = np.zeros(1, dtype=np.int32)
        while len(level):
            yield level
            level = gather_slices(self.children, self.child_start, level)

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depths.max())

    @property
    def is_regression(self) -> bool:
        """True if leaves predict numbers instead of classes."""
        return self.schema.task is Task.REGRESSION

    def __len__(self) -> int:
        return self.n_nodes

    def __repr__(self) -> str:
        return f"<Tree: {self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.depth}>"

    def __str__(self) -> str:
        return self.to_text()

    # -- nodes -------------------------------------------------------------------------------------------------------

    def node(self, index: int) -> Node:
        """Return a view of one node.

        Examples
        --------
        >>> from treewright.data.samples import sample
        >>> from treewright.learners.recipe import ID3
        >>> from treewright.fitting.learn import fit
        >>> root = fit(sample("play-tennis"), ID3()).tree.node(0)
        >>> root.attribute.name, root.weight, root.distribution
        ('Outlook', 14.0, {'Yes': 9, 'No': 5})
        """
        if not 0 <= index < self.n_nodes:
            raise ParameterError(f"there is no node {index}; the nodes are 0 to {self.n_nodes - 1}")
        return Node(self, int(index))

    def __iter__(self) -> Iterator[Node]:
        return (Node(self, index) for index in range(self.n_nodes))

    def children_of(self, node: int) -> Ints:
        """Return the children of a node, one per branch."""
        return self.children[self.child_start[node] : self.child_start[node + 1]]

    def split(self, node: int) -> Split | None:
        """Return the test of a node, None for a leaf."""
        attribute = int(self.attribute[node])
        if attribute == LEAF:
            return None
        test = TESTS[self.test[node]]
        return Split(
            attribute,
            test,
            int(self.child_start[node + 1] - self.child_start[node]),
            int(self.missing[node]),
            float(self.cut[node]) if test is Test.THRESHOLD else None,
            tuple(self.value_branch[self.value_start[node] : self.value_start[node + 1]].tolist()),
            tuple(self.bounds[self.bound_start[node] : self.bound_start[node + 1]].tolist()),
        )

    @cached_property
    def errors(self) -> Floats:
        """Training error weight of each node taken as a leaf (classification)."""
        if self.is_regression:
            raise ParameterError("a regression tree counts no errors; see sse")
        own = self.counts[np.arange(self.n_nodes), self.outcome]
        errors: Floats = np.where(self.weight > 0, self.weight - own, 0.0)
        return errors

    # -- forms -------------------------------------------------------------------------------------------------------

    def to_text(self, *, max_depth: int | None = None, width: int = 100, numbers: bool = False, node: int = 0) -> str:
        """Return the tree, or the subtree at a node, as lines of text, optionally with node indices."""
        from treewright.tree.text import tree_text

        return tree_text(self, max_depth=max_depth, width=width, numbers=numbers, root=node)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested plain data; `treewright.tree.io.tree_json` describes the format."""
        from treewright.tree.io.tree_json import tree_to_dict

        return tree_to_dict(self)

    def to_formula(self, label: Any) -> Formula:
        """Return the tree as a simplified disjunction of conjunctions for one class, given by its original label."""
        from treewright.data.columns import number_text
        from treewright.tree.formula import tree_to_formula

        is_number = isinstance(label, (int, float, np.number)) and not isinstance(label, (bool, np.bool_))
        return tree_to_formula(self, number_text(label) if is_number else str(label))

    # -- validity ----------------------------------------------------------------------------------------------------

    def validate(self) -> None:
        """Raise `ModelFormatError` unless every invariant holds."""
        n = self.n_nodes
        if n == 0:
            raise ModelFormatError("a tree has at least one node")
        for name in ("test", "cut", "missing", "weight", "outcome", "stop"):
            if len(getattr(self, name)) != n:
                raise ModelFormatError(f"{name} has {len(getattr(self, name))} entries for {n} nodes")
        classes = 0 if self.is_regression else len(self.schema.classes)
        if self.counts.shape != (n, classes):
            raise ModelFormatError(f"counts have shape {self.counts.shape}, expected {(n, classes)}")
        for optional in (self.sse, self.estimate):
            if optional is not None and (len(optional) != n or not np.all(np.isfinite(optional))):
                raise ModelFormatError("sse or estimate is damaged")
        if self.is_regression and self.sse is None:
            raise ModelFormatError("a regression tree needs sse")
        if self.p_value is not None:
            known = self.p_value[~np.isnan(self.p_value)]
            if len(self.p_value) != n or np.any(known < 0) or not np.all(np.isfinite(known)):
                raise ModelFormatError("p_value is damaged")
        _validate_links(self)
        _validate_numbers(self)
        for node in np.flatnonzero(~_valid_by_arrays(self)).tolist():
            _validate_node(self, node)
        for node, surrogates in self.surrogates.items():
            if not 0 <= node < n or self.attribute[node] == LEAF or len(self.children_of(node)) != 2:
                raise ModelFormatError(f"node {node} cannot have surrogates")
            for surrogate in surrogates:
                _validate_test(self, node, surrogate.split)


@dataclass(frozen=True, slots=True)
class Node:
    """A view of one node of a tree."""

    tree: Tree
    index: int

    @property
    def split(self) -> Split | None:
        """The test, None for a leaf."""
        return self.tree.split(self.index)

    @property
    def is_leaf(self) -> bool:
        """True if the node has no test."""
        return bool(self.tree.attribute[self.index] == LEAF)

    @property
    def attribute(self) -> Column:
        """The column that is tested."""
        if self.is_leaf:
            raise ParameterError(f"node {self.index} is a leaf and tests nothing")
        return self.tree.schema.attributes[int(self.tree.attribute[self.index])]

    @property
    def weight(self) -> float:
        """Weighted number of training cases."""
        return float(self.tree.weight[self.index])

    @property
    def distribution(self) -> dict[str, int | float]:
        """Weight of each class that occurs."""
        counts = self.tree.counts[self.index].tolist()
        return {name: count for name, count in zip(self.tree.schema.classes, counts, strict=True) if count}

    @property
    def outcome(self) -> str | float:
        """The class, or the mean of the target."""
        value = self.tree.outcome[self.index]
        return float(value) if self.tree.is_regression else self.tree.schema.classes[int(value)]

    @property
    def stop(self) -> Stop | None:
        """Why the node is a leaf, None for an inner node."""
        code = int(self.tree.stop[self.index])
        return STOPS[code] if code >= 0 else None

    @property
    def surrogates(self) -> tuple[Surrogate, ...]:
        """The surrogate splits, the best first."""
        return tuple(self.tree.surrogates.get(self.index, ()))

    @property
    def depth(self) -> int:
        """Number of tests above the node."""
        return int(self.tree.depths[self.index])

    @property
    def children(self) -> Sequence[Node]:
        """The child nodes, one per branch."""
        return [Node(self.tree, int(child)) for child in self.tree.children_of(self.index)]

    @property
    def path(self) -> list[tuple[int, int]]:
        """The path from the root: pairs of a node and the branch taken there."""
        steps = []
        node, parent = self.index, int(self.tree.parent[self.index])
        while parent >= 0:
            branch = int(np.flatnonzero(self.tree.children_of(parent) == node)[0])
            steps.append((parent, branch))
            node, parent = parent, int(self.tree.parent[parent])
        return steps[::-1]


def majority_class(counts: npt.NDArray[np.int64] | Floats) -> int:
    """Return the first class of the greatest weight; weights that differ by rounding only are equal.

    The dialects have rules of their own: Release 8 compares exactly, J48 with its tolerance, CAL counts whole cases.

    Examples
    --------
    >>> majority_class(np.array([0.3, 0.1 + 0.2, 0.2])), majority_class(np.array([1, 4, 4]))
    (0, 1)
    """
    return int(np.argmax(counts >= float(counts.max()) * (1 - 1e-12)))


def integers_if_exact(counts: npt.NDArray[Any]) -> npt.NDArray[np.int64] | Floats:
    """Return the counts of all nodes as integers if every one of them is whole, and else as doubles.

    Examples
    --------
    >>> integers_if_exact(np.array([[1.0, 2.0]])), integers_if_exact(np.array([[0.5, 2.0]]))
    (array([[1, 2]]), array([[0.5, 2. ]]))
    """
    if counts.dtype == np.int64 or counts.shape[1] == 0:
        return counts
    with np.errstate(invalid="ignore"):  # a weight beyond the range of int64 does not survive the cast
        integers = counts.astype(np.int64)
    return integers if np.array_equal(integers, counts) else counts.astype(np.float64, copy=False)


def gather_slices(flat: npt.NDArray[Any], starts: Ints, nodes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Concatenate the slices of `flat` that belong to these nodes; node i owns ``flat[starts[i]:starts[i + 1]]``.

    Examples
    --------
    >>> gather_slices(np.array([1, 2, 5, 3, 4]), np.array([0, 3, 3, 5]), np.array([2, 0])).tolist()
    [3, 4, 1, 2, 5]
    """
    first = starts[nodes]
    lengths = starts[nodes + 1] - first
    ends = np.cumsum(lengths)
    offsets = np.repeat(first - ends + lengths, lengths)
    gathered: npt.NDArray[Any] = flat[offsets + np.arange(len(offsets))]
    return gathered


def _validate_links(tree: Tree) -> None:
    """Raise unless children, values and bounds belong to their nodes, and the nodes are numbered depth first."""
    n = tree.n_nodes
    for name, flat in (("child", tree.children), ("value", tree.value_branch), ("bound", tree.bounds)):
        start = getattr(tree, f"{name}_start")
        if len(start) != n + 1 or start[0] != 0 or start[-1] != len(flat) or np.any(start[1:] < start[:-1]):
            raise ModelFormatError(f"{name}_start does not fit")
    is_child = np.zeros(n, dtype=bool)
    is_child[tree.children[(tree.children > 0) & (tree.children < n)]] = True
    if len(tree.children) != n - 1 or np.count_nonzero(is_child) != n - 1:
        raise ModelFormatError("every node but the root must be the child of exactly one node")
    branches = np.diff(tree.child_start)
    owner = np.repeat(np.arange(n), branches)
    if np.any(tree.children <= owner):
        raise ModelFormatError("a child must come after its parent")
    if np.any((branches > 0) != (tree.attribute != LEAF)):
        raise ModelFormatError("inner nodes have branches and leaves have none")
    # In index order, each node fills one open slot and opens one slot per branch. The slots form a stack, so the number
    # of slots below a slot determines which nodes can fill it. Since every node is the child of an earlier one, the
    # order is right if these numbers are.
    below = np.cumsum(branches - 1) - (branches - 1)  # open slots below the one that the node fills
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
    well_formed = ~leaf & (tree.missing >= STAY) & (tree.missing < branches) & (bounds == 0) & (branches >= 2)
    threshold = well_formed & (tree.test == TESTS.index(Test.THRESHOLD)) & (branches == 2) & (values == 0)
    nominal = well_formed & (tree.test == TESTS.index(Test.NOMINAL)) & (branches == values)
    subset = well_formed & (tree.test == TESTS.index(Test.SUBSET)) & (branches == 2) & (values > 0)
    if len(numeric):
        threshold &= numeric[tested] & np.isfinite(tree.cut)
        nominal &= ~numeric[tested] & (values == n_categories[tested])
        subset &= ~numeric[tested] & (values == n_categories[tested])
    if np.any(nominal):
        owner = np.repeat(np.arange(n), values)
        categories = np.arange(len(owner)) - tree.value_start[:-1][owner]
        nominal[owner[tree.value_branch != categories]] = False
    nodes = np.flatnonzero(subset)
    if len(nodes):
        ends = np.stack((tree.value_start[nodes], tree.value_start[nodes + 1]), axis=1).ravel()
        own = np.append(tree.value_branch, 0)  # so that the last end is a valid index
        subset[nodes] = np.minimum.reduceat(own, ends)[::2] >= -1
        subset[nodes] &= np.maximum.reduceat(own, ends)[::2] <= 1
        for branch in (0, 1):
            filled = np.logical_or.reduceat(own == branch, ends)[::2]
            subset[nodes] &= filled | (tree.missing[nodes] == branch)  # the default branch needs no category
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
