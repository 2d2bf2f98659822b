"""The interpreted engine: NumPy over a dataset in memory, for small data and as the reference of all other engines.

Invariant: sums that are not integers are added in one canonical order of the cases. The order depends on the values of
the cases and not on their positions in the file, so shuffled rows give the same bits. A node holds its rows in that
order.

`TreeEngine` counts at the nodes of a finished tree and routes cases as the tree does, including by surrogates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import Summary
from treewright.counting.table import Counts, FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError
from treewright.tree.split import FRACTIONAL, STAY, Split
from treewright.tree.tree import LEAF, Tree

LARGEST_TARGET = 1e145
"""Targets beyond this cannot be squared and added up in doubles."""

Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class _Cases:
    """The cases of an open node; `weights` is None where each weighs one, `whole` is False where one is no integer."""

    rows: Rows
    weights: Floats | None
    whole: bool

    def where(self, mask: npt.NDArray[np.bool_]) -> _Cases:
        return _Cases(self.rows[mask], None if self.weights is None else self.weights[mask], self.whole)


class MemoryEngine:
    """Counts by NumPy.

    Parameters
    ----------
    dataset : Dataset
        With a target. Cases of weight zero are left out.
    fractional : bool
        Whether cases may be fractional (this affects only the order of summation).

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> engine = MemoryEngine(sample("play-tennis"))
    >>> [[outlook]] = engine.count([(engine.root(), [0])])
    >>> outlook.counts.tolist()
    [[2, 3], [4, 0], [3, 2]]
    """

    def __init__(self, dataset: Dataset, *, fractional: bool = False) -> None:
        if dataset.target is None:
            raise DataError("there is no target to learn from", source=dataset.source)
        if dataset.weights is not None and np.any(dataset.weights == 0):
            if not np.any(dataset.weights > 0):
                raise DataError("all weights are zero, so there is nothing to learn from", source=dataset.source)
            dataset = dataset.take(dataset.weights > 0)
        if dataset.n_rows == 0:
            raise DataError("there are no rows to learn from", source=dataset.source)
        self.schema = dataset.schema
        self.n_cases = dataset.n_rows
        self._dataset = dataset
        self._regression = dataset.schema.task is Task.REGRESSION
        self._width = 3 if self._regression else len(dataset.schema.classes)
        self._whole = dataset.weights is None or bool(np.all(dataset.weights == np.floor(dataset.weights)))
        target = np.asarray(dataset.target)
        fractional = fractional and dataset.has_missing
        if self._whole and not self._regression and not fractional:
            self._order = np.arange(dataset.n_rows, dtype=np.intp)  # sums of integers do not depend on the order
        else:
            keys: list[npt.NDArray[np.generic]] = list(dataset.columns[::-1]) if fractional else []
            keys += [target] if dataset.weights is None else [dataset.weights, target]
            self._order = np.lexsort(keys)
        self._weights = None if dataset.weights is None else dataset.weights[self._order]
        target = target[self._order]
        if self._regression:
            if np.abs(target).max() > LARGEST_TARGET:
                row = int(np.argmax(np.abs(target) > LARGEST_TARGET))
                message = f"{target[row]:g} is too large: sums of squares would overflow"
                raise DataError(message, source=dataset.source, column=dataset.schema.target)
            self._numbers = target
        else:
            self._target = target.astype(np.intp)
        self._codes: dict[int, Codes] = {}
        self._distinct: dict[int, Floats] = {}
        self._open: dict[int, _Cases] = {}
        self._described: dict[int, Summary] = {}
        self._next = 0
        self._intervals: dict[int, int] = {}

    def _column(self, attribute: int) -> Codes:
        """Codes shifted by one, so that 0 is "missing"; numeric columns by the rank of the number."""
        if attribute not in self._codes:
            column = self._dataset.columns[attribute][self._order]
            if column.dtype.kind == "f":
                known = ~np.isnan(column)
                distinct, ranks = np.unique(column[known], return_inverse=True)
                codes = np.zeros(len(column), dtype=np.int32)
                codes[known] = ranks + 1
                self._distinct[attribute] = distinct.astype(np.float64)
                self._codes[attribute] = codes
            else:
                self._codes[attribute] = (column + 1).astype(np.int32)
        return self._codes[attribute]

    # -- the protocol ------------------------------------------------------------------------------------------------

    def root(self) -> int:
        """Open the node of all cases."""
        return self._opened(_Cases(np.arange(self.n_cases, dtype=np.intp), self._weights, self._whole))

    def _opened(self, cases: _Cases) -> int:
        node = self._next
        self._next += 1
        self._open[node] = cases
        if self._regression:
            self._described[node] = self._regression_summary(cases)
        else:
            n = len(cases.rows)
            counts = np.bincount(self._target[cases.rows], cases.weights, self._width)
            weight = float(n) if cases.weights is None else float(counts.sum())
            pure = int(np.count_nonzero(counts)) <= 1
            self._described[node] = Summary(weight, n, counts.astype(np.int64 if cases.whole else np.float64), pure)
        return node

    def close(self, node: int) -> None:
        """Forget a node that became a leaf."""
        del self._open[node], self._described[node]

    def rows(self, node: int) -> tuple[Rows, Floats]:
        """Return the row numbers (in the given data, zero weights left out) and weights of an open node."""
        cases = self._open[node]
        return self._order[cases.rows], np.ones(len(cases.rows)) if cases.weights is None else cases.weights

    def summaries(self, nodes: Sequence[int]) -> list[Summary]:
        """Describe the target at open nodes."""
        return [self._described[node] for node in nodes]

    def _regression_summary(self, cases: _Cases) -> Summary:
        n = len(cases.rows)
        if n == 0:
            return Summary(0.0, 0, np.zeros(3), pure=True)
        numbers = self._numbers[cases.rows]
        pure = bool(numbers.min() == numbers.max())
        w = np.ones(n) if cases.weights is None else cases.weights
        total = float(w.sum())
        # No dot products: the order of addition of a BLAS is not fixed. Two steps: a large mean costs no digits.
        mean = float((w * numbers).sum()) / total
        mean = float(numbers[0]) if pure else mean + float((w * (numbers - mean)).sum()) / total
        sse = 0.0 if pure else float((w * (numbers - mean) ** 2).sum())
        return Summary(total, n, np.array([total, 0.0, sse]), pure, mean, sse)

    def count(self, requests: Sequence[tuple[int, Sequence[int]]]) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes; return one list per request, in the order of the requests."""
        return [[self._table(node, attribute) for attribute in attributes] for node, attributes in requests]

    def _table(self, node: int, attribute: int) -> FrequencyTable:
        cases = self._open[node]
        column = self._column(attribute)
        codes: npt.NDArray[np.integer] = column[cases.rows]
        distinct = self._distinct.get(attribute)
        column_kind = self.schema.attributes[attribute]
        outcomes = len(distinct) if distinct is not None else self._intervals.get(attribute, len(column_kind.values))
        present = None
        if distinct is not None and outcomes > 4 * len(codes) + 256:
            # Many numbers in total, few cases here: assign new codes instead of counting mostly zeros.
            present, codes = np.unique(codes, return_inverse=True)
            outcomes = len(present) if present[0] else len(present) - 1
            codes = codes if present[0] == 0 else codes + 1
            present = present[present > 0] - 1
        if self._regression:
            numbers = self._numbers[cases.rows] - self._described[node].mean
            w = np.ones(len(codes)) if cases.weights is None else cases.weights
            moments = (w, w * numbers, w * numbers * numbers)
            counts: Counts = np.stack([np.bincount(codes, one, outcomes + 1) for one in moments], axis=1)
        else:
            cells = codes.astype(np.intp) * self._width + self._target[cases.rows]
            counts = np.bincount(cells, cases.weights, (outcomes + 1) * self._width).reshape(-1, self._width)
            counts = counts.astype(np.int64 if cases.whole else np.float64)
        number = np.bincount(codes, minlength=outcomes + 1).astype(np.int64)
        if distinct is None:
            return FrequencyTable(counts[1:], counts[0], number[1:], unknown_cases=int(number[0]))
        values = distinct if present is None else distinct[present]
        kept = number[1:] > 0
        return FrequencyTable(counts[1:][kept], counts[0], number[1:][kept], values[kept], int(number[0]))

    def split_node(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch."""
        cases = self._open[node]
        self.close(node)
        branches = split.route(self._dataset.columns[split.attribute][self._order[cases.rows]])
        unknown = branches < 0
        if split.missing != FRACTIONAL or not unknown.any():
            if split.missing not in (STAY, FRACTIONAL):
                branches = np.where(unknown, split.missing, branches)
            return [self._opened(cases.where(branches == branch)) for branch in range(split.n_branches)]
        weights = np.ones(len(cases.rows)) if cases.weights is None else cases.weights
        known_weight = float(weights[~unknown].sum())
        children = []
        for branch in range(split.n_branches):
            here = branches == branch
            if not here.any():
                children.append(self._opened(cases.where(here)))
                continue
            share = float(weights[here].sum()) / known_weight
            mask = here | unknown
            shares = np.where(unknown, weights * share, weights)[mask]
            children.append(self._opened(_Cases(cases.rows[mask], shares, whole=False)))
        return children

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Return the largest number of the attribute in all training data that is not above `bound`."""
        self._column(attribute)
        distinct = self._distinct[attribute]
        return float(distinct[np.searchsorted(distinct, bound, side="right") - 1])

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """Count a numeric attribute by intervals from now on."""
        column = self._dataset.columns[attribute][self._order]
        codes = np.searchsorted(np.array(bounds), column, side="left") + 1
        self._codes[attribute] = np.where(np.isnan(column), 0, codes).astype(np.int32)
        self._distinct.pop(attribute, None)
        self._intervals[attribute] = len(bounds) + 1


class TreeEngine(MemoryEngine):
    """An engine that routes cases as a given tree does.

    Cases with a missing value follow the surrogates of the split, then its default branch. Cases that no branch takes
    leave the tree.

    Parameters
    ----------
    dataset : Dataset
    tree : Tree
        `split_node` has to be called with its splits.
    """

    def __init__(self, dataset: Dataset, tree: Tree) -> None:
        super().__init__(dataset)
        self._tree = tree
        self._tree_node: dict[int, int] = {}

    def root(self) -> int:
        """Open the node of all cases."""
        node = super().root()
        self._tree_node[node] = 0
        return node

    def split_node(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch."""
        tree_node, cases = self._tree_node.pop(node), self._open[node]
        rows = self._order[cases.rows]
        columns = self._dataset.columns
        branches = split.route(columns[split.attribute][rows])
        for surrogate in self._tree.surrogates.get(tree_node, ()):
            lost = np.flatnonzero(branches < 0)
            branches[lost] = surrogate.route(columns[surrogate.split.attribute][rows[lost]])
        branches = np.where(branches < 0, split.missing, branches)
        self.close(node)
        children = [self._opened(cases.where(branches == branch)) for branch in range(split.n_branches)]
        self._tree_node.update(zip(children, self._tree.children_of(tree_node).tolist(), strict=True))
        return children


def engine_for(dataset: Dataset, tree: Tree, *, fractional: bool) -> MemoryEngine:
    """Return the engine that routes cases as growing the tree did.

    Parameters
    ----------
    dataset : Dataset
    tree : Tree
    fractional : bool
        As in `MemoryEngine`; a tree with surrogates has no fractional cases.
    """
    if tree.surrogates or np.any(tree.missing[tree.attribute != LEAF] == STAY):
        return TreeEngine(dataset, tree)
    return MemoryEngine(dataset, fractional=fractional)
