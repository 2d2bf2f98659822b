"""What J48's growing and pruning share: comparisons with tolerance, nodes that own cases, and dividing cases.

Vocabulary
----------
share
    What one branch gets of a node's cases: their rows and, parallel, their weights.
unknown
    A case without a value for the tested attribute. It goes down every branch, its weight multiplied by the
    part of the known weight that went there.

Invariants
----------
All arithmetic is in doubles, and quantities that differ by less than `J48_TOLERANCE` are equal; so nothing
depends on the order in which weights are added, nor on the order of the cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Schema
from treewright.model.build import NodeRecord, build_tree
from treewright.model.split import Split
from treewright.model.tree import Stop, Tree

Rows = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
WeightedRows = tuple[Rows, Floats]

J48_TOLERANCE = 1e-6
"""Numbers closer than this are equal."""


def greater(left: float, right: float) -> bool:
    """Whether left exceeds right by more than the tolerance."""
    return left - right > J48_TOLERANCE


def at_most(left: float, right: float) -> bool:
    """Whether left is below right or equal to it within the tolerance."""
    return left - right < J48_TOLERANCE or left <= right


def majority(counts: Floats) -> int:
    """Return the first class whose weight exceeds those of all classes before it.

    Examples
    --------
    >>> majority(np.array([0.3, 0.1 + 0.2, 0.2]))
    0
    >>> majority(np.array([1.0, 4.0, 2.0]))
    1
    """
    best, most = 0, 0.0
    for code, count in enumerate(counts.tolist()):
        if count - most > J48_TOLERANCE:
            best, most = code, count
    return best


@dataclass(slots=True)
class J48Node:
    """A node with its training cases; growing makes it, collapse and pruning change it.

    Parameters
    ----------
    rows, weights : arrays
        The cases, copies of unknown ones included, and their weights.
    counts : array
        Weight of each declared class.
    weight : float
    outcome : int
        The class, for an empty leaf that of its parent.
    split, children : Split or None, list of int
        Test and branches of an inner node.
    gain, gain_ratio : float
        Of the test, as it was when the test was chosen.
    stop : Stop or None
        Why a leaf is a leaf.
    estimate : float or None
        Errors estimated for the leaves at or below the node, by pruning.
    """

    rows: Rows
    weights: Floats
    counts: Floats
    weight: float
    outcome: int
    split: Split | None = None
    children: list[int] = field(default_factory=list)
    gain: float = 0.0
    gain_ratio: float = 0.0
    stop: Stop | None = None
    estimate: float | None = None

    @classmethod
    def of_cases(cls, rows: Rows, weights: Floats, classes: Codes, n_classes: int) -> J48Node:
        """Make a node of cases, not yet divided."""
        counts = class_counts(rows, weights, classes, n_classes)
        return cls(rows, weights, counts, float(counts.sum()), majority(counts))

    @property
    def errors(self) -> float:
        """Weight of the cases that are wrong when the node is a leaf."""
        return self.weight - float(self.counts[majority(self.counts)])

    @property
    def is_pure(self) -> bool:
        """Whether one class has all the weight."""
        return abs(self.errors) < J48_TOLERANCE

    def become_leaf(self, stop: Stop) -> None:
        """Forget test and branches."""
        self.split = None
        self.children = []
        self.stop = stop


@dataclass(frozen=True)
class J48Growth:
    """A tree in the making and the same as an immutable `Tree`.

    Parameters
    ----------
    nodes : list of J48Node
        The root is number 0; nodes that were cut off may remain in the list.
    tree : Tree
    numbers : list of int
        For each node of `tree` its place in `nodes`.
    """

    nodes: list[J48Node]
    tree: Tree
    numbers: list[int]

    @classmethod
    def of_nodes(cls, schema: Schema, nodes: list[J48Node]) -> J48Growth:
        """Settle the classes of empty leaves and build the tree."""
        records = []
        for node in nodes:
            for child in node.children:
                if nodes[child].weight <= 0:
                    # Nobody came here: the leaf speaks for its parent as that is now, not as it was grown.
                    nodes[child].outcome = node.outcome
        for node in nodes:
            records.append(
                NodeRecord(
                    weight=node.weight,
                    counts=node.counts,
                    outcome=node.outcome,
                    split=node.split,
                    children=list(node.children),
                    stop=node.stop,
                    estimate=node.estimate,
                )
            )
        tree, numbers = build_tree(schema, records)
        return cls(nodes, tree, numbers)


def class_counts(rows: Rows, weights: Floats, classes: Codes, n_classes: int) -> Floats:
    """Return the weight of each class among these cases."""
    counts = np.bincount(classes[rows], weights=weights, minlength=n_classes)
    return counts.astype(np.float64, copy=False)


def partition(split: Split, values: Codes | Floats, rows: Rows, weights: Floats) -> Sequence[WeightedRows]:
    """Divide cases among the branches of a test, unknown ones in proportion to the known weight.

    Parameters
    ----------
    split : Split
    values : array
        The tested column of the whole dataset.
    rows, weights : arrays
        The cases to divide.

    Returns
    -------
    list of (rows, weights)
        One for each branch; the cases with a value keep their order and come first.
    """
    branch = split.route(values[rows])
    known = branch >= 0
    all_known = bool(known.all())
    known_rows, known_weights = (rows, weights) if all_known else (rows[known], weights[known])
    home = branch if all_known else branch[known]
    # Sixteen-bit keys are sorted by counting, which is linear and stable.
    order = np.argsort(home.astype(np.int16) if split.n_branches < 2**15 else home, kind="stable")
    ends = np.bincount(home, minlength=split.n_branches).cumsum().tolist()
    known_rows, known_weights = known_rows[order], known_weights[order]
    places = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    row_parts = [known_rows[place] for place in places]
    weight_parts = [known_weights[place] for place in places]
    if all_known:
        return list(zip(row_parts, weight_parts, strict=True))
    unknown_rows, unknown_weights = rows[~known], weights[~known]
    shares = []
    for part, own, fraction in zip(row_parts, weight_parts, _fractions(weight_parts), strict=True):
        if fraction > J48_TOLERANCE:
            shares.append((np.concatenate((part, unknown_rows)), np.concatenate((own, unknown_weights * fraction))))
        else:
            shares.append((part, own))
    return shares


def _fractions(weight_parts: Sequence[Floats]) -> list[float]:
    """Return the part of the known weight in each branch, equal parts where no weight is known."""
    totals = [float(part.sum()) for part in weight_parts]
    known = sum(totals)
    if known < J48_TOLERANCE:
        return [1.0 / len(totals)] * len(totals)
    return [total / known for total in totals]
