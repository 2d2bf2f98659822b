"""Runs of numbers that cannot hold the best cut, ruled out without looking at a number.

Gain, Gini and chi-square are convex in the class counts of one side. A cut inside a run leaves on its left all that is
before the run and some of each class of the run, so its score is at most the greatest at the corners: all of these
classes on the left, none of the others (Alsabti, Ranka and Singh 1998 bound by estimates; corners are exact). A
cheaper bound comes first: n times an impurity never falls when cases are added, so what is before and what is after
the run stay as impure as they are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.counts.table import Counts, FrequencyTable
from treewright.grow.candidates import SplitEvaluator
from treewright.grow.criteria import Criterion, Decrease, criterion_named
from treewright.grow.recipe import Cuts, MissingPolicy, Recipe

MOST_CORNERS = 12
"""Runs with more classes than this have too many corners."""

MARGIN = 1e-7
"""A bound has to be below the best score by this share of it: ties are decided by rule, not by bounds."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class NumberSieve:
    """Tells which runs have to be looked at, by the rules of one recipe.

    Parameters
    ----------
    recipe : Recipe
        For classes, with cuts that are searched for.
    examiner : SplitEvaluator
        Knows which cuts are admissible.
    """

    def __init__(self, recipe: Recipe, examiner: SplitEvaluator) -> None:
        self._criterion: Criterion = criterion_named(recipe.criterion)
        self._learned = recipe.missing is MissingPolicy.LEARNED
        self._evaluator = examiner
        self.gap = recipe.numeric.gap if isinstance(recipe.numeric, Cuts) else 0.0

    def sift(self, node: int, attribute: int, table: FrequencyTable) -> tuple[Flags, npt.NDArray[np.int64]]:
        """Return which runs have to be counted number by number, and the cuts inside the others."""
        first, last = table.first, table.last
        inside = table.inside if table.inside is not None else np.zeros(len(first), dtype=np.int64)
        several = first < last
        left: Counts = np.cumsum(table.counts, axis=0)
        cases = np.cumsum(table.cases)
        before, cases_before = left - table.counts, cases - table.cases
        after_fits = self._evaluator.sides_fit(table, left, cases)
        apart = np.append(first[1:] - last[:-1] > self.gap * (1 + 1e-6), False)
        borders = np.flatnonzero(apart & after_fits)
        if len(borders) == 0:
            return several, inside
        best = float(self._scores(table, left[borders]).max())
        settled = after_fits & self._evaluator.sides_fit(table, before, cases_before)
        bounds = self._bounds(table, before, best, np.flatnonzero(several & settled))
        ruled_out = settled & (bounds < best - MARGIN * abs(best))
        return several & ~ruled_out, inside

    def _extras(self, table: FrequencyTable) -> list[Counts]:
        """Return what may be on the left beside known cases: nothing, and all cases without a value."""
        nothing = np.zeros_like(table.unknown)
        return [nothing, table.unknown] if self._learned and table.unknown_cases else [nothing]

    def _whole(self, table: FrequencyTable) -> Counts:
        return table.known + self._extras(table)[-1]

    def _scores(self, table: FrequencyTable, left: Counts) -> Floats:
        whole = self._whole(table)
        sides = [left + extra for extra in self._extras(table)]
        scores: Floats = np.max([self._criterion.of_cuts(side, whole - side) for side in sides], axis=0)
        return scores

    def _bounds(self, table: FrequencyTable, before: Counts, best: float, runs: npt.NDArray[np.intp]) -> Floats:
        """Return a bound for each of some runs, infinite for all others."""
        bounds = np.full(len(before), np.inf)
        if isinstance(self._criterion, Decrease) and len(runs):
            bounds[runs] = self._sieved(table, before[runs], table.counts[runs])
            runs = runs[bounds[runs] >= best - MARGIN * abs(best)]
        for run in runs.tolist():
            present = np.flatnonzero(table.counts[run])
            if len(present) <= MOST_CORNERS:
                bounds[run] = self._at_corners(table, before[run], table.counts[run], present)
        return bounds

    def _sieved(self, table: FrequencyTable, before: Counts, counts: Counts) -> Floats:
        criterion = self._criterion
        whole = self._whole(table)
        n = float(whole.sum())
        if not isinstance(criterion, Decrease):
            return np.full(len(before), np.inf)
        total = float(criterion.total(whole[None, :])[0])
        found = []
        for extra in self._extras(table):
            least = criterion.total(before + extra) + criterion.total(whole - extra - before - counts)
            found.append((total - least) / n)
        bounds: Floats = np.max(found, axis=0)
        return bounds

    def _at_corners(
        self, table: FrequencyTable, before: Counts, counts: Counts, present: npt.NDArray[np.intp]
    ) -> float:
        chosen = (np.arange(1 << len(present))[:, None] >> np.arange(len(present))) & 1
        corners = np.zeros((len(chosen), len(counts)), dtype=counts.dtype)
        corners[:, present] = chosen * counts[present]
        return float(self._scores(table, before + corners).max())
