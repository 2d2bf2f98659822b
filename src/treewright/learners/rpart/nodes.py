"""The result of growing: rpart's nodes with all their splits, and the tree built from them.

Invariants
----------
Nodes are listed depth first, left before right; node i of rpart's numbering has the children 2i and 2i + 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.learners.rpart.cases import LEFT, NEITHER, RIGHT, Codes, Floats, Sides
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import STAY, Split, Surrogate
from treewright.tree.tree import Stop, Tree

if TYPE_CHECKING:
    from treewright.learners.rpart.options import Rpart


class SubsetSearch(StrEnum):
    """How subsets of categories were searched with more than two classes."""

    EXHAUSTIVE = "all subsets"
    ORDERED = "for many values only the cuts of their orders by the share of each class"


@dataclass(frozen=True, slots=True)
class RpartSplit:
    """A split of one attribute, in rpart's terms.

    Parameters
    ----------
    attribute : int
    count : int
        Cases with a known value; for a surrogate, the cases that it decides.
    improve : float
    cut : float or None
        Threshold, for numeric attributes.
    lower : int
        For numeric attributes: the side (`LEFT` or `RIGHT`) of values below the cut.
    strict : bool
        For numeric attributes: whether a value equal to the cut goes with the higher values, as in rpart, or with the
        lower ones, as elsewhere in Treewright. Matters for new cases only: no case of the node has this value.
    sides : tuple of int
        For nominal attributes: the side of each category, `NEITHER` for those without cases.
    adjusted : float
        For surrogates: agreement relative to that of the majority rule, where 1 is perfect agreement.

    Examples
    --------
    >>> RpartSplit(0, 4, 1.0, cut=2.0, lower=RIGHT).route(np.array([1.0, 2.0, 3.0, np.nan])).tolist()
    [1, 1, 0, -1]
    """

    attribute: int
    count: int
    improve: float
    cut: float | None = None
    lower: int = LEFT
    strict: bool = False
    sides: tuple[int, ...] = ()
    adjusted: float = 0.0

    @property
    def ncat(self) -> int:
        """The column of that name in rpart: -1 or +1 for the side of low values, else the number of categories."""
        if self.cut is None:
            return len(self.sides)
        return -1 if self.lower == LEFT else 1

    @property
    def threshold(self) -> float:
        """The greatest value that goes to the side below the cut."""
        if self.cut is None:
            raise ParameterError("a split of a nominal attribute has no threshold")
        return math.nextafter(self.cut, -math.inf) if self.strict else self.cut

    @property
    def csplit(self) -> tuple[int, ...]:
        """The sides of the categories as rpart codes them: 1 left, 3 right, 2 absent."""
        return tuple({LEFT: 1, RIGHT: 3, NEITHER: 2}[side] for side in self.sides)

    def route(self, values: Floats | Codes) -> Sides:
        """Return the side of each encoded value, `NEITHER` if it is missing or a category without training cases."""
        if self.cut is None:
            return np.array((*self.sides, NEITHER), dtype=np.int8)[values]
        sides = np.where(values <= self.threshold, self.lower, 1 - self.lower)
        return np.where(np.isnan(values), NEITHER, sides).astype(np.int8)

    def as_split(self, missing: int = STAY) -> tuple[Split, bool]:
        """Return the split as a `Split`, and whether its branch 0 is the right side."""
        if self.cut is not None:
            return Split.threshold(self.attribute, self.threshold, missing), self.lower == RIGHT
        return Split.subsets(self.attribute, self.sides, missing), False


def cut_between(low: float, high: float, *, exact: bool) -> tuple[float, bool]:
    """Return the midpoint of two values as a cut, and whether the cut must be strict.

    Examples
    --------
    >>> cut_between(1.0, 4.0, exact=False), cut_between(1.0, 4.0, exact=True)
    ((2.5, False), (2.5, True))
    >>> cut_between(1.0, math.nextafter(1.0, 2.0), exact=False)
    (1.0000000000000002, True)
    """
    cut = (low + high) / 2.0
    if math.isinf(cut):
        cut = low / 2.0 + high / 2.0
    if cut <= low:  # adjacent doubles: there is nothing between them
        cut = high
    return cut, exact or cut >= high


@dataclass
class RpartNode:
    """A node.

    Parameters
    ----------
    number : int
        1 for the root, 2i and 2i + 1 for the children of i.
    cases : int
    weight : float
    counts : array
        Weight of each class in class order; empty for regression.
    outcome : int or float
        Class index in class order, or mean.
    risk : float
    complexity : float
        In units of risk.
    primary : RpartSplit or None
    competitors, surrogates : tuple of RpartSplit
    default : int
        The side of cases for which primary split and surrogates are all missing, `NEITHER` if they stay.
    left, right : int
        Indices of the children in the list of nodes, 0 for leaves.
    stop : Stop or None
        Why a leaf is a leaf.
    """

    number: int
    cases: int
    weight: float
    counts: Floats
    outcome: int | float
    risk: float
    complexity: float = 0.0
    primary: RpartSplit | None = None
    competitors: tuple[RpartSplit, ...] = ()
    surrogates: tuple[RpartSplit, ...] = ()
    default: int = NEITHER
    left: int = 0
    right: int = 0
    stop: Stop | None = None

    def become_leaf(self, stop: Stop) -> None:
        """Remove splits and children."""
        self.primary, self.competitors, self.surrogates = None, (), ()
        self.default, self.left, self.right, self.stop = NEITHER, 0, 0, stop


@dataclass(frozen=True)
class RpartGrowth:
    """A grown tree with everything that rpart reports about it.

    Parameters
    ----------
    schema : Schema
    options : Rpart
    nodes : tuple of RpartNode
        Depth first, left before right.
    alpha : float
        Least complexity of a split: `cp` times the risk of the root.
    subset_search : SubsetSearch
        The least thorough search that was used.
    """

    schema: Schema
    options: Rpart
    nodes: tuple[RpartNode, ...]
    alpha: float
    subset_search: SubsetSearch

    @property
    def root_risk(self) -> float:
        """Risk of the tree that is only a root; complexities are reported relative to it."""
        return self.nodes[0].risk

    def relative(self, complexity: float) -> float:
        """Return a complexity as a share of the root's risk (0 where that is 0)."""
        return complexity / self.root_risk if self.root_risk > 0 else 0.0

    @cached_property
    def nested_complexity(self) -> tuple[float, ...]:
        """Complexity of each node, nowhere higher than that of its parent."""
        return nested(self.nodes)

    def frame(self) -> dict[str, list[Any]]:
        """Return rpart's frame, column by column.

        Examples
        --------
        >>> from treewright.data.samples import sample
        >>> from treewright.learners.rpart.growing import grow_rpart
        >>> from treewright.learners.rpart.options import Rpart
        >>> frame = grow_rpart(sample("play-tennis"), Rpart(min_split=2, cp=0.0)).frame()
        >>> frame["node"][:4], frame["var"][:4], frame["n"][:4]
        ([1, 2, 3, 6], ['Outlook', '<leaf>', 'Humidity', 'Wind'], [14, 4, 10, 5])
        """
        names, classes, regression = self.schema.attribute_names, self.schema.classes, not self.schema.classes
        return {
            "node": [node.number for node in self.nodes],
            "var": ["<leaf>" if node.primary is None else names[node.primary.attribute] for node in self.nodes],
            "n": [node.cases for node in self.nodes],
            "wt": [node.weight for node in self.nodes],
            "dev": [node.risk for node in self.nodes],
            "yval": [float(node.outcome) if regression else classes[int(node.outcome)] for node in self.nodes],
            "complexity": [self.relative(complexity) for complexity in self.nested_complexity],
            "ncompete": [len(node.competitors) for node in self.nodes],
            "nsurrogate": [len(node.surrogates) for node in self.nodes],
        }

    @cached_property
    def tree(self) -> Tree:
        """The grown tree, with surrogates."""
        return tree_of(self.schema, self.nodes, [node.primary is not None for node in self.nodes])


