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
from treewright.explain.conditions import Condition
from treewright.explain.document import name
from treewright.tree.model import TreeModel, first_maximum, node_probabilities
from treewright.tree.split import KNOWN, Split, Test
from treewright.tree.tree import Tree

MOST_TRIED = 200
"""Leaves that are tried in vain; only missing values can make a leaf say something else than its class."""


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
    condition : Condition
        All values that would do.
    size : float
        As a part of the spread of the attribute.
    """

    attribute: str
    before: str | None
    after: str
    condition: Condition
    size: float


@dataclass(frozen=True)
class Counterfactual:
    """The smallest change, the leaf it leads to, and what is said there."""

    outcome: str | float
    node: int
    changes: tuple[Change, ...]
    size: float


@dataclass(frozen=True)
class _Numbers:
    """What a path asks of a number: above `low`, at most `high`."""

    low: float = -math.inf
    high: float = math.inf


_Asked = _Numbers | frozenset[int]


@dataclass(frozen=True)
class _Place:
    """A node on the way: what its path asks of each attribute that the case would have to change, or keep within.

    `parted` is the depth at which the path left that of the case.
    """

    node: int
    asked: dict[int, _Asked]
    price: dict[int, float]
    left_missing: frozenset[int] = frozenset()
    parted: int = 0


def smallest_change(model: TreeModel, case: Dataset, data: Dataset | None = None) -> Counterfactual | None:
    """Return the smallest change that alters the class (or the number) that a model says; None if nothing can.

    Parameters
    ----------
    model : TreeModel
    case : Dataset
        With one row.
    data : Dataset or None
        For the spread of numeric attributes.

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
    now = search.said(case)
    for tried, place in enumerate(search.leaves(now)):
        changed = search.changed(place)
        said = search.said(changed)
        if said != now:
            return search.told(place, changed, said)
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
            _spread(self._tree, place, column, data) if column.is_numeric else 1.0
            for place, column in enumerate(self._columns)
        ]

    def said(self, case: Dataset) -> str | float:
        """Return what the whole model says."""
        if self._tree.is_regression:
            return float(self._model.predict(case)[0])
        return self._tree.schema.classes[int(self._model.predict_codes(case)[0])]

    def leaves(self, now: str | float) -> Iterator[_Place]:
        """Yield the leaves that say something else, the cheapest first.

        Of equals the one whose path goes longest with that of the case is first, then the first in the tree.
        """
        says = _leaf_says(self._model)
        start = _Place(0, {}, {})
        waiting: list[tuple[int, float, int, int, _Place]] = [(0, 0.0, 0, 0, start)]
        while waiting:
            *_, node, place = heapq.heappop(waiting)
            split = self._tree.split(node)
            if split is None:
                if says[node] != now:
                    yield place
                continue
            for branch, child in enumerate(self._tree.children_of(node).tolist()):
                below = self._below(place, split, branch, child)
                if below is not None:
                    cost = sum(below.price.values())
                    heapq.heappush(waiting, (len(below.price), cost, -below.parted, child, below))

    def _below(self, place: _Place, split: Split, branch: int, child: int) -> _Place | None:
        """Return the place one branch down; None where no value leads there."""
        attribute = split.attribute
        missing = self._is_missing(attribute)
        default = self._goes_missing(place.node, split)
        if missing and attribute not in place.price and default == branch:
            return _Place(child, place.asked, place.price, place.left_missing | {attribute}, place.parted)
        if attribute in place.left_missing:
            return None
        asked = _narrowed(place.asked.get(attribute), split, branch, default)
        if asked is None:
            return None
        price = place.price
        if missing or not self._meets(attribute, asked):
            price = price | {attribute: self._size(attribute, asked)}
        parted = place.parted if place.price or not price else int(self._tree.depths[place.node])
        return _Place(child, place.asked | {attribute: asked}, price, place.left_missing, parted)

    def _is_missing(self, attribute: int) -> bool:
        value = self._values[attribute]
        return math.isnan(value) if self._columns[attribute].is_numeric else value < 0

    def _goes_missing(self, node: int, split: Split) -> int:
        """Return the branch that a case without the value takes as it is, -1 if it takes none as a whole."""
        for one in self._tree.surrogates.get(node, ()):
            branch = int(one.route(self._case.columns[one.split.attribute])[0])
            if branch >= 0:
                return branch
        return split.missing

    def _meets(self, attribute: int, asked: _Asked) -> bool:
        value = self._values[attribute]
        return asked.low < value <= asked.high if isinstance(asked, _Numbers) else value in asked

    def _size(self, attribute: int, asked: _Asked) -> float:
        """Return the size of the change that makes the value meet what is asked."""
        value, column = self._values[attribute], self._columns[attribute]
        if self._is_missing(attribute):
            return 1.0
        if isinstance(asked, _Numbers):
            return float(asked.low - value if value <= asked.low else value - asked.high) / self._spread[attribute]
        if column.kind is not Kind.ORDINAL:
            return 1.0
        return float(min(abs(code - value) for code in asked)) / (len(column.values) - 1)

    def changed(self, place: _Place) -> Dataset:
        """Return the case with the changes of a place."""
        columns: list[npt.NDArray[np.int32] | npt.NDArray[np.float64]] = list(self._case.columns)
        for attribute in place.price:
            new = self._nearest(attribute, place.asked[attribute])
            columns[attribute] = np.full_like(columns[attribute], new)
        return replace(self._case, columns=tuple(columns))

    def _nearest(self, attribute: int, asked: _Asked) -> float | int:
        value, column = self._values[attribute], self._columns[attribute]
        if not isinstance(asked, _Numbers):
            if self._is_missing(attribute) or column.kind is not Kind.ORDINAL:
                return min(asked)
            return min(asked, key=lambda code: (abs(code - value), code))
        seen = self._seen(attribute, asked)
        if seen is not None:
            return seen
        downwards = value > asked.high or (math.isnan(value) and asked.low == -math.inf)
        if downwards:
            return asked.high if math.isfinite(asked.high) else 0.0
        return _just_above(asked)

    def _seen(self, attribute: int, asked: _Numbers) -> float | None:
        """Return the nearest value of the training data that meets what is asked, so that whole numbers stay whole."""
        if self._data is None:
            return None
        values = self._data.columns[attribute]
        inside = values[(values > asked.low) & (values <= asked.high)]
        if not len(inside):
            return None
        return float(inside.max() if self._values[attribute] > asked.high else inside.min())

    def told(self, place: _Place, changed: Dataset, said: str | float) -> Counterfactual:
        """Return the changes as words."""
        changes = []
        for attribute, size in place.price.items():
            column, asked = self._columns[attribute], place.asked[attribute]
            before, after = (_text(column, one.columns[attribute][0].item()) for one in (self._case, changed))
            changes.append(Change(column.name, before, after or "", _condition(column, asked), float(size)))
        return Counterfactual(said, place.node, tuple(changes), float(sum(place.price.values())))


