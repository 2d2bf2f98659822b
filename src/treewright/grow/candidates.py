"""From the table of one attribute to its best test.

Vocabulary
----------
candidate
    The best test that an attribute offers at a node, with the table of its branches; or none, with the reason. Of tests
    that tie (`treewright.grow.ties`) it is the one with the lower cut or the earlier value.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
import numpy.typing as npt

from treewright.counts.engine import Engine
from treewright.counts.table import Counts, FrequencyTable
from treewright.data.schema import Column, Kind
from treewright.grow.criteria import Criterion, criterion_named, split_information
from treewright.grow.drawing import random_cut
from treewright.grow.groups import grouped
from treewright.grow.midpoint import midpoint
from treewright.grow.monotonic import UNBOUNDED, Span, signs_for, values_of
from treewright.grow.recipe import Choice, Cuts, MissingPolicy, NominalTest, OrdinalTest, Placement, Recipe
from treewright.grow.subsets import ordered_cuts, subsets_to_compare, sums_of
from treewright.grow.ties import first_of_ties
from treewright.model.split import FRACTIONAL, KNOWN, Split
from treewright.model.working import SplitStatus

SHORT = 1 - 1e-9
"""A sum of weights that falls short of a bound by rounding only is not below it."""

LARGEST_SIDE = 25.0
"""C4.5 never asks for more than this weight on each side of a cut."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SplitCandidate:
    """An attribute at a node.

    Parameters
    ----------
    attribute : int
    status : SplitStatus
        `SplitStatus.CONSIDERED` while it may still win, otherwise why it cannot.
    counts, unknown : array
        Table of the branches of the test.
    split : Split or None
    score : float
        Of the criterion, times the share of known values, less the correction of a cut.
    split_info : float
        Entropy of the branches.
    tries : int
        Cuts compared.
    own_score : float or None
        By a criterion of the user's, as its function returned it.
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
    """Finds the best test of attributes, by the rules of one recipe over one engine.

    Parameters
    ----------
    recipe : Recipe
    engine : Engine
    bounds : dict of int to tuple of float
        Bounds of the numeric attributes that were made intervals.
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
        self._signs = signs_for(recipe.monotonic, engine.schema)
        self._random_cuts = recipe.draw is not None and recipe.draw.random_cuts
        self._span, self._key = UNBOUNDED, 0  # of the node that is looked at

    def examine(self, attribute: int, table: FrequencyTable, span: Span = UNBOUNDED, key: int = 0) -> SplitCandidate:
        """Return the candidate of an attribute; `span` is relative to the mean of the node, `key` decides its draws."""
        self._span, self._key = span, key
        column = self._engine.schema.attributes[attribute]
        known = float(table.counts.sum()) if self._classification else float(table.counts[:, 0].sum())
        if known <= 0:
            return SplitCandidate(attribute, SplitStatus.ALL_MISSING, table.counts[:0], table.unknown)
        outcomes = np.count_nonzero(table.cases)
        if outcomes + (column.is_numeric and self._learns_side(table)) < 2:
            return SplitCandidate(attribute, SplitStatus.ONE_VALUE, table.counts, table.unknown)
        if column.is_numeric and attribute not in self._bounds:
            return self._cut(attribute, table)
        if self._is_multiway(column):
            return self._multiway(attribute, column, table)
        if self._recipe.nominal is NominalTest.GROUPS:
            return self._groups(attribute, table)
        return self._binary(attribute, column, table)

    def _is_multiway(self, column: Column) -> bool:
        if column.is_numeric:
            return True  # counted by intervals
        if self._recipe.nominal is NominalTest.GROUPS and len(column.values) <= 2:
            return True  # nothing to group
        if column.kind is Kind.ORDINAL:
            return self._recipe.ordinal is OrdinalTest.MULTIWAY
        return self._recipe.nominal is NominalTest.MULTIWAY

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
        """Find the best division of declared values; where the side is learned, missing is one value more."""
        learned = self._learns_side(table)
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
        fits = self._large_enough(sums_of(sides, cases[:, None])[:, 0], int(cases.sum())) & self._heavy_enough(
            left, right
        )
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
        home = (
            int(branch_of[-1]) if learned else self._missing(self._branch_weights(np.stack((left[best], right[best]))))
        )
        of_values = branch_of[: len(table.cases)]
        known = np.stack([table.counts[of_values == branch].sum(axis=0) for branch in (0, 1)])
        split = Split.subsets(attribute, of_values.tolist(), home)
        return self._scored(split, known, table.unknown, float(scores[best]), tries=int(fits.sum()))

    def _cut(self, attribute: int, table: FrequencyTable) -> SplitCandidate:
        rule = self._recipe.numeric if isinstance(self._recipe.numeric, Cuts) else Cuts()
        values = table.first
        left: Counts = np.cumsum(table.counts, axis=0)
        cases = np.cumsum(table.cases)
        places = np.flatnonzero(self._admissible(rule, table, left[:-1], values))
        drawn = self._drawn_cut(attribute, values)
        if self._learns_side(table):
            return self._cut_with_side(attribute, table, left, cases, drawn)
        if drawn is not None:
            places = places[places == drawn[0]]
        places = places[self._large_enough(cases[places], int(cases[-1]))]
        places = places[self._heavy_enough(left[places], left[-1] - left[places])]
        if len(places) == 0:
            return SplitCandidate(attribute, SplitStatus.TOO_FEW, table.counts[:0], table.unknown)
        if self._signs:
            places = places[self._in_order(attribute, left[places], left[-1] - left[places], table.unknown)]
            if len(places) == 0:
                return SplitCandidate(attribute, SplitStatus.MONOTONIC, table.counts[:0], table.unknown)
        scores = self._criterion.of_cuts(left[places], left[-1] - left[places])
        best = first_of_ties(scores)
        place = int(places[best])
        counts = np.stack((left[place], left[-1] - left[place]))
        cut = (
            self._placed(rule, attribute, float(table.last[place]), float(values[place + 1]))
            if drawn is None
            else drawn[1]
        )
        split = Split.threshold(attribute, cut, self._missing(self._branch_weights(counts)))
        tries = len(places) + _inside(table)
        return self._scored(split, counts, table.unknown, float(scores[best]), tries=tries)

    def _drawn_cut(self, attribute: int, values: Floats) -> tuple[int, float] | None:
        """Return place and number of a cut left to chance (place -1: one number only), None to look for the best."""
        if not self._random_cuts:
            return None
        if len(values) < 2:
            return -1, 0.0
        cut = random_cut(self._key, attribute, float(values[0]), float(values[-1]))
        return int(np.searchsorted(values, cut, side="right")) - 1, cut

    def _cut_with_side(
        self, attribute: int, table: FrequencyTable, left: Counts, cases: Ints, drawn: tuple[int, float] | None
    ) -> SplitCandidate:
        """Try every cut with the missing cases on the right (the last one: known against missing), then on the left.

        Where the cut was drawn it is the only one, beside known against missing.
        """
        values = table.first
        lower = np.concatenate((left, left[:-1] + table.unknown))
        lower_cases = np.concatenate((cases, cases[:-1] + table.unknown_cases))
        whole = left[-1] + table.unknown
        fits = self._large_enough(lower_cases, int(cases[-1]) + table.unknown_cases)
        if drawn is not None:
            offered = [len(values) - 1, *((drawn[0], len(values) + drawn[0]) if drawn[0] >= 0 else ())]
            fits &= np.isin(np.arange(len(lower)), offered)
        places = np.flatnonzero(fits & self._heavy_enough(lower, whole - lower))
        if len(places) == 0:
            return SplitCandidate(attribute, SplitStatus.TOO_FEW, table.counts[:0], table.unknown)
        if self._signs:
            cuts = places != len(values) - 1  # known against missing has no order
            ordered = self._in_order(attribute, lower[places], whole - lower[places], None)
            anyway = self._in_order(None, lower[places], whole - lower[places], None)
            places = places[np.where(cuts, ordered, anyway)]
            if len(places) == 0:
                return SplitCandidate(attribute, SplitStatus.MONOTONIC, table.counts[:0], table.unknown)
        scores = self._criterion.of_cuts(lower[places], whole - lower[places])
        best = first_of_ties(scores)
        place, home = int(places[best]), 1
        if place >= len(values):
            place, home = place - len(values), 0
        if place == len(values) - 1:
            cut = KNOWN
        elif drawn is not None:
            cut = drawn[1]
        else:
            rule = self._recipe.numeric
            bins = rule.bins if isinstance(rule, Cuts) else None
            cut = self._placed(Cuts(bins=bins), attribute, float(table.last[place]), float(values[place + 1]))
        split = Split.threshold(attribute, cut, home)
        counts = np.stack((left[place], left[-1] - left[place]))
        tries = len(places) + 2 * _inside(table)
        return self._scored(split, counts, table.unknown, float(scores[best]), tries=tries)

    def _learns_side(self, table: FrequencyTable) -> bool:
        return self._recipe.missing is MissingPolicy.LEARNED and table.unknown_cases > 0

    def _large_enough(self, left_cases: Ints, all_cases: int) -> npt.NDArray[np.bool_]:
        least = self._recipe.stopping.min_leaf
        fits: npt.NDArray[np.bool_] = (left_cases >= least) & (all_cases - left_cases >= least)
        return fits

    def _heavy_enough(self, left: Counts, right: Counts) -> npt.NDArray[np.bool_]:
        least = self._least_side
        fits: npt.NDArray[np.bool_] = (self._branch_weights(left) >= least) & (self._branch_weights(right) >= least)
        return fits

    def _in_order(
        self, attribute: int | None, left: Counts, right: Counts, unknown: Counts | None
    ) -> npt.NDArray[np.bool_]:
        """Say which divisions keep to the node's span and to the constraint of the attribute.

        Cases without a value that are not among the rows yet (`unknown`) go to the heavier side.
        """
        if unknown is not None:
            to_left = (self._branch_weights(left) >= self._branch_weights(right) * SHORT)[:, None]
            left, right = left + to_left * unknown, right + ~to_left * unknown
        sign = 0 if attribute is None else self._signs.get(attribute, 0)
        low, high = (values_of(rows, classification=self._classification) for rows in (left, right))
        return self._span.admits(low, high, sign)

    def _admissible(self, rule: Cuts, table: FrequencyTable, left: Counts, values: Floats) -> npt.NDArray[np.bool_]:
        # Numbers that are exactly the gap apart in decimals differ from it by rounding only: they do not pass.
        fits: npt.NDArray[np.bool_] = values[1:] - table.last[:-1] > rule.gap * (1 + 1e-6)
        return fits & self._sides_fit(rule, table, left)

    def _sides_fit(self, rule: Cuts, table: FrequencyTable, left: Counts) -> npt.NDArray[np.bool_]:
        """Say which cuts leave as much on each side as C4.5 asks for."""
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
        """Say which divisions of a table of numbers, given by what is on the left, leave enough on each side."""
        rule = self._recipe.numeric if isinstance(self._recipe.numeric, Cuts) else Cuts()
        whole, all_cases = table.known, int(table.cases.sum())
        if not self._learns_side(table):
            fits = self._large_enough(cases, all_cases) & self._heavy_enough(left, whole - left)
            return fits & self._sides_fit(rule, table, left)
        everywhere = np.ones(len(left), dtype=bool)
        for extra, number in ((0 * table.unknown, 0), (table.unknown, table.unknown_cases)):
            low = left + extra
            everywhere &= self._large_enough(cases + number, all_cases + table.unknown_cases)
            everywhere &= self._heavy_enough(low, whole + table.unknown - low)
        return everywhere

    def _placed(self, rule: Cuts, attribute: int, low: float, high: float) -> float:
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
        """Return what the user's criterion says of any test by its table; None without such a criterion or a score."""
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


def _inside(table: FrequencyTable) -> int:
    """Return the cuts inside runs, which were compared without being looked at one by one."""
    return 0 if table.inside is None else int(table.inside.sum())
