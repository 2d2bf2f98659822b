"""rpart's search for primary splits and surrogates.

Primary splits. Invariants: only cases with a known value count. The first of equal cuts, subsets and attributes wins,
and equal means equal in doubles: every sum is made in rpart's order and every term in its form, since rounding decides
exact ties.

Surrogates: splits of other attributes that agree with the primary split, used where its value is missing. Invariants:
cases with a missing value of the primary attribute take no part in the search; those with a missing value of the
surrogate count as disagreeing, since the agreement is a share of all cases that the primary split sends to a side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import log

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.learners.rpart.cases import (
    LEFT,
    NEITHER,
    RIGHT,
    ClassTarget,
    Floats,
    NumberTarget,
    Rows,
    RpartCases,
    RpartTable,
    Sides,
    Target,
)
from treewright.learners.rpart.nodes import RpartSplit, SubsetSearch, cut_between

SUBSET_LIMIT = 12
"""With more than two classes and more categories at the node than this, not all subsets are tried."""

NEGLIGIBLE = 1e-10
"""An improvement must exceed this share of the largest one found so far."""

CELLS_PER_BLOCK = 4_000_000
"""Bound on the cases times attributes that are evaluated together."""

Impurity = Callable[[Floats], Floats]


def gini(shares: Floats) -> Floats:
    """Return the term of a class in the Gini index, q(1 - q)."""
    return shares * (1.0 - shares)


def information(shares: Floats) -> Floats:
    """Return the term of a class in the entropy in nats, -q ln q.

    The logarithm is the scalar one of the C library: the last bit of a vectorised one depends on the processor.
    """
    return np.array([-q * log(q) if q > 0.0 else 0.0 for q in shares.ravel().tolist()]).reshape(shares.shape)


IMPURITY_TERMS: dict[str, Impurity] = {"gini": gini, "information": information}


@dataclass(frozen=True)
class _Found:
    """The best split of one attribute; see `RpartSplit`."""

    improve: float
    cut: float | None = None
    lower: int = LEFT
    strict: bool = False
    sides: tuple[int, ...] = ()


@dataclass(frozen=True)
class _CategoryCounts:
    """The categories of a nominal attribute at a node: class counts, altered weights, cases, and the altered total."""

    counts: Floats
    altered: Floats
    numbers: Rows
    total: float


_Subset = tuple[float, npt.NDArray[np.bool_], int]
"""Improvement, the categories on one side as a mask, and which side that is."""


class SplitSearch:
    """Finds the best splits of nodes, and keeps the largest improvement of the whole run.

    Parameters
    ----------
    table : RpartTable
    target : Target
    criterion : str
        "gini" or "information" for classes; not used for a numeric target.
    min_bucket : int
        Least number of cases on each side.
    kept : int
        Number of splits to return, the primary one included.
    exact : bool
        Whether cuts are strict, as in rpart.
    """

    def __init__(
        self, table: RpartTable, target: Target, criterion: str, min_bucket: int, kept: int, *, exact: bool
    ) -> None:
        self._table = table
        self._target = target
        self._impurity = IMPURITY_TERMS.get(criterion, gini)
        self._min_bucket = min_bucket
        self._kept = kept
        self._exact = exact
        self._largest = 0.0
        self.subset_search = SubsetSearch.EXHAUSTIVE

    def best(self, cases: RpartCases, risk: float) -> list[RpartSplit]:
        """Return the best split of each of the best attributes, the best first."""
        found: dict[int, tuple[_Found, int]] = {}
        for row, one in self._numeric(cases, risk):
            found[self._table.numeric[row]] = one, int(cases.known[row])
        for row, one, count in self._nominal(cases, risk):
            found[self._table.nominal[row]] = one, count
        splits: list[RpartSplit] = []
        for attribute in sorted(found):
            one, count = found[attribute]
            self._largest = max(self._largest, one.improve)
            if one.improve > NEGLIGIBLE * self._largest:
                splits.append(RpartSplit(attribute, count, one.improve, one.cut, one.lower, one.strict, one.sides))
        splits.sort(key=lambda split: -split.improve)  # stable: the earlier of equals stays before
        return splits[: self._kept]

    # -- numbers -----------------------------------------------------------------------------------------------------

    def _numeric(self, cases: RpartCases, risk: float) -> Iterator[tuple[int, _Found]]:
        step = max(1, CELLS_PER_BLOCK // max(1, len(cases)))
        for start in range(0, len(cases.orders), step):
            block = _Block.of(self._table, cases, slice(start, start + step), self._target.weights)
            rows, positions = np.nonzero(block.cuts(self._min_bucket))
            if not len(rows):
                continue
            if isinstance(self._target, ClassTarget):
                scores, whole, lower = self._class_cuts(self._target, block, rows, positions)
                scale = 1.0
            else:
                scores, lower = self._mean_cuts(self._target, block, rows, positions)
                whole, scale = np.zeros(len(block.orders)), risk
            for row, best in _first_best(scores, rows):
                improve = (float(whole[row]) + float(scores[best])) / scale
                if improve > 0.0:
                    position = positions[best]
                    low, high = block.values[row, position : position + 2].tolist()
                    cut, strict = cut_between(low, high, exact=self._exact)
                    yield start + row, _Found(improve, cut, int(lower[best]), strict)

    def _class_cuts(
        self, target: ClassTarget, block: _Block, rows: Rows, positions: Rows
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Return the negative impurity after each cut, the impurity before (by attribute), and the side below."""
        classes = target.classes[block.orders]
        altered = target.altered[classes] * block.weights
        left_sums = np.cumsum(altered, axis=1)
        totals = _divisor(left_sums[:, -1])
        p_left = _divisor(left_sums[rows, positions])
        p_right = _divisor(_running_rest(left_sums[:, -1], altered, exact=target.has_exact_sums)[rows, positions])
        before, after = np.zeros(len(totals)), np.zeros(len(rows))
        mean_left, mean_right = np.zeros(len(rows)), np.zeros(len(rows))
        for code, factor in enumerate(target.altered.tolist()):
            counts = np.cumsum(np.where(classes == code, block.weights, 0.0), axis=1)
            every, left = counts[:, -1], counts[rows, positions]
            before += totals * self._impurity(factor * every / totals)
            share = factor * left / p_left
            after += p_left * self._impurity(share)
            mean_left += share * code
            share = factor * (every[rows] - left) / p_right
            after += p_right * self._impurity(share)
            mean_right += share * code
        return -after, before, ~(mean_left < mean_right)

    @staticmethod
    def _mean_cuts(
        target: NumberTarget, block: _Block, rows: Rows, positions: Rows
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return the squares explained by each cut, and the side below it."""
        numbers = target.numbers[block.orders]
        weights = np.cumsum(block.weights, axis=1)
        means = np.cumsum(numbers * block.weights, axis=1)[:, -1] / _divisor(weights[:, -1])
        sums = np.cumsum((numbers - means[:, np.newaxis]) * block.weights, axis=1)[rows, positions]
        left = weights[rows, positions]
        right = weights[rows, -1] - left
        squares = sums * sums
        return squares / left + squares / right, ~(sums < -sums)

    # -- nominal attributes ------------------------------------------------------------------------------------------

    def _nominal(self, cases: RpartCases, risk: float) -> Iterator[tuple[int, _Found, int]]:
        table, target = self._table, self._target
        if not table.nominal:
            return
        codes = table.codes[:, cases.rows]
        size = int(table.level_start[-1])
        numbers = np.bincount(codes.ravel(), minlength=size)
        weights = target.weights[cases.rows]
        if isinstance(target, ClassTarget):
            tables = _class_tables(target, codes, cases.rows, weights, size)
            totals = self._altered_totals(target, codes, cases.rows)
        for row in range(len(table.nominal)):
            levels = table.levels(row)
            here = numbers[levels]
            occurring = np.flatnonzero(here)
            if len(occurring) < 2:
                continue
            if isinstance(target, ClassTarget):
                counts, altered = (array[levels][occurring] for array in tables)
                level_table = _CategoryCounts(counts, altered, here[occurring], float(totals[row]))
                found = self._class_subset(target, level_table, last_occurs=bool(here[-1]))
            else:
                found = self._mean_subset(target, codes[row] - levels.start, cases.rows, here, risk)
            if found is not None:
                improve, changed, side = found
                sides = np.full(len(here), NEITHER)
                sides[occurring] = np.where(changed, side, 1 - side)
                yield row, _Found(improve, sides=tuple(sides.tolist())), int(here.sum())

    def _altered_totals(self, target: ClassTarget, codes: Rows, rows: Rows) -> Floats:
        """Return the altered weight of the cases with a value, for each nominal attribute, summed case by case."""
        altered = target.altered[target.classes[rows]] * target.weights[rows]
        known = codes < self._table.level_start[1:, np.newaxis] - 1
        totals: Floats = np.cumsum(np.where(known, altered, 0.0), axis=1)[:, -1]
        return totals

    def _class_subset(self, target: ClassTarget, levels: _CategoryCounts, *, last_occurs: bool) -> _Subset | None:
        """Return the best subset of the categories; None if there is none.

        The last category never moves. If it has no cases, all others move, and every subset is evaluated a second time
        as its complement, which rounding may score higher.
        """
        n_occurring = len(levels.numbers)
        if target.n_classes == 2:
            orders = [np.argsort(target.altered[0] * levels.counts[:, 0] / _divisor(levels.altered), kind="stable")]
        elif n_occurring <= SUBSET_LIMIT:
            return self._best_moves(target, levels, *_gray_moves(n_occurring if last_occurs else n_occurring + 1))
        else:
            self.subset_search = SubsetSearch.ORDERED
            shares = target.altered * levels.counts / _divisor(levels.altered)[:, np.newaxis]
            orders = [np.argsort(shares[:, code], kind="stable") for code in range(target.n_classes)]
        best = None
        for order in orders:
            found = self._best_moves(target, levels, order[:-1], np.ones(n_occurring - 1))
            if found is not None and (best is None or found[0] > best[0]):
                best = found
        return best

    def _best_moves(self, target: ClassTarget, levels: _CategoryCounts, moved: Rows, signs: Floats) -> _Subset | None:
        """Move one category after the other to the left (back, where the sign is -1); return the best state reached."""
        counts, altered, numbers, total = levels.counts, levels.altered, levels.numbers, levels.total or 1.0
        cases = np.cumsum(signs * numbers[moved])
        allowed = (cases >= self._min_bucket) & (numbers.sum() - cases >= self._min_bucket)
        if not allowed.any():
            return None
        steps = signs * altered[moved]
        p_left = np.cumsum(steps)
        p_right = np.subtract.accumulate(np.concatenate(([total], steps)))[1:]
        left = np.cumsum(signs[:, np.newaxis] * counts[moved], axis=0)
        every = np.cumsum(counts, axis=0)[-1]
        at = np.flatnonzero(allowed)
        p_left, p_right, left = _divisor(p_left[at]), _divisor(p_right[at]), left[at]
        before, after = 0.0, np.zeros(len(at))
        mean_left, mean_right = np.zeros(len(at)), np.zeros(len(at))
        for code, factor in enumerate(target.altered.tolist()):
            before += total * float(self._impurity(factor * every[code : code + 1] / total)[0])
            share = factor * left[:, code] / p_left
            after += p_left * self._impurity(share)
            mean_left += share * code
            share = factor * (every[code] - left[:, code]) / p_right
            after += p_right * self._impurity(share)
            mean_right += share * code
        best = int(np.argmin(after))
        improve = before - float(after[best])
        if not improve > 0.0:
            return None
        # A category that has moved an odd number of times is on the other side.
        changed = np.bincount(moved[: at[best] + 1], minlength=len(numbers)) % 2 == 1
        return improve, changed, LEFT if mean_left[best] < mean_right[best] else RIGHT

    def _mean_subset(self, target: NumberTarget, codes: Rows, rows: Rows, numbers: Rows, risk: float) -> _Subset | None:
        known = codes < len(numbers)
        levels, y, w = codes[known], target.numbers[rows[known]], target.weights[rows[known]]
        mean = np.cumsum(y * w)[-1] / np.cumsum(w)[-1]
        occurring = np.flatnonzero(numbers)
        sums = np.bincount(levels, weights=(y - mean) * w, minlength=len(numbers))[occurring]
        weights = np.bincount(levels, weights=w, minlength=len(numbers))[occurring]
        order = np.argsort(sums / weights, kind="stable")
        cases = np.cumsum(numbers[occurring][order])
        allowed = (cases >= self._min_bucket) & (cases[-1] - cases >= self._min_bucket)
        allowed[-1] = False
        at = np.flatnonzero(allowed)
        if not len(at):
            return None
        left = np.cumsum(weights[order])
        sum_left = np.cumsum(sums[order])[at]
        squares = sum_left * sum_left
        explained = squares / left[at] + squares / (left[-1] - left[at])
        best = int(np.argmax(explained))
        if not explained[best] > 0.0:
            return None
        changed = np.zeros(len(occurring), dtype=bool)
        changed[order[: at[best] + 1]] = True
        return float(explained[best] / risk), changed, LEFT if sum_left[best] < -sum_left[best] else RIGHT


@dataclass(frozen=True)
class _Block:
    """Some numeric attributes of a node's cases, one per row, sorted by value.

    Cases with a missing value have weight zero, so that they add nothing to running sums.
    """

    orders: Rows
    known: Rows
    values: Floats
    weights: Floats

    @classmethod
    def of(cls, table: RpartTable, cases: RpartCases, attributes: slice, weights: Floats) -> _Block:
        orders, known = cases.orders[attributes], cases.known[attributes]
        values = np.take_along_axis(table.values[attributes], orders, axis=1)
        ordered = weights[orders]
        if table.has_missing:
            ordered = np.where(np.arange(orders.shape[1]) < known[:, np.newaxis], ordered, 0.0)
        return cls(orders, known, values, ordered)

    def cuts(self, least: int) -> npt.NDArray[np.bool_]:
        """Return where a cut after a case is allowed: the next value differs, and both sides have enough cases."""
        below = np.arange(1, self.orders.shape[1])
        allowed: npt.NDArray[np.bool_] = self.values[:, 1:] != self.values[:, :-1]
        allowed &= (below >= least) & (below <= self.known[:, np.newaxis] - least)
        return allowed


def _divisor(sums: Floats) -> Floats:
    """Return the sums as divisors: 1 for 0 (a class may have weight 0), where all shares are 0 as well."""
    return np.where(sums == 0.0, 1.0, sums)


def _first_best(scores: Floats, rows: Rows) -> Iterator[tuple[int, int]]:
    """Yield for each row of the block that has cuts the index of its best cut, the first of equals."""
    starts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
        yield int(rows[start]), start + int(np.argmax(scores[start:stop]))


def _running_rest(totals: Floats, parts: Floats, *, exact: bool) -> Floats:
    """Return the remainder of the totals after each part, subtracted one by one."""
    if exact:
        return totals[:, np.newaxis] - np.cumsum(parts, axis=1)
    return np.subtract.accumulate(np.concatenate((totals[:, np.newaxis], parts), axis=1), axis=1)[:, 1:]


def _class_tables(target: ClassTarget, codes: Rows, rows: Rows, weights: Floats, size: int) -> tuple[Floats, Floats]:
    """Return the weight of each class in each category, and the altered weight of each category."""
    classes = target.classes[rows]
    k = target.n_classes
    n_attributes = len(codes)
    cells = (codes * k + classes).ravel()
    counts: Floats = np.bincount(cells, np.tile(weights, n_attributes), minlength=size * k).astype(np.float64)
    shares = np.tile(target.altered[classes] * weights, n_attributes)
    altered: Floats = np.bincount(codes.ravel(), shares, minlength=size).astype(np.float64)
    return counts.reshape(size, k), altered


@cache
def _gray_moves(n_values: int) -> tuple[Rows, Floats]:
    """Return which category moves at each step through all subsets, and whether it moves over (1) or back (-1).

    The first category moves most often, the last never.

    Examples
    --------
    >>> moved, signs = _gray_moves(3)
    >>> moved.tolist(), signs.tolist()
    ([0, 1, 0], [1.0, 1.0, -1.0])
    """
    steps = range(1, 1 << (n_values - 1))
    moved = [(step & -step).bit_length() - 1 for step in steps]
    signs = [-1.0 if (step >> (value + 1)) & 1 else 1.0 for step, value in zip(steps, moved, strict=True)]
    return np.array(moved, dtype=np.intp), np.array(signs)


LEAST_CASES = 2
"""Least number of cases of a surrogate on each side."""

LEAST_ADJUSTED = 1e-10
"""The adjusted agreement of a surrogate must exceed this."""


def default_side(sides: Sides, weights: Floats) -> int:
    """Return the side to which the primary split sends more weight, `NEITHER` if both are equal.

    Examples
    --------
    >>> default_side(np.array([1, 0, 1], dtype=np.int8), np.ones(3)), default_side(np.array([1, 0]), np.ones(2))
    (1, -1)
    """
    left, right = (float(weights[sides == side].sum()) for side in (LEFT, RIGHT))
    return NEITHER if left == right else int(right > left)


def find_surrogates(
    table: RpartTable, cases: RpartCases, sides: Sides, weights: Floats, primary: int, limit: int, *, faults: bool
) -> list[RpartSplit]:
    """Return the best surrogates of a split, the best first.

    Parameters
    ----------
    table : RpartTable
    cases : RpartCases
        Those of the node.
    sides : array of int
        The side to which the primary split sends each row of the table, `NEITHER` if its value is missing.
    weights : array of float
        Of each row of the table.
    primary : int
        The attribute of the primary split.
    limit : int
        Maximum number of surrogates.
    faults : bool
        Reject nominal surrogates unless at least two cases *disagree*, as rpart does, which rejects a perfect one.
        Otherwise at least two cases must go to each side. Also makes cuts strict.
    """
    placed = cases.rows[sides[cases.rows] >= 0]
    left, right = (float(weights[placed[sides[placed] == side]].sum()) for side in (LEFT, RIGHT))
    total, majority = left + right, max(left, right) / (left + right)
    found = [
        *_numeric(table, cases, sides, weights, exact=faults),
        *_nominal(table, placed, sides, weights, faults=faults),
    ]
    surrogates = []
    for split in sorted(found, key=lambda one: one.attribute):
        agreement = min(split.improve / total, 1.0)  # rounding may push a sum of fractions above 1
        adjusted = (agreement - majority) / (1.0 - majority)
        if split.attribute != primary and adjusted > LEAST_ADJUSTED:
            surrogates.append(replace(split, improve=agreement, adjusted=adjusted))
    surrogates.sort(key=lambda one: -one.improve)  # stable: the earlier of equals stays before
    return surrogates[:limit]


def _numeric(
    table: RpartTable, cases: RpartCases, sides: Sides, weights: Floats, *, exact: bool
) -> Iterator[RpartSplit]:
    """Yield the best cut of each numeric attribute that agrees more than the majority rule, with its agreement.

    Cases that the primary split sends to neither side do not count, but cuts may lie next to their values.
    """
    n = len(cases)
    if not len(cases.orders):
        return
    values = np.take_along_axis(table.values, cases.orders, axis=1)
    goes = sides[cases.orders]
    if table.has_missing:
        goes = np.where(np.arange(n) < cases.known[:, np.newaxis], goes, NEITHER)
    ordered = weights[cases.orders]
    left = np.cumsum(np.where(goes == LEFT, ordered, 0.0), axis=1)
    right = np.cumsum(np.where(goes == RIGHT, ordered, 0.0), axis=1)
    below = np.cumsum(goes != NEITHER, axis=1)
    allowed = (values[:, 1:] != values[:, :-1]) & (below[:, :-1] >= LEAST_CASES)
    allowed &= below[:, -1:] - below[:, :-1] >= LEAST_CASES
    agreement = np.full((len(values), n - 1, 2), -1.0)
    agreement[:, :, 0] = np.where(allowed, right[:, :-1] + (left[:, -1:] - left[:, :-1]), -1.0)
    agreement[:, :, 1] = np.where(allowed, left[:, :-1] + (right[:, -1:] - right[:, :-1]), -1.0)
    flat = agreement.reshape(len(values), -1)
    for row, best in enumerate(np.argmax(flat, axis=1).tolist()):
        most = flat[row, best]
        if most > max(left[row, -1], right[row, -1]):
            position, low_goes_left = divmod(best, 2)
            cut, strict = cut_between(float(values[row, position]), float(values[row, position + 1]), exact=exact)
            lower = LEFT if low_goes_left else RIGHT
            yield RpartSplit(table.numeric[row], 0, float(most), cut, lower, strict)


def _nominal(table: RpartTable, rows: Rows, sides: Sides, weights: Floats, *, faults: bool) -> Iterator[RpartSplit]:
    """Yield for each nominal attribute the split that sends each category to its more frequent side."""
    if not table.nominal:
        return
    codes = table.codes[:, rows]
    size, n_attributes = int(table.level_start[-1]), len(codes)
    cells = (codes * 2 + sides[rows]).ravel()
    numbers = np.bincount(cells, minlength=2 * size).reshape(size, 2)
    sums = np.bincount(cells, weights=np.tile(weights[rows], n_attributes), minlength=2 * size).reshape(size, 2)
    for row, attribute in enumerate(table.nominal):
        levels = table.levels(row)
        cases, weight = numbers[levels], sums[levels]
        occurring = cases.sum(axis=1) > 0
        all_left, all_right = weight.sum(axis=0).tolist()
        if_equal = LEFT if all_left > all_right else RIGHT
        chosen = np.where(
            weight[:, LEFT] > weight[:, RIGHT], LEFT, np.where(weight[:, LEFT] < weight[:, RIGHT], RIGHT, if_equal)
        )
        every = np.arange(len(chosen))
        agreeing = cases[every, chosen].sum()
        if faults:
            accepted = min(agreeing, cases.sum() - agreeing) >= LEAST_CASES
        else:
            accepted = all(cases[chosen == side].sum() >= LEAST_CASES for side in (LEFT, RIGHT))
        # A split that leaves one side empty is the majority rule itself.
        if accepted and len(set(chosen[occurring].tolist())) == 2:
            yield RpartSplit(
                attribute,
                0,
                float(weight[every, chosen].sum()),
                sides=tuple(np.where(occurring, chosen, NEITHER).tolist()),
            )


def assign_sides(dataset: Dataset, rows: Rows, sides: Sides, splits: Iterable[RpartSplit], default: int) -> list[int]:
    """Fill in the open sides (`NEITHER`) of some rows; return the number of cases that each split decides.

    The first split with a known value decides; if there is none, the default.

    Parameters
    ----------
    dataset : Dataset
    rows : array of int
    sides : array of int
        Of these rows; changed in place.
    splits : iterable of RpartSplit
    default : int
    """
    decided = []
    for split in splits:
        still_open = np.flatnonzero(sides == NEITHER)
        sides[still_open] = split.route(dataset.columns[split.attribute][rows[still_open]])
        decided.append(int(np.count_nonzero(sides[still_open] != NEITHER)))
    sides[sides == NEITHER] = default
    return decided
