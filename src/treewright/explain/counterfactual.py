"""The smallest change to a case that changes the prediction of a tree.

A change gives one attribute another value: for a number the nearest one that meets the conditions of a path, for an
ordinal attribute the nearest category, for a nominal one the first category that meets them. The size of a numeric
change is a fraction of the spread: the range of the training data if given, else the range of the thresholds in the
tree. Ordinal categories are as far apart as their positions, the whole order being one; another nominal category counts
as one. The sizes are added up; fewer changed attributes go before a smaller size.

Method
------
Best-first search over the paths to all leaves: the conditions of a path can only get stricter further down, so the
first leaf taken from the queue that predicts something else is the smallest change. No node is visited twice. A leaf is
accepted only after the whole model, with its votes and costs, has predicted the changed case. For a case with missing
values, a path that tests one of them either sets it or follows the default branch.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treewright.data.columns import number_text
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind
from treewright.explain.conditions import BranchCondition
from treewright.explain.document import name
from treewright.tree.model import TreeModel, first_maximum, node_probabilities
from treewright.tree.split import KNOWN, Split, Test
from treewright.tree.tree import Tree

MOST_TRIED = 200
"""Most leaves to try; only with missing values can the model predict something else than the class of the leaf."""


@dataclass(frozen=True)
class Change:
    """Another value for one attribute.

    Parameters
    ----------
    attribute : str
    before : str or None
        The value of the case; None where it is missing.
    after : str
        A value that would do.
    condition : BranchCondition
        All values that would do.
    size : float
        As a part of the spread of the attribute.
    """

    attribute: str
    before: str | None
    after: str
    condition: BranchCondition
    size: float


@dataclass(frozen=True)
class Counterfactual:
    """The smallest change, the leaf it leads to, and the prediction there."""

    outcome: str | float
    node: int
    changes: tuple[Change, ...]
    size: float


@dataclass(frozen=True)
class _Numbers:
    """The numbers that a path allows: above `low`, at most `high`."""

    low: float = -math.inf
    high: float = math.inf


_Allowed = _Numbers | frozenset[int]


@dataclass(frozen=True)
class _SearchState:
    """A node in the search: the values that its path allows, and the sizes of the changes needed to meet them.

    `default_for` are the attributes with a missing value for which the path follows the default branch. `diverged_at`
    is the depth at which the path left that of the case.
    """

    node: int
    allowed: dict[int, _Allowed]
    sizes: dict[int, float]
    default_for: frozenset[int] = frozenset()
    diverged_at: int = 0


def smallest_change(model: TreeModel, case: Dataset, data: Dataset | None = None) -> Counterfactual | None:
    """Return the smallest change that alters the predicted class (or number); None if no change does.

    Parameters
    ----------
    model : TreeModel
    case : Dataset
        With one row.
    data : Dataset or None
        Gives the spread of numeric attributes.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> weather = sample("play-tennis")
    >>> found = smallest_change(fit(weather, id3()), weather.take([0]))
    >>> found.outcome, [(change.attribute, change.before, change.after) for change in found.changes]
    ('Yes', [('Humidity', 'High', 'Normal')])
    """
    search = _Search(model, case, data)
    now = search.predicted(case)
    for tried, state in enumerate(search.leaves(now)):
        changed = search.changed(state)
        predicted = search.predicted(changed)
        if predicted != now:
            return search.counterfactual(state, changed, predicted)
        if tried >= MOST_TRIED:
            break
    return None


class _Search:
    def __init__(self, model: TreeModel, case: Dataset, data: Dataset | None) -> None:
        self._model = model
        self._tree = model.tree
        self._case = case
        self._data = data
        self._columns = model.schema.attributes
        self._values = [column[0].item() for column in case.columns]
        self._spread = [
            _spread(self._tree, state, column, data) if column.is_numeric else 1.0
            for state, column in enumerate(self._columns)
        ]

    def predicted(self, case: Dataset) -> str | float:
        """Return the prediction of the whole model."""
        if self._tree.is_regression:
            return float(self._model.predict(case)[0])
        return self._tree.schema.classes[int(self._model.predict_codes(case)[0])]

    def leaves(self, now: str | float) -> Iterator[_SearchState]:
        """Yield the leaves that predict something else, the smallest change first.

        Among equals the path that shares most nodes with that of the case comes first, then the first in the tree.
        """
        predictions = _leaf_predictions(self._model)
        start = _SearchState(0, {}, {})
        waiting: list[tuple[int, float, int, int, _SearchState]] = [(0, 0.0, 0, 0, start)]
        while waiting:
            *_, node, state = heapq.heappop(waiting)
            split = self._tree.split(node)
            if split is None:
                if predictions[node] != now:
                    yield state
                continue
            for branch, child in enumerate(self._tree.children_of(node).tolist()):
                below = self._below(state, split, branch, child)
                if below is not None:
                    cost = sum(below.sizes.values())
                    heapq.heappush(waiting, (len(below.sizes), cost, -below.diverged_at, child, below))

    def _below(self, state: _SearchState, split: Split, branch: int, child: int) -> _SearchState | None:
        """Return the state one branch down; None if no value leads there."""
        attribute = split.attribute
        missing = self._is_missing(attribute)
        default = self._default_branch(state.node, split)
        if missing and attribute not in state.sizes and default == branch:
            return _SearchState(child, state.allowed, state.sizes, state.default_for | {attribute}, state.diverged_at)
        if attribute in state.default_for:
            return None
        allowed = _narrowed(state.allowed.get(attribute), split, branch, default)
        if allowed is None:
            return None
        sizes = state.sizes
        if missing or not self._meets(attribute, allowed):
            sizes = sizes | {attribute: self._size(attribute, allowed)}
        diverged_at = state.diverged_at if state.sizes or not sizes else int(self._tree.depths[state.node])
        return _SearchState(child, state.allowed | {attribute: allowed}, sizes, state.default_for, diverged_at)

    def _is_missing(self, attribute: int) -> bool:
        value = self._values[attribute]
        return math.isnan(value) if self._columns[attribute].is_numeric else value < 0

    def _default_branch(self, node: int, split: Split) -> int:
        """Return the branch that the case takes if the value is missing; negative if it stays or is split."""
        for one in self._tree.surrogates.get(node, ()):
            branch = int(one.route(self._case.columns[one.split.attribute])[0])
            if branch >= 0:
                return branch
        return split.missing

    def _meets(self, attribute: int, allowed: _Allowed) -> bool:
        value = self._values[attribute]
        return allowed.low < value <= allowed.high if isinstance(allowed, _Numbers) else value in allowed

    def _size(self, attribute: int, allowed: _Allowed) -> float:
        """Return the size of the change that brings the value among the allowed ones."""
        value, column = self._values[attribute], self._columns[attribute]
        if self._is_missing(attribute):
            return 1.0
        if isinstance(allowed, _Numbers):
            return (
                float(allowed.low - value if value <= allowed.low else value - allowed.high) / self._spread[attribute]
            )
        if column.kind is not Kind.ORDINAL:
            return 1.0
        return float(min(abs(code - value) for code in allowed)) / (len(column.values) - 1)

    def changed(self, state: _SearchState) -> Dataset:
        """Return the case with the changes of a state."""
        columns: list[npt.NDArray[np.int32] | npt.NDArray[np.float64]] = list(self._case.columns)
        for attribute in state.sizes:
            new = self._nearest(attribute, state.allowed[attribute])
            columns[attribute] = np.full_like(columns[attribute], new)
        return replace(self._case, columns=tuple(columns))

    def _nearest(self, attribute: int, allowed: _Allowed) -> float | int:
        value, column = self._values[attribute], self._columns[attribute]
        if not isinstance(allowed, _Numbers):
            if self._is_missing(attribute) or column.kind is not Kind.ORDINAL:
                return min(allowed)
            return min(allowed, key=lambda code: (abs(code - value), code))
        seen = self._observed_value(attribute, allowed)
        if seen is not None:
            return seen
        downwards = value > allowed.high or (math.isnan(value) and allowed.low == -math.inf)
        if downwards:
            return allowed.high if math.isfinite(allowed.high) else 0.0
        return _just_above(allowed)

    def _observed_value(self, attribute: int, allowed: _Numbers) -> float | None:
        """Return the nearest allowed value of the training data, so that whole numbers stay whole."""
        if self._data is None:
            return None
        values = self._data.columns[attribute]
        observed = values[(values > allowed.low) & (values <= allowed.high)]
        if not len(observed):
            return None
        return float(observed.max() if self._values[attribute] > allowed.high else observed.min())

    def counterfactual(self, state: _SearchState, changed: Dataset, predicted: str | float) -> Counterfactual:
        """Return the changes as text, with the new prediction."""
        changes = []
        for attribute, size in state.sizes.items():
            column, allowed = self._columns[attribute], state.allowed[attribute]
            before, after = (_text(column, one.columns[attribute][0].item()) for one in (self._case, changed))
            changes.append(Change(column.name, before, after or "", _condition(column, allowed), float(size)))
        return Counterfactual(predicted, state.node, tuple(changes), float(sum(state.sizes.values())))


def _leaf_predictions(model: TreeModel) -> list[str | float]:
    """Return the prediction of each node for a unit-weight case."""
    tree = model.tree
    if tree.is_regression:
        return [float(value) for value in tree.outcome]
    shares = node_probabilities(tree, None if model.costs is None else model.smoothing)
    scores = shares if model.costs is None else -(shares @ np.array(model.costs))
    return [tree.schema.classes[code] for code in first_maximum(scores).tolist()]


def _narrowed(allowed: _Allowed | None, split: Split, branch: int, default: int) -> _Allowed | None:
    """Return the values allowed after one more branch; None if there are none.

    Categories without a branch of their own take the default branch, as missing values do.
    """
    if split.test in (Test.THRESHOLD, Test.INTERVALS):
        now = allowed if isinstance(allowed, _Numbers) else _Numbers()
        if split.cut is not None:
            if split.cut == KNOWN:  # only a missing value goes right
                return now if branch != split.missing else None
            low, high = (-math.inf, split.cut) if branch == 0 else (split.cut, math.inf)
        elif branch > len(split.bounds):
            return None
        else:
            bounds = (-math.inf, *split.bounds, math.inf)
            low, high = bounds[branch], bounds[branch + 1]
        met = _Numbers(max(now.low, low), min(now.high, high))
        return met if met.low < met.high else None
    branch_codes = frozenset(
        code for code, assigned in enumerate(split.branch_of) if (default if assigned < 0 else assigned) == branch
    )
    left = branch_codes & allowed if isinstance(allowed, frozenset) else branch_codes
    return left or None


def _just_above(allowed: _Numbers) -> float:
    """Return a number above the lower bound that is short to write, if one is near, and not above the upper one."""
    exact = math.nextafter(allowed.low, math.inf)
    scale = abs(allowed.low) or 1.0
    for digits in range(3, 16):
        step = 10.0 ** (math.floor(math.log10(scale)) - digits)
        near = float(f"{(math.floor(allowed.low / step) + 1) * step:.{digits + 1}g}")
        if allowed.low < near <= allowed.high and near - allowed.low <= scale * 1e-2:
            return near
    return exact


def _spread(tree: Tree, attribute: int, column: Column, data: Dataset | None) -> float:
    if data is not None:
        values = data.columns[attribute]
        known = values[~np.isnan(values)] if column.is_numeric else values
        width = float(known.max() - known.min()) if len(known) else 0.0
        if width > 0 and math.isfinite(width):
            return width
    here = np.flatnonzero(tree.attribute == attribute)
    cuts = [float(tree.cut[node]) for node in here if not np.isnan(tree.cut[node]) and tree.cut[node] != KNOWN]
    for node in here:
        cuts += tree.bounds[tree.bound_start[node] : tree.bound_start[node + 1]].tolist()
    width = max(cuts) - min(cuts) if cuts else 0.0
    if width > 0 and math.isfinite(width):
        return width
    return abs(cuts[0]) if cuts and cuts[0] != 0 else 1.0


def _text(column: Column, value: float) -> str | None:
    if column.is_numeric:
        return None if math.isnan(value) else number_text(value)
    return None if value < 0 else column.values[int(value)]


def _condition(column: Column, allowed: _Allowed) -> BranchCondition:
    if isinstance(allowed, _Numbers):
        low, high = (number_text(bound) if math.isfinite(bound) else "" for bound in (allowed.low, allowed.high))
        if low and high:
            return BranchCondition(column.name, "between", f"> {low}, <= {high}")
        if not low and not high:
            return BranchCondition(column.name, "known", "")
        return BranchCondition(column.name, "<=" if high else ">", high or low)
    values = [column.values[code] for code in sorted(allowed)]
    if len(values) == 1:
        return BranchCondition(column.name, "=", name(values[0]))
    return BranchCondition(column.name, "in", "{" + ", ".join(name(value) for value in values) + "}")