def _leaf_says(model: TreeModel) -> list[str | float]:
    """Return what a whole case is told at each node."""
    tree = model.tree
    if tree.is_regression:
        return [float(value) for value in tree.outcome]
    shares = node_probabilities(tree, None if model.costs is None else model.smoothing)
    worth = shares if model.costs is None else -(shares @ np.array(model.costs))
    return [tree.schema.classes[code] for code in first_maximum(worth).tolist()]


def _narrowed(asked: _Asked | None, split: Split, branch: int, default: int) -> _Asked | None:
    """Return what is asked after one more branch; None where nothing meets it.

    Values that have no branch of their own go the default way, as missing ones do.
    """
    if split.test in (Test.THRESHOLD, Test.INTERVALS):
        now = asked if isinstance(asked, _Numbers) else _Numbers()
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
    inside = frozenset(code for code, home in enumerate(split.branch_of) if (default if home < 0 else home) == branch)
    left = inside & asked if isinstance(asked, frozenset) else inside
    return left or None


def _just_above(asked: _Numbers) -> float:
    """Return a number above the lower bound that is short to write, if one is near, and not above the upper one."""
    exact = math.nextafter(asked.low, math.inf)
    scale = abs(asked.low) or 1.0
    for digits in range(3, 16):
        step = 10.0 ** (math.floor(math.log10(scale)) - digits)
        near = float(f"{(math.floor(asked.low / step) + 1) * step:.{digits + 1}g}")
        if asked.low < near <= asked.high and near - asked.low <= scale * 1e-2:
            return near
    return exact


def _spread(tree: Tree, attribute: int, column: Column, data: Dataset | None) -> float:
    if data is not None:
        values = data.columns[attribute]
        known = values[~np.isnan(values)] if column.is_numeric else values
        reach = float(known.max() - known.min()) if len(known) else 0.0
        if reach > 0 and math.isfinite(reach):
            return reach
    here = np.flatnonzero(tree.attribute == attribute)
    cuts = [float(tree.cut[node]) for node in here if not np.isnan(tree.cut[node]) and tree.cut[node] != KNOWN]
    for node in here:
        cuts += tree.bounds[tree.bound_start[node] : tree.bound_start[node + 1]].tolist()
    reach = max(cuts) - min(cuts) if cuts else 0.0
    if reach > 0 and math.isfinite(reach):
        return reach
    return abs(cuts[0]) if cuts and cuts[0] != 0 else 1.0


def _text(column: Column, value: float) -> str | None:
    if column.is_numeric:
        return None if math.isnan(value) else number_text(value)
    return None if value < 0 else column.values[int(value)]


def _condition(column: Column, asked: _Asked) -> Condition:
    if isinstance(asked, _Numbers):
        low, high = (number_text(bound) if math.isfinite(bound) else "" for bound in (asked.low, asked.high))
        if low and high:
            return Condition(column.name, "between", f"> {low}, <= {high}")
        if not low and not high:
            return Condition(column.name, "known", "")
        return Condition(column.name, "<=" if high else ">", high or low)
    values = [column.values[code] for code in sorted(asked)]
    if len(values) == 1:
        return Condition(column.name, "=", name(values[0]))
    return Condition(column.name, "in", "{" + ", ".join(name(value) for value in values) + "}")
