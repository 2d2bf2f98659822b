"""The cases of C4.5 Release 8: their order, their weights, and how a test divides them.

Invariants
----------
`order` is a permutation of the case numbers; it is only ever changed by gathering and sorting, and never restored.
Sums of fractions depend on the order in which they are added, so with unknown values every exchange must be the one
the original makes. Without any (`whole`), all counts are whole numbers and the order changes nothing.
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
"""Beyond this the middle of two numbers is no 32-bit float."""

LIST_SORT_BELOW = 200
"""Slices below this length are sorted faster as Python lists."""


class Release8Cases:
    """All training cases in the order, and with the weights, that growing or pruning has given them so far."""

    def __init__(self, dataset: Dataset, order: CaseIndices | None = None) -> None:
        schema = dataset.schema
        if schema.task is not Task.CLASSIFICATION:
            raise ParameterError("C4.5 Release 8 needs a nominal target (classification), not a numeric one")
        if dataset.target is None or dataset.n_rows == 0:
            raise DataError("there are no cases with a class to learn from", source=dataset.source)
        if dataset.weights is not None and not np.all(dataset.weights == 1):
            raise ParameterError("C4.5 Release 8 knows no case weights; use dialect='c45' or leave the weights out")
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
        """Return the weight of a stretch."""
        if self.all_known:
            return single(stop - first)
        return sequential_sum(self.weights[self.order[first:stop]])

    def class_counts(self, first: int, stop: int) -> Singles:
        """Return the weight of each class in a stretch."""
        return self.class_counts_of(self.order[first:stop])

    def class_counts_of(self, cases: CaseIndices) -> Singles:
        """Return the weight of each class among these cases, added in this order."""
        if self.unit_weights:
            return np.bincount(self.classes[cases], minlength=self.n_classes).astype(np.float32)
        counts = np.zeros(self.n_classes, dtype=np.float32)
        np.add.at(counts, self.classes[cases], self.weights[cases])
        return counts

    def value_table(self, attribute: int, first: int, stop: int) -> Singles:
        """Return the weight of each value (rows; row 0 is unknown) and class in a stretch."""
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
        """Gather the chosen cases of a stretch in front and return their number."""
        count = int(np.count_nonzero(chosen))
        moved = gathered(chosen, count)
        if moved is not None:
            self.order[first:stop] = self.order[first:stop][moved]
        return count

    def gather_unknown(self, attribute: int, first: int, stop: int) -> int:
        """Gather the cases of a stretch without a value of this attribute and return their number."""
        if attribute not in self.unknown:
            return 0
        return self.gather(first, stop, self.unknown[attribute][self.order[first:stop]])

    def sort(self, attribute: int, first: int, stop: int) -> CaseIndices:
        """Return the cases of a stretch by ascending value of a numeric attribute, all of them known.

        Where the order matters, the stretch itself is left in this order.
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
    """The partition of a stretch by a test, branch after branch.

    Enter a branch, do what is to be done with its stretch (from `first` to `branch_stop`), leave it again;
    `close` when all branches are done. While a branch is entered, the cases with an unknown value take part in it with
    a share of their weight.

    Parameters
    ----------
    cases : Release8Cases
    split : Split
    first, stop : int
        The stretch to divide.
    weight : float or None
        Growing gives the weight of the stretch, and takes from it the weight that is unknown; pruning gives None, and
        the weight of the known cases is counted. The two differ by rounding only.
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
        """Make the stretch of a branch; False (and nothing done) if the branch has no known case."""
        if not self.sizes[branch]:
            return False
        cases = self.cases
        count = cases.gather(self.start_of_known, self.stop, self._branches() == branch)
        self.branch_stop = self.start_of_known + count
        weight = cases.weight(self.start_of_known, self.branch_stop)
        # shares of shares of a case can become too small for a float: then nothing is left to divide
        self.factor = single(weight / self.known_weight) if self.known_weight > 0 else 1.0
        if self.unknown is not None:
            cases.weights[self.unknown] *= np.float32(self.factor)
        return True

    def leave(self) -> None:
        """Give the unknown cases their weight back, up to rounding, and gather them again."""
        if self.unknown is not None:
            self.cases.gather_unknown(self.split.attribute, self.first, self.branch_stop)
            self.cases.weights[self.unknown] /= np.float32(self.factor)

    def close(self) -> None:
        """Set the flag as it was before."""
        self.cases.all_known = self.flag_before

    def _branches(self) -> npt.NDArray[np.intp]:
        return branches_of(self.cases, self.split, self.cases.order[self.start_of_known : self.stop])


def branches_of(cases: Release8Cases, split: Split, rows: CaseIndices) -> npt.NDArray[np.intp]:
    """Return the branch of each of these cases, whose value is known."""
    if split.test is Test.THRESHOLD:
        return (cases.numbers[split.attribute][rows] > np.float32(split.cut or 0.0)).astype(np.intp)
    values = cases.codes[split.attribute][rows]
    return values if split.test is Test.NOMINAL else np.array(split.branch_of, dtype=np.intp)[values]


def gathered(chosen: Mask, count: int) -> CaseIndices | None:
    """Return the places in their order after gathering, None when nothing moves.

    A pointer starts at the first place; each chosen place, from first to last, is exchanged with the pointer's, which
    advances. So a chosen place behind receives what the pointer's place held at that moment: what was there at first
    or, if that place had been chosen too, what it had received. The chains are followed by doubling.

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
    """Return the places in the order in which the original's sorting leaves them, None when nothing moves.

    The pivot is the value at the last place. Values up to the pivot are gathered in front, those equal to it are
    gathered, from the back, at the end of these, the pivot is exchanged to the place after them, and the two sides
    are sorted. Equal values do not keep their order, but a stretch in ascending order is left as it is.
    """
    if len(values) < 2 or bool(np.all(values[:-1] <= values[1:])):
        return None
    values = values.copy()
    places = np.arange(len(values), dtype=np.intp)
    waiting = [(0, len(values))]
    while waiting:
        first, stop = waiting.pop()
        if stop - first < LIST_SORT_BELOW:
            _sort_short(values, places, first, stop)
            continue
        part = values[first:stop]
        if bool(np.all(part[:-1] <= part[1:])):
            continue
        pivot = part[-1]
        low = part[:-1] <= pivot
        count = int(np.count_nonzero(low))
        _move(values, places, first, gathered(low, count))
        same = values[first : first + count][::-1] == pivot
        n_same = int(np.count_nonzero(same))
        moved = gathered(same, n_same)
        if moved is not None:
            _move(values, places, first, (count - 1 - moved)[::-1])
        for array in (values, places):
            array[[first + count, stop - 1]] = array[[stop - 1, first + count]]
        waiting.append((first, first + count - n_same))
        waiting.append((first + count + 1, stop))
    return places


def _move(values: Singles, places: CaseIndices, first: int, moved: CaseIndices | None) -> None:
    if moved is not None:
        stop = first + len(moved)
        values[first:stop] = values[first:stop][moved]
        places[first:stop] = places[first:stop][moved]


def _sort_short(all_values: Singles, all_places: CaseIndices, first: int, stop: int) -> None:
    """Sort a short stretch, exchange by exchange."""
    values = all_values[first:stop].tolist()
    if stop - first < 2 or values == sorted(values):
        return
    places = all_places[first:stop].tolist()
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
                    places[i], places[middle] = places[middle], places[i]
                middle += 1
        end = middle - 1
        for i in range(middle - 1, low - 1, -1):
            if values[i] == pivot:
                if end != i:
                    values[i], values[end] = values[end], pivot
                    places[i], places[end] = places[end], places[i]
                end -= 1
        values[middle], values[high] = pivot, values[middle]
        places[middle], places[high] = places[high], places[middle]
        waiting.append((low, end))
        waiting.append((middle + 1, high))
    all_values[first:stop] = values
    all_places[first:stop] = places
