"""From the table of one attribute to its best split: thresholds, subsets and groups of categories.

**Subsets.** For two classes or a numeric target it is enough to order the categories by class share or mean and to cut
that order (Breiman et al. 1984, theorem 4.5). With more classes all partitions of up to `EXHAUSTIVE` categories that
occur are compared. Beyond that, the orders by the share of each class are cut: a heuristic that finds good partitions,
not always the best. Models report the method (`SEARCH`). A partition is a row of booleans over the categories: True for
the left side. The first category that occurs is always on the left, so a partition has one form.

**Groups** (C4.5's subset mode), in double precision. Start with a group for each category that occurs; merge categories
of a single common class; then repeatedly merge the two groups that give the largest gain ratio, as long as it grows.
Merges that keep at least half of the first gain come before others. While fewer than three groups are large enough, the
largest group is excluded from merging, so small groups merge with each other. Categories with (nearly) no cases share
one further branch and do not affect the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import Engine
from treewright.counting.table import Counts, FrequencyTable
from treewright.data.schema import Column, Kind
from treewright.learners.criteria import (
    TIE,
    Criterion,
    criterion_named,
    first_of_ties,
    split_information,
    total_entropy,
)
from treewright.learners.monotonic import UNBOUNDED, Span, signs_for, values_of
from treewright.learners.recipe import Choice, Cuts, MissingPolicy, NominalTest, OrdinalTest, Placement, Recipe
from treewright.learners.sampling import random_cut
from treewright.tree.split import FRACTIONAL, KNOWN, Split, SplitStatus

Floats = npt.NDArray[np.float64]

SIGNIFICANT_DIGITS = 15

_TENS = np.array([10.0**power for power in range(23)])
"""The powers of ten that are exact doubles."""

_HALVES = 2.0**27 + 1
"""Multiplication by this splits a double into two halves whose products are exact."""


def midpoint(low: float, high: float) -> float:
    """Return the midpoint of two numbers, rounded to 15 digits, but never the higher one, which stays above the cut.

    Examples
    --------
    >>> midpoint(1.0, 2.0), midpoint(-5e-324, 0.0)
    (1.5, -5e-324)
    """
    middle = low / 2 + high / 2
    for candidate in (float(f"{middle:.{SIGNIFICANT_DIGITS}g}"), middle):
        if low <= candidate < high:
            return candidate
    return low


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return the midpoint of each pair of finite numbers, as `midpoint` does.

    Examples
    --------
    >>> midpoints(np.array([1.0, 1.7460]), np.array([2.0, 1.7461])).tolist()
    [1.5, 1.74605]
    """
    middle = low / 2 + high / 2
    candidate = shortened(middle)
    middle = np.where((low <= middle) & (middle < high), middle, low)
    return np.where((low <= candidate) & (candidate < high), candidate, middle)


def shortened(numbers: Floats) -> Floats:
    """Return finite numbers rounded to 15 significant digits, as by decimal notation.

    The product of a number and a power of ten is computed with its exact error; both decide the rounding to an integer
    of 15 digits. The integer and the power are exact doubles, so their quotient is the double nearest to the decimal.
    Very large and very small numbers, whose power is not exact, are formatted and parsed.

    Examples
    --------
    >>> shortened(np.array([1.7460499999999999, -0.1, 0.0, 1e300 / 3])).tolist()
    [1.74605, -0.1, 0.0, 3.33333333333333e+299]
    """
    short = numbers.copy()
    size = np.abs(numbers)
    near = (size >= 1e-7) & (size < 1e14)
    given = size[near]
    if len(given):
        power = SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(given)).astype(np.int64)
        # The logarithm may be one off at a power of ten; the product is not.
        product = given * _TENS[power]
        power += (product < 10.0 ** (SIGNIFICANT_DIGITS - 1)).astype(np.int64) - (product >= 10.0**SIGNIFICANT_DIGITS)
        ten = _TENS[power]
        product, rest = _exact_product(given, ten)
        whole = np.floor(product)
        above = (product - whole - 0.5) + rest
        whole += (above > 0) | ((above == 0) & (whole % 2 == 1))
        short[near] = np.copysign(whole / ten, numbers[near])
    far = np.flatnonzero(~near)
    short[far] = [float(f"{number:.{SIGNIFICANT_DIGITS}g}") for number in numbers[far].tolist()]
    return short


