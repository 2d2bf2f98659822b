"""The cases of C4.5 Release 8: their order, their weights, and how a split partitions them.

Invariants
----------
`order` is a permutation of the case numbers; it is only ever changed by gathering and sorting, and never restored.
Sums of fractions depend on the order of their terms, so with missing values every exchange must be the one that the
original makes. Without missing values (`unit_weights`), all counts are whole numbers and the order has no effect.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError, ParameterError
from treewright.learners.c45r8.arithmetic import LARGEST_EXACT_INTEGER, Singles, sequential_sum, single
from treewright.tree.split import Split, Test
from treewright.tree.votes import as_singles

CaseIndices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

LARGEST_NUMBER = float(np.finfo(np.float32).max) / 2
"""Above this the midpoint of two numbers overflows a 32-bit float."""

LIST_SORT_BELOW = 200
"""Slices below this length are sorted faster as Python lists."""


class Release8Cases:
    """All training cases, in the current order and with the current weights of growing or pruning."""

    def __init__(self, dataset: Dataset, order: CaseIndices | None = None) -> None:
        schema = dataset.schema
        if schema.task is not Task.CLASSIFICATION:
            raise ParameterError("C4.5 Release 8 needs a nominal target (classification), not a numeric one")
        if dataset.target is None or dataset.n_rows == 0:
            raise DataError("there are no cases with a class to learn from", source=dataset.source)
        if dataset.weights is not None and not np.all(dataset.weights == 1):
            raise ParameterError(
                "C4.5 Release 8 does not support case weights; use dialect='c45' or leave the weights out"
            )
        self.n_cases = dataset.n_rows
        self.n_classes = len(schema.classes)
        self.attributes = schema.attributes
        self.classes: npt.NDArray[np.intp] = dataset.target.astype(np.intp)
        self.numbers: dict[int, Singles] = {}
        self.as_given: dict[int, npt.NDArray[np.float64]] = {}
        self.codes: dict[int, npt.NDArray[np.intp]] = {}
        self.unknown: dict[int, Mask] = {}
        for index, (attribute, column) in enumerate(zip(schema.attributes, dataset.columns, strict=True)):
            if attribute.is_numeric:
                self.numbers[index] = as_singles(column)
                self.as_given[index] = column.astype(np.float64)
                missing = np.isnan(self.numbers[index])
                if (np.abs(self.numbers[index]) > LARGEST_NUMBER).any():
                    message = "a number is too large for the 32-bit floats of C4.5 Release 8"
                    raise DataError(message, source=dataset.source, column=attribute.name)
            else:
                self.codes[index] = column.astype(np.intp)
                missing = self.codes[index] < 0
            if missing.any():
                self.unknown[index] = missing
        self.order: CaseIndices = np.arange(self.n_cases, dtype=np.intp) if order is None else order.copy()
        self.weights: Singles = np.ones(self.n_cases, dtype=np.float32)
        self.all_known = True
        self.unit_weights = self.n_cases < LARGEST_EXACT_INTEGER and not self.unknown

    def weight(self, first: int, stop: int) -> float:
        """Return the weight of a slice."""
        if self.all_known:
            return single(stop - first)
        return sequential_sum(self.weights[self.order[first:stop]])

    def class_counts(self, first: int, stop: int) -> Singles:
        """Return the weight of each class in a slice."""
        return self.class_counts_of(self.order[first:stop])

    def class_counts_of(self, cases: CaseIndices) -> Singles:
        """Return the weight of each class in these cases, added in this order."""
        if self.unit_weights:
            return np.bincount(self.classes[cases], minlength=self.n_classes).astype(np.float32)
        counts = np.zeros(self.n_classes, dtype=np.float32)
        np.add.at(counts, self.classes[cases], self.weights[cases])
        return counts

    def value_table(self, attribute: int, first: int, stop: int) -> Singles:
        """Return the weight of each category (rows; row 0 is unknown) and class in a slice."""
        cases = self.order[first:stop]
        n_values = len(self.attributes[attribute].values)
        cell = (self.codes[attribute][cases] + 1) * self.n_classes + self.classes[cases]
        size = (n_values + 1) * self.n_classes
        if self.unit_weights:
            table = np.bincount(cell, minlength=size).astype(np.float32)
        else:
            table = np.zeros(size, dtype=np.float32)
            np.add.at(table, cell, self.weights[cases])
        return table.reshape(n_values + 1, self.n_classes)

    def gather(self, first: int, stop: int, chosen: Mask) -> int:
        """Move the chosen cases of a slice to its front and return their number."""
        count = int(np.count_nonzero(chosen))
        moved = gathered(chosen, count)
        if moved is not None:
            self.order[first:stop] = self.order[first:stop][moved]
        return count

    def gather_unknown(self, attribute: int, first: int, stop: int) -> int:
        """Move the cases with a missing value of this attribute to the front of a slice and return their number."""
        if attribute not in self.unknown:
            return 0
        return self.gather(first, stop, self.unknown[attribute][self.order[first:stop]])

    def sort(self, attribute: int, first: int, stop: int) -> CaseIndices:
        """Return the cases of a slice by ascending value of a numeric attribute; all values are known.

        Where the order has an effect, the slice itself is left in this order.
        """
        cases = self.order[first:stop]
        values = self.numbers[attribute][cases]
        if self.unit_weights:
            return cases[np.argsort(values, kind="stable")]
        moved = quicksorted(values)
        if moved is not None:
            self.order[first:stop] = cases[moved]
        return self.order[first:stop]


class SlicePartition:
    """The partition of a slice by a split, branch after branch.

    Enter a branch, process its slice (from `first` to `branch_stop`), leave it; `close` after the last branch. While a
    branch is entered, the cases with a missing value belong to it with a fraction of their weight.

    Parameters
    ----------
    cases : Release8Cases
    split : Split
    first, stop : int
        The slice to partition.
    weight : float or None
        The weight of the slice, from which the weight with a missing value is subtracted (growing); None to add up the
        weight of the known cases (pruning). The two differ by rounding only.
    """

    def __init__(self, cases: Release8Cases, split: Split, first: int, stop: int, *, weight: float | None) -> None:
        self.cases = cases
        self.split = split
        self.first = first
        self.stop = stop
        self.start_of_known = first + cases.gather_unknown(split.attribute, first, stop)
        self.flag_before = cases.all_known
        self.unknown: CaseIndices | None = None
        counted = cases.weight(self.start_of_known, stop) if weight is None else 0.0
        if self.start_of_known > first:
            cases.all_known = False
            self.unknown = cases.order[first : self.start_of_known].copy()
        if weight is not None:
            counted = single(weight - cases.weight(first, self.start_of_known))
        self.known_weight = counted
        self.sizes = np.bincount(self._branches(), minlength=split.n_branches).tolist()
        self.branch_stop = first
        self.factor = 0.0

    def enter(self, branch: int) -> bool:
        """Build the slice of a branch; return False, and change nothing, if the branch has no known case."""
        if not self.sizes[branch]:
            return False
        cases = self.cases
        count = cases.gather(self.start_of_known, self.stop, self._branches() == branch)
        self.branch_stop = self.start_of_known + count
        weight = cases.weight(self.start_of_known, self.branch_stop)
        # repeated fractions of a case can underflow a float: then no weight is left
        self.factor = single(weight / self.known_weight) if self.known_weight > 0 else 1.0
        if self.unknown is not None:
            cases.weights[self.unknown] *= np.float32(self.factor)
        return True

    def leave(self) -> None:
        """Restore the weights of the cases with a missing value, up to rounding, and move them to the front again."""
        if self.unknown is not None:
            self.cases.gather_unknown(self.split.attribute, self.first, self.branch_stop)
            self.cases.weights[self.unknown] /= np.float32(self.factor)

    def close(self) -> None:
        """Restore the flag `all_known`."""
        self.cases.all_known = self.flag_before

    def _branches(self) -> npt.NDArray[np.intp]:
        return branches_of(self.cases, self.split, self.cases.order[self.start_of_known : self.stop])


def branches_of(cases: Release8Cases, split: Split, rows: CaseIndices) -> npt.NDArray[np.intp]:
    """Return the branch of each of these cases; their values are known."""
    if split.test is Test.THRESHOLD:
        return (cases.numbers[split.attribute][rows] > np.float32(split.cut or 0.0)).astype(np.intp)
    values = cases.codes[split.attribute][rows]
    return values if split.test is Test.NOMINAL else np.array(split.branch_of, dtype=np.intp)[values]


def gathered(chosen: Mask, count: int) -> CaseIndices | None:
    """Return the positions in their order after gathering, None if nothing moves.

    A pointer starts at the first position; each chosen position, from first to last, is exchanged with the pointer's,
    which advances. A chosen position behind the pointer thus receives what the pointer's position held at that moment:
    its original content or, if that position was chosen too, what it had received. The chains are resolved by doubling.

    Examples
    --------
    >>> gathered(np.array([False, False, True, False, True]), 2).tolist()
    [2, 4, 0, 3, 1]
    """
    if count == 0:
        return None
    front = np.flatnonzero(chosen)
    if front[-1] == count - 1:
        return None
    source = np.arange(len(chosen), dtype=np.intp)
    tail = source[count:].copy()
    source[front] = np.arange(count)
    while chosen[tail].any():
        tail = source[tail]
        source = source[source]
    return np.concatenate((front, tail))


def quicksorted(values: Singles) -> CaseIndices | None:
    """Return the positions in the order in which the original's sorting leaves them, None if nothing moves.

    The pivot is the value at the last position. Values up to the pivot are gathered in front, those equal to it are
    gathered, from the back, at the end of these, the pivot is exchanged to the position after them, and the two
    sides are sorted. Equal values do not keep their order, but an ascending slice is left as it is.
    """
    if len(values) < 2 or bool(np.all(values[:-1] <= values[1:])):
        return None
    values = values.copy()
    positions = np.arange(len(values), dtype=np.intp)
    waiting = [(0, len(values))]
    while waiting:
        first, stop = waiting.pop()
        if stop - first < LIST_SORT_BELOW:
            _sort_short(values, positions, first, stop)
            continue
        part = values[first:stop]
        if bool(np.all(part[:-1] <= part[1:])):
            continue
        pivot = part[-1]
        low = part[:-1] <= pivot
        count = int(np.count_nonzero(low))
        _move(values, positions, first, gathered(low, count))
        same = values[first : first + count][::-1] == pivot
        n_same = int(np.count_nonzero(same))
        moved = gathered(same, n_same)
        if moved is not None:
            _move(values, positions, first, (count - 1 - moved)[::-1])
        for array in (values, positions):
            array[[first + count, stop - 1]] = array[[stop - 1, first + count]]
        waiting.append((first, first + count - n_same))
        waiting.append((first + count + 1, stop))
    return positions


def _move(values: Singles, positions: CaseIndices, first: int, moved: CaseIndices | None) -> None:
    if moved is not None:
        stop = first + len(moved)
        values[first:stop] = values[first:stop][moved]
        positions[first:stop] = positions[first:stop][moved]


def _sort_short(all_values: Singles, all_positions: CaseIndices, first: int, stop: int) -> None:
    """Sort a short slice, exchange by exchange."""
    values = all_values[first:stop].tolist()
    if stop - first < 2 or values == sorted(values):
        return
    positions = all_positions[first:stop].tolist()
    waiting = [(0, len(values) - 1)]
    while waiting:
        low, high = waiting.pop()
        if low >= high:
            continue
        pivot = values[high]
        middle = low
        for i in range(low, high):
            value = values[i]
            if value <= pivot:
                if middle != i:
                    values[i], values[middle] = values[middle], value
                    positions[i], positions[middle] = positions[middle], positions[i]
                middle += 1
        end = middle - 1
        for i in range(middle - 1, low - 1, -1):
            if values[i] == pivot:
                if end != i:
                    values[i], values[end] = values[end], pivot
                    positions[i], positions[end] = positions[end], positions[i]
                end -= 1
        values[middle], values[high] = pivot, values[middle]
        positions[middle], positions[high] = positions[high], positions[middle]
        waiting.append((low, end))
        waiting.append((middle + 1, high))
    all_values[first:stop] = values
    all_positions[first:stop] = positions
