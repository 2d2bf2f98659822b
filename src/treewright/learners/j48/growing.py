"""Growing J48's tree (Weka 3.9.7): nodes, the best split of every attribute, and the choice among them.

J48 is C4.5 in doubles, with tolerances, a correction for numeric attributes, and collapse.

Arithmetic: quantities that differ by less than `J48_TOLERANCE` are equal, so the result depends neither on the order
in which weights are added nor on the order of the cases.

Split search: a value counts as greater only if it is greater by more than the tolerance. Attributes, categories and
cuts are searched in order, so that near-ties go to the first.

Growing: nodes are processed on an explicit stack, so the depth of a tree is unlimited. A grown tree consists of
`J48Node`, which keep their cases, because subtree raising sends the cases of a node down other branches; the finished
`Tree` has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import DataError
from treewright.learners.j48.options import J48
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree

Rows = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
WeightedRows = tuple[Rows, Floats]

J48_TOLERANCE = 1e-6
"""Numbers closer than this are equal."""


def greater(left: float, right: float) -> bool:
    """Return True if left exceeds right by more than the tolerance."""
    return left - right > J48_TOLERANCE


def at_most(left: float, right: float) -> bool:
    """Return True if left is below right or equal to it within the tolerance."""
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
        The cases, including the fractional ones, and their weights.
    counts : array
        Weight of each class, in class order.
    weight : float
    outcome : int
        The class; for an empty leaf, the class of its parent.
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
        """Return an unsplit node with these cases."""
        counts = class_counts(rows, weights, classes, n_classes)
        return cls(rows, weights, counts, float(counts.sum()), majority(counts))

    @property
    def errors(self) -> float:
        """Weight of the misclassified cases if the node is a leaf."""
        return self.weight - float(self.counts[majority(self.counts)])

    @property
    def is_pure(self) -> bool:
        """True if one class has all the weight."""
        return abs(self.errors) < J48_TOLERANCE

    def become_leaf(self, stop: Stop) -> None:
        """Remove test and branches."""
        self.split = None
        self.children = []
        self.stop = stop


@dataclass(frozen=True)
class J48Growth:
    """The nodes of a grown tree, and the same tree as an immutable `Tree`.

    Parameters
    ----------
    nodes : list of J48Node
        The root is node 0; pruned nodes may remain in the list.
    tree : Tree
    numbers : list of int
        For each node of `tree`, its index in `nodes`.
    """

    nodes: list[J48Node]
    tree: Tree
    numbers: list[int]

    @classmethod
    def of_nodes(cls, schema: Schema, nodes: list[J48Node]) -> J48Growth:
        """Set the classes of empty leaves and build the tree."""
        records = []
        for node in nodes:
            for child in node.children:
                if nodes[child].weight <= 0:
                    # An empty leaf predicts the class of its parent after pruning, not as grown.
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
    """Return the weight of each class in these cases."""
    counts = np.bincount(classes[rows], weights=weights, minlength=n_classes)
    return counts.astype(np.float64, copy=False)


def partition(split: Split, values: Codes | Floats, rows: Rows, weights: Floats) -> Sequence[WeightedRows]:
    """Partition cases by a split; cases with a missing value go down every branch in proportion to its known weight.

    Parameters
    ----------
    split : Split
    values : array
        The tested column of the whole dataset.
    rows, weights : arrays
        The cases to partition.

    Returns
    -------
    list of (rows, weights)
        One for each branch; the cases with a known value come first, in their order.
    """
    branch = split.route(values[rows])
    known = branch >= 0
    all_known = bool(known.all())
    known_rows, known_weights = (rows, weights) if all_known else (rows[known], weights[known])
    known_branch = branch if all_known else branch[known]
    # Sixteen-bit keys are sorted by counting, which is linear and stable.
    order = np.argsort(known_branch.astype(np.int16) if split.n_branches < 2**15 else known_branch, kind="stable")
    ends = np.bincount(known_branch, minlength=split.n_branches).cumsum().tolist()
    known_rows, known_weights = known_rows[order], known_weights[order]
    slices = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    row_parts = [known_rows[one] for one in slices]
    weight_parts = [known_weights[one] for one in slices]
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
    """Return each branch's share of the known weight, equal shares if no weight is known."""
    totals = [float(part.sum()) for part in weight_parts]
    known = sum(totals)
    if known < J48_TOLERANCE:
        return [1.0 / len(totals)] * len(totals)
    return [total / known for total in totals]