def _exact_product(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the product of doubles and its rounding error (Dekker's algorithm)."""
    product = one * other
    high_one, high_other = _upper_half(one), _upper_half(other)
    low_one, low_other = one - high_one, other - high_other
    rest = ((high_one * high_other - product) + high_one * low_other + low_one * high_other) + low_one * low_other
    return product, rest


def _upper_half(numbers: Floats) -> Floats:
    spread = numbers * _HALVES
    half: Floats = spread - (spread - numbers)
    return half


Sides = npt.NDArray[np.bool_]

EXHAUSTIVE = 10
"""With more than two classes, all partitions of up to this many categories are compared."""

SEARCH = (
    f"exact for two classes, for a numeric target and up to {EXHAUSTIVE} values; beyond, along the shares of each class"
)

SEARCH_BY_OWN = f"exact up to {EXHAUSTIVE} values; beyond, along the shares of each class"
"""The same for a custom criterion, of which no property is known."""


def ordered_cuts(cases: npt.NDArray[np.int64], *, missing: bool = False) -> Sides:
    """Return the partitions of ordered categories into lower and higher ones, each with cases on both sides.

    Parameters
    ----------
    cases : array of int
        Cases of each category.
    missing : bool
        Whether to add a column for missing values, which are on the right and then on the left of every cut.

    Examples
    --------
    >>> ordered_cuts(np.array([2, 0, 3])).tolist()
    [[True, True, False]]
    >>> ordered_cuts(np.array([2, 3]), missing=True).tolist()
    [[True, False, False], [True, False, True]]
    """
    present = np.flatnonzero(cases > 0)
    values = np.arange(len(cases))
    # Categories that do not occur join the lower neighbour up to the middle of the gap, as with a cut between numbers.
    cuts = (present[:-1] + present[1:]) / 2
    sides = np.array([values <= cut for cut in cuts], dtype=bool).reshape(len(cuts), len(cases))
    if not missing:
        return sides
    off, on = np.zeros((len(cuts), 1), dtype=bool), np.ones((len(cuts), 1), dtype=bool)
    return np.concatenate((np.concatenate((sides, off), axis=1), np.concatenate((sides, on), axis=1)))


def subsets_to_compare(
    counts: Counts,
    cases: npt.NDArray[np.int64],
    *,
    regression: bool,
    missing: bool = False,
    any_order: bool = False,
) -> Sides:
    """Return the partitions that contain the best one for certain (or, with many categories and classes, probably).

    With `missing`, the last row has the cases with a missing value. It is on the side of some categories and never a
    side of its own, since a test of categories cannot separate known from missing values. With `any_order`, no single
    order is known to be sufficient, not even for two classes.
    """
    partitions = _partitions(counts, cases, regression, missing or any_order)
    if not missing:
        return partitions
    known = partitions[:, :-1] & (cases[:-1] > 0)
    on_the_left = known.sum(axis=1)
    of_both_sides: Sides = partitions[(on_the_left > 0) & (on_the_left < np.count_nonzero(cases[:-1]))]
    return of_both_sides


def sums_of(sides: Sides, counts: Counts) -> Counts:
    """Add up the rows on the left of each partition, row by row (the order of addition of a matrix product varies)."""
    left: Counts = np.zeros((len(sides), counts.shape[1]), dtype=counts.dtype)
    for value in range(counts.shape[0]):
        left = left + sides[:, value : value + 1] * counts[value]
    return left


def _partitions(counts: Counts, cases: npt.NDArray[np.int64], regression: bool, any_order: bool) -> Sides:
    present = np.flatnonzero(cases > 0)
    occurring_counts = counts[present].astype(np.float64)
    if any_order and len(present) <= EXHAUSTIVE:
        # The orders below are not sufficient either if known against missing is excluded.
        return _spread(_all_partitions(len(present)), present, len(cases))
    if regression:
        orders = [occurring_counts[:, 1] / occurring_counts[:, 0]]
    else:
        shares = occurring_counts / occurring_counts.sum(axis=1, keepdims=True)
        classes = np.flatnonzero(occurring_counts.sum(axis=0) > 0)
        if len(classes) <= 2:
            orders = [shares[:, classes[-1]]]
        elif len(present) <= EXHAUSTIVE:
            return _spread(_all_partitions(len(present)), present, len(cases))
        else:
            orders = [shares[:, chosen] for chosen in classes]
    found = np.concatenate([_prefixes(order) for order in orders])
    return _spread(_normalised(found), present, len(cases))


def _all_partitions(n: int) -> Sides:
    masks = np.arange(2 ** (n - 1) - 1)
    rest = (masks[:, None] >> np.arange(n - 1)) & 1
    return np.concatenate((np.ones((len(masks), 1), dtype=bool), rest.astype(bool)), axis=1)


def _prefixes(order: npt.NDArray[np.float64]) -> Sides:
    rank = np.empty(len(order), dtype=np.intp)
    rank[np.argsort(order, kind="stable")] = np.arange(len(order))
    sides: Sides = rank[None, :] <= np.arange(len(order) - 1)[:, None]
    return sides


def _normalised(sides: Sides) -> Sides:
    turned = np.where(sides[:, :1], sides, ~sides)
    bits = np.packbits(turned, axis=1)  # rows as byte strings: comparing them column by column is slow
    _, first = np.unique(bits.view(np.dtype((np.void, bits.shape[1]))).ravel(), return_index=True)
    return turned[first[::-1]]


def _spread(sides: Sides, present: npt.NDArray[np.intp], n_values: int) -> Sides:
    wide = np.zeros((len(sides), n_values), dtype=bool)
    wide[:, present] = sides
    return wide


BETTER = 1e-5
"""Least improvement of the ratio by a merge."""

OCCURS = 0.5
"""A category is grouped only above this weight; only fractional cases weigh less than one."""

PURE_SLACK = 0.1
"""A group whose other classes weigh no more than this counts as a single class."""

LEAST_WEIGHT = 1.0
"""While groups are merged, the score is 0 unless two of them have at least this weight."""


@dataclass(frozen=True)
class Groups:
    """The branch of each category, and the table of the branches with cases."""

    branch_of: tuple[int, ...]
    counts: Counts


def grouped(counts: Counts, unknown: Counts, least: float, *, by_ratio: bool) -> Groups | None:
    """Group the categories of a table; None if no grouping has a gain.

    Parameters
    ----------
    counts : array, categories x classes
    unknown : array of classes
    least : float
        Least weight of a large group.
    by_ratio : bool
        Merge while the ratio grows; otherwise (by gain) until two groups are left.

    Examples
    --------
    >>> grouped(np.array([[5, 0], [4, 1], [0, 6], [3, 0]]), np.zeros(2), 2, by_ratio=True).branch_of
    (0, 0, 1, 0)
    """
    groups = _merged_by_class([[value] for value in range(len(counts)) if counts[value].sum() > OCCURS], counts)
    if len(groups) < 2:
        return None
    measure = _MergeScores(counts, unknown)
    gain, score = measure.whole(_table(groups, counts))
    half = gain / 2
    while len(groups) > 2:
        table = _table(groups, counts)
        weights = table.sum(axis=1)
        large = int(np.count_nonzero(weights >= least))
        excluded = int(np.argmax(weights)) if large < 3 else -1
        merge = _best_merge(measure, table, excluded, half, forced=not by_ratio or large < 2)
        if merge is None:
            break
        first, second, value = merge
        if by_ratio and large >= 2 and value < score + BETTER:
            break
        groups[first] = groups[first] + groups[second]
        del groups[second]
        score = value
    if score <= 0:
        return None
    groups = sorted(sorted(group) for group in groups)
    branch_of_value = {value: branch for branch, group in enumerate(groups) for value in group}
    return Groups(
        tuple(branch_of_value.get(value, len(groups)) for value in range(len(counts))), _table(groups, counts)
    )


def _table(groups: list[list[int]], counts: Counts) -> Counts:
    return np.stack([counts[group].sum(axis=0) for group in groups])


def _merged_by_class(groups: list[list[int]], counts: Counts) -> list[list[int]]:
    """Merge the categories (nearly) all of whose cases have the same class."""
    merged: list[list[int]] = []
    of_class: dict[int, list[int]] = {}
    for group in groups:
        row = counts[group].sum(axis=0)
        main = int(np.argmax(row))
        single = bool(row[main] >= row.sum() - PURE_SLACK)
        if single and main in of_class:
            of_class[main].extend(group)
            continue
        own = list(group)
        merged.append(own)
        if single:
            of_class[main] = own
    return merged


class _MergeScores:
    """Gain and gain ratio over all cases of the attribute."""

    def __init__(self, counts: Counts, unknown: Counts) -> None:
        self._unknown = unknown
        self._weight = float(counts.sum()) + float(unknown.sum())
        self._before = float(total_entropy(counts.sum(axis=0, keepdims=True))[0])

    def whole(self, table: Counts) -> tuple[float, float]:
        """Return gain and gain ratio of the present groups."""
        gain = (self._before - float(total_entropy(table).sum())) / self._weight
        information = split_information(table, self._unknown)
        fits = np.count_nonzero(table.sum(axis=1) >= LEAST_WEIGHT) >= 2 and information > 0 and gain > 0
        return gain, gain / information if fits else 0.0

    def after_merging(
        self, table: Counts, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return gain and gain ratio after each merge, which replaces two terms of the sums by one."""
        within = total_entropy(table)
        merged = total_entropy(table[first] + table[second])
        after = within.sum() - within[first] - within[second] + merged
        gain = (self._before - after) / self._weight
        sizes = table.sum(axis=1)
        pairs = np.stack([sizes[first], sizes[second]], axis=1)
        # The entropy of the sizes decreases by the entropy of the pair within its sum.
        information = split_information(table, self._unknown) - total_entropy(pairs) / self._weight
        large = (
            np.count_nonzero(sizes >= LEAST_WEIGHT)
            - (pairs >= LEAST_WEIGHT).sum(axis=1)
            + (pairs.sum(axis=1) >= LEAST_WEIGHT)
        )
        fits = (gain > 1e-12 * self._before / self._weight) & (information > 1e-12) & (large >= 2)
        return gain, np.where(fits, gain / np.where(fits, information, 1.0), 0.0)


def _best_merge(
    measure: _MergeScores, table: Counts, excluded: int, half: float, *, forced: bool
) -> tuple[int, int, float] | None:
    """Return the best pair of groups and the ratio after merging it; None if no merge has a positive ratio."""
    free = np.array([group for group in range(len(table)) if group != excluded], dtype=np.intp)
    if len(free) < 2:
        return None
    upper_first, upper_second = np.triu_indices(len(free), k=1)
    first, second = free[upper_first], free[upper_second]
    gains, values = measure.after_merging(table, first, second)
    good = gains >= half * (1 - TIE)
    ranked = np.where(good, values, -1.0) if good.any() else values
    best = first_of_ties(ranked)
    if values[best] <= 0 and not forced:
        return None
    return int(first[best]), int(second[best]), float(values[best])


SHORT = 1 - 1e-9
"""Factor on bounds of weights: a sum that is below a bound only by rounding is accepted."""

LARGEST_SIDE = 25.0
"""Upper limit of the weight that C4.5 requires on each side of a cut."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SplitCandidate:
    """The best split of an attribute at a node.

    Parameters
    ----------
    attribute : int
    status : SplitStatus
        `SplitStatus.CONSIDERED` if the split is admissible, otherwise the reason why not.
    counts, unknown : array
        Table of the branches of the split.
    split : Split or None
    score : float
        Score of the criterion, times the share of known values, minus the correction of a threshold.
    split_info : float
        Entropy of the branches.
    tries : int
        Number of thresholds compared.
    own_score : float or None
        The unmodified score of a custom criterion.
    """

    attribute: int
    status: SplitStatus
    counts: Counts
    unknown: Counts
    split: Split | None = None
    score: float = 0.0
    split_info: float = 0.0
    tries: int = 0
    own_score: float | None = None


class SplitEvaluator:
    """Finds the best split of each attribute, by the rules of one recipe over one engine.

    Parameters
    ----------
    recipe : Recipe
    engine : Engine
    bounds : dict of int to tuple of float
        Bounds of the numeric attributes that are discretised.
    total_weight : float
        Weight of all training cases.
    """

    def __init__(
        self, recipe: Recipe, engine: Engine, bounds: dict[int, tuple[float, ...]], total_weight: float
    ) -> None:
        self._least_side = max(recipe.stopping.min_share * total_weight, recipe.stopping.min_branch) * SHORT
        self._recipe = recipe
        self._engine = engine
        self._bounds = bounds
        self._own = recipe.own
        self._criterion: Criterion = recipe.own or criterion_named(recipe.criterion)
        self._classification = recipe.criterion != "variance"
        self._learns_side = recipe.missing is MissingPolicy.LEARNED
        self._signs = signs_for(recipe.monotonic, engine.schema)
        self._random_cuts = recipe.draw is not None and recipe.draw.random_cuts
        self._span, self._key = UNBOUNDED, 0  # of the node of the present table

    def evaluate(self, attribute: int, table: FrequencyTable, span: Span = UNBOUNDED, key: int = 0) -> SplitCandidate:
        """Return the best split of an attribute; `span` is relative to the mean of the node, `key` seeds cuts."""
        self._span, self._key = span, key
        column = self._engine.schema.attributes[attribute]
        known = float(table.counts.sum()) if self._classification else float(table.counts[:, 0].sum())
        if known <= 0:
            return SplitCandidate(attribute, SplitStatus.ALL_MISSING, table.counts[:0], table.unknown)
        outcomes = np.count_nonzero(table.cases)
        known_or_missing = column.is_numeric and self._learns_side and table.unknown_cases > 0  # a test of its own
        if outcomes + known_or_missing < 2:
            return SplitCandidate(attribute, SplitStatus.ONE_VALUE, table.counts, table.unknown)
        if column.is_numeric and attribute not in self._bounds:
            return self._cut(attribute, table)
        groups = self._recipe.nominal is NominalTest.GROUPS
        test = self._recipe.ordinal if column.kind is Kind.ORDINAL else self._recipe.nominal
        multiway = test in (NominalTest.MULTIWAY, OrdinalTest.MULTIWAY)
        nothing_to_group = groups and len(column.values) <= 2
        if column.is_numeric or multiway or nothing_to_group:  # numbers are counted by intervals here
            return self._multiway(attribute, column, table)
        return self._groups(attribute, table) if groups else self._binary(attribute, column, table)

    # -- groups of values --------------------------------------------------------------------------------------------

    def _groups(self, attribute: int, table: FrequencyTable) -> SplitCandidate:
        least = self._recipe.stopping.min_branch
        groups = grouped(table.counts, table.unknown, least, by_ratio=self._recipe.choice is Choice.RATIO)
        if groups is None:
            return SplitCandidate(attribute, SplitStatus.NO_GAIN, table.counts, table.unknown)
        weights = self._branch_weights(groups.counts)
        split = Split.subsets(attribute, groups.branch_of, self._missing(weights))
        branches = np.zeros((split.n_branches, table.counts.shape[1]), dtype=table.counts.dtype)
        branches[: len(groups.counts)] = groups.counts
        if np.count_nonzero(weights >= least * SHORT) < 2:
            return SplitCandidate(attribute, SplitStatus.TOO_FEW, branches, table.unknown, split)
        return self._scored(split, branches, table.unknown, self._criterion.of_table(branches))

    # -- one branch per value ----------------------------------------------------------------------------------------

    def _multiway(self, attribute: int, column: Column, table: FrequencyTable) -> SplitCandidate:
        weights = self._branch_weights(table.counts)
        stopping = self._recipe.stopping
        missing = self._missing(weights)
        if column.is_numeric:
            split = Split.intervals(attribute, self._bounds[attribute], missing)
        else:
            split = Split.multiway(attribute, len(column.values), missing)
        enough = np.count_nonzero((weights >= stopping.min_branch * SHORT) & (table.cases >= stopping.min_leaf))
        if enough < 2:
            return SplitCandidate(attribute, SplitStatus.TOO_FEW, table.counts, table.unknown, split)
        return self._scored(split, table.counts, table.unknown, self._criterion.of_table(table.counts))

    # -- two branches ------------------------------------------------------------------------------------------------

    def _binary(self, attribute: int, column: Column, table: FrequencyTable) -> SplitCandidate:
        """Find the best partition of categories; if the default branch is learned, missing is one more category."""
        learned = self._learns_side and table.unknown_cases > 0
        cases = np.append(table.cases, table.unknown_cases) if learned else table.cases
        counts: Counts = np.concatenate((table.counts, table.unknown[None, :])) if learned else table.counts
        if column.kind is Kind.ORDINAL:
            sides = ordered_cuts(table.cases, missing=learned)
        else:
            sides = subsets_to_compare(
                counts, cases, regression=not self._classification, missing=learned, any_order=self._own is not None
            )
        left = sums_of(sides, counts)
        right = counts.sum(axis=0) - left
        fits = self._both_sides_fit(left, right, sums_of(sides, cases[:, None])[:, 0], int(cases.sum()))
        if not fits.any():
            return SplitCandidate(attribute, SplitStatus.TOO_FEW, table.counts, table.unknown)
        if self._signs:
            fits &= self._in_order(attribute, left, right, None if learned else table.unknown)
            if not fits.any():
                return SplitCandidate(attribute, SplitStatus.MONOTONIC, table.counts, table.unknown)
        scores = np.full(len(sides), -np.inf)
        scores[fits] = self._criterion.of_cuts(left[fits], right[fits])
        best = first_of_ties(scores)
        branch_of = np.where(sides[best], 0, 1)
        if column.kind is not Kind.ORDINAL:
            branch_of = np.where(cases > 0, branch_of, -1)
        default_branch = (
            int(branch_of[-1]) if learned else self._missing(self._branch_weights(np.stack((left[best], right[best]))))
        )
        of_values = branch_of[: len(table.cases)]
        known = np.stack([table.counts[of_values == branch].sum(axis=0) for branch in (0, 1)])
        split = Split.subsets(attribute, of_values.tolist(), default_branch)
        return self._scored(split, known, table.unknown, float(scores[best]), tries=int(fits.sum()))

    def _cut(self, attribute: int, table: FrequencyTable) -> SplitCandidate:
        rule = self._recipe.numeric if isinstance(self._recipe.numeric, Cuts) else Cuts()
        values = table.first
        left: Counts = np.cumsum(table.counts, axis=0)
        cases = np.cumsum(table.cases)
        chosen_cut = self._random_cut(attribute, values) if self._random_cuts else None
        if self._learns_side and table.unknown_cases > 0:
            return self._cut_with_side(attribute, table, left, cases, chosen_cut)
        # Numbers whose decimal difference is exactly the gap exceed it only by rounding: they are rejected.
        separable = values[1:] - table.last[:-1] > rule.gap * (1 + 1e-6)
        positions = np.flatnonzero(separable & self._relative_sides_fit(rule, table, left[:-1]))
        if chosen_cut is not None:
            positions = positions[positions == chosen_cut[0]]
        low, high = left[positions], left[-1] - left[positions]
        positions = positions[self._both_sides_fit(low, high, cases[positions], int(cases[-1]))]
        if len(positions) == 0:
            return SplitCandidate(attribute, SplitStatus.TOO_FEW, table.counts[:0], table.unknown)
        if self._signs:
            positions = positions[self._in_order(attribute, left[positions], left[-1] - left[positions], table.unknown)]
            if len(positions) == 0:
                return SplitCandidate(attribute, SplitStatus.MONOTONIC, table.counts[:0], table.unknown)
        scores = self._criterion.of_cuts(left[positions], left[-1] - left[positions])
        best = first_of_ties(scores)
        position = int(positions[best])
        counts = np.stack((left[position], left[-1] - left[position]))
        cut = (
            self._threshold_between(rule, attribute, float(table.last[position]), float(values[position + 1]))
            if chosen_cut is None
            else chosen_cut[1]
        )
        split = Split.threshold(attribute, cut, self._missing(self._branch_weights(counts)))
        inside_runs = 0 if table.cuts_inside is None else int(table.cuts_inside.sum())  # compared by a bound
        tries = len(positions) + inside_runs
        return self._scored(split, counts, table.unknown, float(scores[best]), tries=tries)

    def _random_cut(self, attribute: int, values: Floats) -> tuple[int, float]:
        """Return position and value of a random cut; the position is -1 if there is only one number."""
        if len(values) < 2:
            return -1, 0.0
        cut = random_cut(self._key, attribute, float(values[0]), float(values[-1]))
        return int(np.searchsorted(values, cut, side="right")) - 1, cut

    def _cut_with_side(
        self, attribute: int, table: FrequencyTable, left: Counts, cases: Ints, chosen_cut: tuple[int, float] | None
    ) -> SplitCandidate:
        """Try every cut with missing values on the right (the last cut: known against missing), then on the left.

        A random cut is the only one, apart from known against missing.
        """
        values = table.first
        lower = np.concatenate((left, left[:-1] + table.unknown))
        lower_cases = np.concatenate((cases, cases[:-1] + table.unknown_cases))
        whole = left[-1] + table.unknown
        fits = self._both_sides_fit(lower, whole - lower, lower_cases, int(cases[-1]) + table.unknown_cases)
        if chosen_cut is not None:
            allowed = [len(values) - 1, *((chosen_cut[0], len(values) + chosen_cut[0]) if chosen_cut[0] >= 0 else ())]
            fits &= np.isin(np.arange(len(lower)), allowed)
        positions = np.flatnonzero(fits)
        if len(positions) == 0:
            return SplitCandidate(attribute, SplitStatus.TOO_FEW, table.counts[:0], table.unknown)
        if self._signs:
            cuts = positions != len(values) - 1  # known against missing has no order
            ordered = self._in_order(attribute, lower[positions], whole - lower[positions], None)
            anyway = self._in_order(None, lower[positions], whole - lower[positions], None)
            positions = positions[np.where(cuts, ordered, anyway)]
            if len(positions) == 0:
                return SplitCandidate(attribute, SplitStatus.MONOTONIC, table.counts[:0], table.unknown)
        scores = self._criterion.of_cuts(lower[positions], whole - lower[positions])
        best = first_of_ties(scores)
        position, default_branch = int(positions[best]), 1
        if position >= len(values):
            position, default_branch = position - len(values), 0
        if position == len(values) - 1:
            cut = KNOWN
        elif chosen_cut is not None:
            cut = chosen_cut[1]
        else:
            rule = self._recipe.numeric
            bins = rule.bins if isinstance(rule, Cuts) else None
            cut = self._threshold_between(
                Cuts(bins=bins), attribute, float(table.last[position]), float(values[position + 1])
            )
        split = Split.threshold(attribute, cut, default_branch)
        counts = np.stack((left[position], left[-1] - left[position]))
        inside_runs = 0 if table.cuts_inside is None else int(table.cuts_inside.sum())  # compared by a bound
        tries = len(positions) + 2 * inside_runs
        return self._scored(split, counts, table.unknown, float(scores[best]), tries=tries)

    def _both_sides_fit(self, left: Counts, right: Counts, left_cases: Ints, all_cases: int) -> npt.NDArray[np.bool_]:
        """Return True for each partition with enough cases and enough weight on both sides."""
        least = self._recipe.stopping.min_leaf
        large: npt.NDArray[np.bool_] = (left_cases >= least) & (all_cases - left_cases >= least)
        least_weight = self._least_side
        return large & (self._branch_weights(left) >= least_weight) & (self._branch_weights(right) >= least_weight)

    def _in_order(
        self, attribute: int | None, left: Counts, right: Counts, unknown: Counts | None
    ) -> npt.NDArray[np.bool_]:
        """Return True for each partition within the span of the node and the constraint of the attribute.

        Cases with a missing value that are not yet in the rows (`unknown`) go to the heavier side.
        """
        if unknown is not None:
            to_left = (self._branch_weights(left) >= self._branch_weights(right) * SHORT)[:, None]
            left, right = left + to_left * unknown, right + ~to_left * unknown
        sign = 0 if attribute is None else self._signs.get(attribute, 0)
        low, high = (values_of(rows, classification=self._classification) for rows in (left, right))
        return self._span.admits(low, high, sign)

    def _relative_sides_fit(self, rule: Cuts, table: FrequencyTable, left: Counts) -> npt.NDArray[np.bool_]:
        """Return True for each cut with the weight that C4.5 requires on both sides."""
        if not rule.relative_side:
            return np.ones(len(left), dtype=bool)
        known = float(table.counts.sum())
        least = self._recipe.stopping.min_branch
        if known < 2 * least * SHORT:
            return np.zeros(len(left), dtype=bool)
        side = 0.1 * known / left.shape[1]
        side = least if side <= least else min(side, LARGEST_SIDE)
        low = self._branch_weights(left)
        fits: npt.NDArray[np.bool_] = (low >= side * SHORT) & (known - low >= side * SHORT)
        return fits

    def sides_fit(self, table: FrequencyTable, left: Counts, cases: Ints) -> npt.NDArray[np.bool_]:
        """Return True for each partition of a table of numbers, given by its left side, with enough on both sides."""
        rule = self._recipe.numeric if isinstance(self._recipe.numeric, Cuts) else Cuts()
        whole, all_cases = table.known, int(table.cases.sum())
        if not self._learns_side or table.unknown_cases == 0:
            fits = self._both_sides_fit(left, whole - left, cases, all_cases)
            return fits & self._relative_sides_fit(rule, table, left)
        everywhere = np.ones(len(left), dtype=bool)
        for extra, number in ((0 * table.unknown, 0), (table.unknown, table.unknown_cases)):
            low = left + extra
            high = whole + table.unknown - low
            everywhere &= self._both_sides_fit(low, high, cases + number, all_cases + table.unknown_cases)
        return everywhere

    def _threshold_between(self, rule: Cuts, attribute: int, low: float, high: float) -> float:
        middle = midpoint(low, high)
        if rule.placement is Placement.DATA_VALUE or rule.bins is not None:
            return self._engine.largest_value_not_above(attribute, middle)
        return middle

    # -- scores ------------------------------------------------------------------------------------------------------

    def _scored(self, split: Split, counts: Counts, unknown: Counts, score: float, *, tries: int = 0) -> SplitCandidate:
        own_score = None
        if self._own is not None:
            if score == -np.inf:
                return SplitCandidate(split.attribute, SplitStatus.NO_GAIN, counts, unknown, split, tries=tries)
            own_score = score
        known = float(self._branch_weights(counts).sum())
        weight = known + float(self._branch_weights(unknown[None, :]).sum())
        if self._recipe.missing is not MissingPolicy.LEARNED:
            score *= known / weight
        status = SplitStatus.CONSIDERED
        if (
            tries
            and split.cut is not None
            and isinstance(self._recipe.numeric, Cuts)
            and self._recipe.numeric.correction
        ):
            score -= log2(tries) / weight
            if score <= 0:
                status = SplitStatus.NO_GAIN
        information = split_information(counts, unknown) if self._classification else 0.0
        return SplitCandidate(split.attribute, status, counts, unknown, split, score, information, tries, own_score)

    def own_score(self, split: Split, counts: Counts, unknown: Counts) -> float | None:
        """Return the score of a custom criterion for a split by its table; None without such a criterion or score."""
        if self._own is None:
            return None
        table = counts.astype(np.float64)
        if self._recipe.missing is MissingPolicy.LEARNED:
            table[split.missing] += unknown
        score = self._own.of_table(table)
        return None if score == -np.inf else score

    def _branch_weights(self, rows: Counts) -> Floats:
        return (rows.sum(axis=1) if self._classification else rows[:, 0]).astype(np.float64)

    def _missing(self, weights: Floats) -> int:
        if self._recipe.missing is MissingPolicy.FRACTIONAL:
            return FRACTIONAL
        return int(np.argmax(weights >= weights.max() * SHORT))