def nested(nodes: Sequence[RpartNode]) -> tuple[float, ...]:
    """Return the complexity of each node, limited to that of its parent."""
    result = [node.complexity for node in nodes]
    for index, node in enumerate(nodes):  # parents come before their children
        for child in (node.left, node.right):
            if child:
                result[child] = min(result[child], result[index])
    return tuple(result)


def tree_of(schema: Schema, nodes: Sequence[RpartNode], kept: Sequence[bool]) -> Tree:
    """Return the tree that keeps the splits of some nodes; the other nodes become leaves.

    Cases whose values are missing in the split and in all its surrogates take the branch with more cases; they stay if
    the branches have equally many.
    """
    records = []
    for index, node in enumerate(nodes):
        record = NodeRecord(
            weight=node.weight,
            counts=node.counts,
            outcome=node.outcome,
            sse=None if schema.classes else node.risk,
        )
        if node.primary is not None and kept[index]:
            _set_split(record, node.primary, node, nodes)
        else:
            record.stop = Stop.PRUNED if node.stop is None else node.stop
        records.append(record)
    return build_tree(schema, records)[0]


def _set_split(record: NodeRecord, primary: RpartSplit, node: RpartNode, nodes: Sequence[RpartNode]) -> None:
    _, exchanged = primary.as_split()
    record.children = [node.right, node.left] if exchanged else [node.left, node.right]
    first, second = (nodes[child].cases for child in record.children)
    missing = STAY if first == second else int(second > first)
    record.split, _ = primary.as_split(missing)
    surrogates = []
    for one in node.surrogates:
        split, turned = one.as_split()
        surrogates.append(Surrogate(split, one.improve, one.adjusted, reversed=turned != exchanged))
    record.surrogates = tuple(surrogates)