NEIGHBOUR_GAP = 1e-5
"""Numeric values must differ by more than this to have a cut between them."""

CELLS_PER_BATCH = 2_000_000
"""Bound on attributes x cases x classes evaluated together, to bound memory."""

GAIN_SLACK = 1e-3
"""A split whose gain is this much below the average can still be chosen."""

MANY_VALUES = 0.3
LARGEST_MINIMUM = 25.0
Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class J48Candidate:
    """The best split of one attribute: a cut between `below` and `above`, one category `value`, or all categories."""

    attribute: int
    gain: float
    gain_ratio: float
    below: float | None = None
    above: float | None = None
    value: int | None = None


class J48Evaluator:
    """Evaluates the attributes of a dataset at any of its nodes.

    Parameters
    ----------
    dataset : Dataset
        The training cases, with class codes as target.
    classes : array
        The class codes.
    min_objects : int
        Least weight of at least two branches of a split.
    binary : bool
        Split nominal attributes into one category against the rest.
    mdl_correction : bool
        Reduce the gain of numeric attributes by the cost of the number of cuts tried.
    """

    def __init__(
        self, dataset: Dataset, classes: Codes, *, min_objects: int, binary: bool, mdl_correction: bool
    ) -> None:
        attributes = dataset.schema.attributes
        self._classes = classes
        self._n_classes = len(dataset.schema.classes)
        self._min_objects = float(min_objects)
        self._binary = binary
        self._mdl_correction = mdl_correction
        self._n_values = [len(column.values) for column in attributes]
        numeric = [index for index, column in enumerate(attributes) if column.is_numeric]
        nominal = [index for index, column in enumerate(attributes) if not column.is_numeric]
        self._numeric, self._nominal = numeric, nominal
        self._numbers = np.array([dataset.columns[index] for index in numeric], dtype=np.float64)
        self._occurring = {index: _distinct(dataset.columns[index]) for index in numeric}
        lines = np.array([1 + self._n_values[index] for index in nominal], dtype=np.intp)
        self._first_line: Ints = np.cumsum(lines) - lines
        self._owner: Ints = np.repeat(np.arange(len(nominal), dtype=np.intp), lines)
        # For each case and nominal attribute the cell of the table, line and class, that the case counts in.
        small = len(self._owner) * self._n_classes < 2**31
        self._cells = np.empty((dataset.n_rows, len(nominal)), dtype=np.int32 if small else np.int64)
        for position, index in enumerate(nominal):
            line = self._first_line[position] + 1 + dataset.columns[index]
            self._cells[:, position] = line * self._n_classes + classes
        limit = MANY_VALUES * dataset.n_rows
        few = [column.is_numeric or greater(limit, len(column.values)) for column in attributes]
        self._in_average = few if any(few) else [True] * len(few)

    def best_test(self, rows: Rows, weights: Floats, weight: float) -> J48Candidate | None:
        """Return J48's choice for a node, None if no split is admissible."""
        return self._choose(self.candidates(rows, weights, weight))

    def candidates(self, rows: Rows, weights: Floats, weight: float) -> list[J48Candidate]:
        """Return the best split of each attribute that has an admissible one, in the order of the attributes."""
        found: list[J48Candidate] = []
        if self._nominal:
            table = self._table(rows, weights)
            tests = self._one_value_tests if self._binary else self._all_value_tests
            found.extend(tests(table, weight))
        if self._numeric:
            found.extend(self._cuts(rows, weights, weight))
        return sorted(found, key=lambda candidate: candidate.attribute)

    def _choose(self, candidates: Sequence[J48Candidate]) -> J48Candidate | None:
        counted = [candidate.gain for candidate in candidates if self._in_average[candidate.attribute]]
        if not counted:
            return None
        enough = sum(counted) / len(counted) - GAIN_SLACK
        best, best_ratio = None, 0.0
        for candidate in candidates:
            if candidate.gain >= enough and candidate.gain_ratio - best_ratio > J48_TOLERANCE:
                best, best_ratio = candidate, candidate.gain_ratio
        return best

    def split_of(self, candidate: J48Candidate) -> Split:
        """Return the candidate as a split; its cut is a value that occurs in the training data."""
        attribute = candidate.attribute
        if candidate.below is not None and candidate.above is not None:
            cut = self._occurring_cut(attribute, candidate.below, candidate.above)
            return Split.threshold(attribute, cut)
        if candidate.value is not None:
            return Split.equals(attribute, candidate.value, self._n_values[attribute])
        return Split.multiway(attribute, self._n_values[attribute])

    def _occurring_cut(self, attribute: int, below: float, above: float) -> float:
        middle = (below + above) / 2.0
        if not below <= middle < above:  # rounded up to the upper value, or beyond the largest double
            middle = below
        occurring = self._occurring[attribute]
        return float(occurring[np.searchsorted(occurring, middle, side="right") - 1])

    # -- nominal attributes ----------------------------------------------------------------------------------

    def _table(self, rows: Rows, weights: Floats) -> Floats:
        lines = len(self._owner)
        flat = np.zeros(lines * self._n_classes)
        attributes = len(self._nominal)
        step = max(1, CELLS_PER_BATCH // attributes)
        for start in range(0, len(rows), step):
            cells = self._cells[rows[start : start + step]].ravel()
            cell_weights = np.repeat(weights[start : start + step], attributes)
            flat += np.bincount(cells, weights=cell_weights, minlength=len(flat))
        table = flat.reshape(lines, self._n_classes)
        table[self._first_line] = 0.0  # the table holds known cases only; the rest of the node's weight is unknown
        return table

    def _all_value_tests(self, table: Floats, weight: float) -> Iterator[J48Candidate]:
        """Evaluate one branch per category; at least two branches must have the minimum weight."""
        of_value = table.sum(axis=1)
        value_terms = _x_log_x(of_value)
        after = np.add.reduceat(value_terms - _x_log_x(table).sum(axis=1), self._first_line)
        by_class = np.add.reduceat(table, self._first_line, axis=0)
        known = by_class.sum(axis=1)
        gain = _gain(_information(by_class, known) - after, known, weight)
        ratio = _ratio(gain, np.add.reduceat(value_terms, self._first_line), known, weight)
        large = self._min_objects - of_value < J48_TOLERANCE
        n_large = np.add.reduceat(large.astype(np.intp), self._first_line)
        for position in np.flatnonzero(n_large >= 2).tolist():
            yield J48Candidate(self._nominal[position], float(gain[position]), float(ratio[position]))

    def _one_value_tests(self, table: Floats, weight: float) -> Iterator[J48Candidate]:
        """Evaluate each category against the rest; both must have the minimum weight."""
        by_class = np.add.reduceat(table, self._first_line, axis=0)
        known = by_class.sum(axis=1)
        before = _information(by_class, known)[self._owner]
        by_class, known = by_class[self._owner], known[self._owner]
        of_value = table.sum(axis=1)
        of_rest = known - of_value
        after = _information(table, of_value) + _information(by_class - table, of_rest)
        gain = _gain(before - after, known, weight)
        ratio = _ratio(gain, _x_log_x(of_value) + _x_log_x(of_rest), known, weight)
        admissible = (self._min_objects - of_value < J48_TOLERANCE) & (self._min_objects - of_rest < J48_TOLERANCE)
        admissible[self._first_line] = False
        lines = np.flatnonzero(admissible)
        owners = self._owner[lines]
        for position in np.unique(owners).tolist():
            first = int(self._first_line[position]) + 1
            values = lines[owners == position]
            yield self._best_value(position, values - first, gain[values], ratio[values])

    def _best_value(self, position: int, values: Ints, gains: Floats, ratios: Floats) -> J48Candidate:
        """Return the category of the best ratio; the first category is chosen even if its ratio is 0."""
        taken, best_ratio = (0, float(ratios[0])) if values[0] == 0 else (None, 0.0)
        for index, ratio in enumerate(ratios.tolist()):
            if ratio - best_ratio > J48_TOLERANCE:
                taken, best_ratio = index, ratio
        if taken is None:
            return J48Candidate(self._nominal[position], 0.0, 0.0, value=int(values[0]))
        return J48Candidate(self._nominal[position], float(gains[taken]), best_ratio, value=int(values[taken]))

    # -- numeric attributes ----------------------------------------------------------------------------------

    def _cuts(self, rows: Rows, weights: Floats, weight: float) -> Iterator[J48Candidate]:
        attributes = len(self._numeric)
        step = max(1, CELLS_PER_BATCH // max(1, len(rows) * self._n_classes))
        classes = self._classes[rows]
        for start in range(0, attributes, step):
            values = self._numbers[start : start + step, rows]
            yield from self._cuts_of(start, values, classes, weights, weight)

    def _cuts_of(
        self, start: int, values: Floats, classes: Codes, weights: Floats, weight: float
    ) -> Iterator[J48Candidate]:
        """Evaluate the cuts of some attributes, one line of `values` each."""
        attributes, cases = values.shape
        order = np.argsort(values, axis=1)
        ascending = np.take_along_axis(values, order, axis=1)
        # Running class weights in ascending order of the value; unknown values (NaN) come last.
        running = np.zeros((attributes, cases, self._n_classes))
        np.put_along_axis(running, classes[order][:, :, None], weights[order][:, :, None], axis=2)
        np.cumsum(running, axis=1, out=running)
        n_known = cases - np.isnan(ascending).sum(axis=1)
        total = np.where((n_known > 0)[:, None], running[np.arange(attributes), n_known - 1], 0.0)
        known = total.sum(axis=1)
        minimum = self._minimum_side(known)
        gap, below_cut = np.nonzero(ascending[:, :-1] + NEIGHBOUR_GAP < ascending[:, 1:])
        left = running[gap, below_cut]
        low = left.sum(axis=1)
        high = known[gap] - low
        allowed = (minimum[gap] - low < J48_TOLERANCE) & (minimum[gap] - high < J48_TOLERANCE)
        gap, below_cut, left, low, high = gap[allowed], below_cut[allowed], left[allowed], low[allowed], high[allowed]
        if not len(gap):
            return
        after = _information(left, low) + _information(total[gap] - left, high)
        gains = _gain(_information(total, known)[gap] - after, known[gap], weight)
        bounds = np.searchsorted(gap, np.arange(attributes + 1))
        for line in np.unique(gap).tolist():
            first, stop = int(bounds[line]), int(bounds[line + 1])
            best = _first_of_nearly_best(gains[first:stop])
            if best is None:
                continue
            at = first + best
            gain = float(gains[at])
            if self._mdl_correction:
                gain -= float(np.log2(stop - first)) / weight
            if gain <= J48_TOLERANCE:
                continue
            sides = _x_log_x(low[at : at + 1]) + _x_log_x(high[at : at + 1])
            ratio = _ratio(np.array([gain]), sides, known[line : line + 1], weight)
            below, above = ascending[line, below_cut[at]], ascending[line, below_cut[at] + 1]
            yield J48Candidate(self._numeric[start + line], gain, float(ratio[0]), float(below), float(above))

    def _minimum_side(self, known: Floats) -> Floats:
        """Return the least weight beside a cut: a tenth of the mean class within fixed limits."""
        tenth = 0.1 * known / self._n_classes
        capped = np.where(tenth - LARGEST_MINIMUM > J48_TOLERANCE, LARGEST_MINIMUM, tenth)
        return np.where(tenth - self._min_objects < J48_TOLERANCE, self._min_objects, capped)


def _distinct(column: npt.NDArray[np.float64] | npt.NDArray[np.int32]) -> Floats:
    return np.unique(column[~np.isnan(column)]).astype(np.float64)


def _x_log_x(weights: Floats) -> Floats:
    """Return x log2 x, 0 for weights below the tolerance."""
    return np.where(weights < J48_TOLERANCE, 0.0, weights * np.log2(np.maximum(weights, J48_TOLERANCE)))


def _information(by_class: Floats, total: Floats) -> Floats:
    """Return the total information of the class weights in each line."""
    information: Floats = _x_log_x(total) - _x_log_x(by_class).sum(axis=1)
    return information


def _gain(information: Floats, known: Floats, weight: float) -> Floats:
    """Return gains per case from the total information gained on all known cases."""
    gained = known / weight * information
    return np.where((np.abs(gained) < J48_TOLERANCE) | (known <= 0), 0.0, gained / np.where(known > 0, known, 1.0))


def _ratio(gain: Floats, branch_terms: Floats, known: Floats, weight: float) -> Floats:
    """Return gain ratios; `branch_terms` are the sums of x log2 x over the branches."""
    whole = float(_x_log_x(np.array([weight]))[0])
    information = whole - branch_terms - _x_log_x(weight - known)
    useless = np.abs(information) < J48_TOLERANCE
    return np.where(useless, 0.0, gain * weight / np.where(useless, 1.0, information))


def _first_of_nearly_best(gains: Floats) -> int | None:
    """Return the index of the best gain; a gain replaces an earlier one only if greater by more than the tolerance.

    Examples
    --------
    >>> _first_of_nearly_best(np.array([0.1, 0.3, 0.3 + 1e-9, 0.2]))
    1
    >>> _first_of_nearly_best(np.array([0.0, 1e-7])) is None
    True
    """
    # A gain that replaces the best exceeds all before it: only the steps of the running maximum matter.
    highest = np.maximum.accumulate(gains)
    steps = [0, *(np.flatnonzero(highest[1:] > highest[:-1]) + 1).tolist()]
    best, best_gain = None, 0.0
    for index in steps:
        gain = float(gains[index])
        if gain - best_gain > J48_TOLERANCE:
            best, best_gain = index, gain
    return best


COLLAPSE_SLACK = 1e-3
"""A subtree must save more training errors than this to be kept."""


def grow_j48(dataset: Dataset, options: J48) -> J48Growth:
    """Grow a tree and collapse it, unless the options disable that.

    Parameters
    ----------
    dataset : Dataset
        Cases with classes; weights are used.
    options : J48

    Returns
    -------
    J48Growth
        The input of `treewright.learners.j48.pruning.prune_j48`; its `tree` is J48's unpruned tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> grow_j48(sample("play-tennis"), J48()).tree.node(0).attribute.name
    'Outlook'
    """
    classes, weights = _classes_and_weights(dataset)
    evaluator = J48Evaluator(
        dataset,
        classes,
        min_objects=options.min_objects,
        binary=options.binary,
        mdl_correction=options.mdl_correction,
    )
    n_classes = len(dataset.schema.classes)
    rows = np.arange(dataset.n_rows, dtype=np.int32)
    nodes = [J48Node.of_cases(rows, weights, classes, n_classes)]
    waiting = [0]
    while waiting:
        node = nodes[waiting.pop()]
        node.stop = _reason_to_stop(node, options.min_objects, len(dataset.columns))
        if node.stop is not None:
            continue
        best = evaluator.best_test(node.rows, node.weights, node.weight)
        if best is None:
            node.stop = Stop.NO_GAIN
            continue
        node.split = evaluator.split_of(best)
        node.gain, node.gain_ratio = best.gain, best.gain_ratio
        for share_rows, share_weights in partition(
            node.split, dataset.columns[best.attribute], node.rows, node.weights
        ):
            node.children.append(len(nodes))
            nodes.append(J48Node.of_cases(share_rows, share_weights, classes, n_classes))
        waiting.extend(reversed(node.children))
    if options.collapse:
        _collapse(nodes)
    return J48Growth.of_nodes(dataset.schema, nodes)


def _classes_and_weights(dataset: Dataset) -> tuple[Codes, Floats]:
    if dataset.target is None:
        raise DataError("J48 learns from cases with classes, and these have none", source=dataset.source)
    if dataset.schema.task is not Task.CLASSIFICATION:
        raise DataError("J48 predicts classes; the target is numeric", column=dataset.schema.target)
    if dataset.n_rows == 0:
        raise DataError("there are no cases to learn from", source=dataset.source)
    return dataset.target.astype(np.int32), dataset.case_weights


def _reason_to_stop(node: J48Node, min_objects: int, n_attributes: int) -> Stop | None:
    if not len(node.rows):
        return Stop.EMPTY
    if node.is_pure:
        return Stop.PURE
    if greater(2.0 * min_objects, node.weight):
        return Stop.TOO_FEW
    return Stop.NO_ATTRIBUTES if n_attributes == 0 else None


def _collapse(nodes: list[J48Node]) -> None:
    """Turn nodes whose leaves do not reduce the training errors into leaves, from the root down."""
    below = [0.0] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):  # children come after their parents
        node = nodes[index]
        below[index] = sum(below[child] for child in node.children) if node.children else node.errors
    waiting = [0]
    while waiting:
        index = waiting.pop()
        node = nodes[index]
        if node.children and below[index] >= node.errors - COLLAPSE_SLACK:
            node.become_leaf(Stop.PRUNED)
        waiting.extend(node.children)
