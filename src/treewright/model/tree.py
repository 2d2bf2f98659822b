"""The tree: immutable arrays over nodes, numbered depth first with branches in order.

Invariants: node 0 is the root, and a child has a higher index than its parent. A forward pass therefore visits
parents first, a backward pass visits children first, and nothing needs recursion. `validate` checks every invariant,
also for trees read from a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.data.schema import Column, Schema, Task
from treewright.model.forms import InNotebook, TreeForms
from treewright.model.split import Split, Surrogate, Test

if TYPE_CHECKING:
    from treewright.model.formula import Formula

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
        >>> from treewright.grow.recipe import ID3
        >>> from treewright.learn import fit
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
        from treewright.model.text import tree_text

        return tree_text(self, max_depth=max_depth, width=width, numbers=numbers, root=node)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested plain data; `treewright.model.nested` describes the format."""
        from treewright.model.nested import tree_to_dict

        return tree_to_dict(self)

    def to_formula(self, label: Any) -> Formula:
        """Return the tree as a simplified disjunction of conjunctions for one class, given by its original label."""
        from treewright.data.raw import number_text
        from treewright.model.formula import tree_to_formula

        is_number = isinstance(label, (int, float, np.number)) and not isinstance(label, (bool, np.bool_))
        return tree_to_formula(self, number_text(label) if is_number else str(label))

    # -- validity ----------------------------------------------------------------------------------------------------

    def validate(self) -> None:
        """Raise `ModelFormatError` unless every invariant holds."""
        from treewright.model.tree_validity import validate  # imported here because it imports this module

        validate(self)


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
