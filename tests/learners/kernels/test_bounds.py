"""Bins of a large node: no cut scores more than the bound of its bin, and the best cut of all is found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from treewright.counting.numba import count_cases, count_classes, count_numbers, partition_rows, route_rows
from treewright.learners.criteria import criterion_named
from treewright.learners.kernels.bounds import (
    BEST,
    N_STATISTICS,
    STATISTICS_ROWS,
    count_thresholds,
    find_surviving_bins,
    limit_of,
    score_borders,
    values_beside,
)
from treewright.learners.kernels.options import options_of
from treewright.learners.kernels.refine import NO_ENTRIES, Binned, Cases, entries_of, new_refine_buffers, refine_bins
from treewright.learners.recipe import CART, MissingPolicy, Recipe, Stopping, for_regression

Floats = npt.NDArray[np.float64]
NO_TABLE = np.zeros(1)


def recipe_for(criterion: str) -> Recipe:
    if criterion == "variance":
        return for_regression(CART(missing=MissingPolicy.MAJORITY))
    return CART(criterion=criterion, missing=MissingPolicy.MAJORITY)


class Node:
    """A column in bins of a few cases each, with a target and weights, counted."""

    def __init__(self, seed: int, criterion: str, *, n: int = 120, codes: int = 6, classes: int = 3) -> None:
        rng = np.random.default_rng(seed)
        self.column = np.round(rng.normal(size=n), 1 if seed % 3 == 0 else 9)
        self.codes = np.searchsorted(np.quantile(self.column, np.arange(1, codes) / codes), self.column).astype(
            np.uint8
        )
        self.codes += 1
        self.rows = np.arange(n, dtype=np.int32)
        self.weights = rng.random(n) + 0.1 if seed % 2 else np.zeros(0)
        self.criterion = criterion_named(criterion)
        self.regression = criterion == "variance"
        self.width = 3 if self.regression else classes
        self.target = ((self.column > 0.3) * 1 + rng.integers(0, classes, n) * (rng.random(n) < 0.7)).astype(np.int32)
        self.target %= classes
        self.deviation = self.target + rng.normal(size=n) if self.regression else np.zeros(0)
        total = float(n) if len(self.weights) == 0 else float(self.weights.sum())
        self.opt = options_of(recipe_for(criterion), total, self.width, whole=False, unit=False)
        self.starts = np.array([0, codes + 1])
        self.counts = np.zeros((codes + 1, self.width))
        self.cases = np.zeros(codes + 1, dtype=np.int64)
        one, table = np.array([0]), self.codes[None, :]
        if self.regression:
            count_numbers(table, self.rows, self.deviation, self.weights, one, self.starts, self.counts)
        else:
            count_classes(table, self.rows, self.target, self.weights, one, self.starts, self.counts)
        count_cases(table, self.rows, one, self.starts, self.cases)

    def scores(self) -> dict[float, float]:
        """Return the score of every cut, by the number below it."""
        w = self.weights if len(self.weights) else np.ones(len(self.rows))
        if self.regression:
            rows = np.stack((w, w * self.deviation, w * self.deviation**2), axis=1)
        else:
            rows = np.eye(self.width)[self.target] * w[:, None]
        whole = rows.sum(axis=0)
        found = {}
        for cut in np.unique(self.column)[:-1].tolist():
            left = rows[self.column <= cut].sum(axis=0)
            found[cut] = self.criterion.of_table(np.stack((left, whole - left)))
        return found

    def scored_bins(self) -> tuple[Floats, Floats, Floats]:
        borders, bounds = np.full((2, len(self.counts)), -np.inf), np.full((2, len(self.counts)), -np.inf)
        statistics = np.empty((1, N_STATISTICS))
        no_gaps = np.zeros(0, dtype=bool)
        score_borders(
            self.counts, self.cases, self.starts, np.array([0]), no_gaps, self.opt, NO_TABLE, borders, bounds,
            statistics, np.empty((STATISTICS_ROWS, self.width)),
        )  # fmt: skip
        return borders, bounds, statistics

    def surviving(self, bounds: Floats, statistics: Floats, limit: float) -> npt.NDArray[np.bool_]:
        surviving = np.zeros(len(self.counts), dtype=bool)
        find_surviving_bins(
            self.counts, self.cases, self.starts, np.array([0]), np.zeros(1, dtype=bool), np.array([limit]), self.opt,
            NO_TABLE, bounds, statistics, surviving, np.empty((STATISTICS_ROWS, self.width)),
            np.empty(self.width, dtype=np.int64),
        )  # fmt: skip
        return surviving


CRITERIA_HERE = ("gini", "entropy", "chi2", "variance")


@pytest.mark.parametrize("criterion", CRITERIA_HERE)
@pytest.mark.parametrize("seed", range(8))
def test_no_cut_in_a_bin_scores_more_than_its_bound(criterion: str, seed: int) -> None:
    node = Node(seed, criterion, classes=2 + 6 * (seed == 7))
    borders, bounds, statistics = node.scored_bins()
    scores = node.scores()
    for limit in (*sorted(scores.values())[::12], max(scores.values())):
        surviving = node.surviving(bounds, statistics.copy(), limit)
        for cut, score in scores.items():
            code = int(node.codes[node.column == cut][0])
            following = int(node.codes[node.column > cut].min())
            if code == following:
                assert score <= bounds[0, code]
                assert surviving[code] or score < limit
            else:
                assert borders[0, code] == pytest.approx(score, rel=1e-9, abs=1e-12)
                assert borders[0, code] <= statistics[0, BEST]


@pytest.mark.parametrize("criterion", CRITERIA_HERE)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("codes", [1, 4, 40])
@pytest.mark.parametrize("in_order", [False, True])
def test_a_look_inside_finds_the_best_of_all_cuts(criterion: str, seed: int, codes: int, in_order: bool) -> None:
    node = Node(seed, criterion, n=300, codes=codes)
    borders, bounds, statistics = node.scored_bins()
    limit = float(limit_of(statistics[0, BEST]))
    surviving = node.surviving(bounds, statistics, limit)
    no_positions = np.zeros(0, dtype=np.int64)
    entries = entries_of(node.column) if in_order else NO_ENTRIES
    binned = Binned(node.counts, node.cases, borders, surviving, no_positions, statistics[0], entries)
    left = np.zeros(node.width)
    cases = Cases(node.rows, node.weights, node.target, node.deviation)
    score, turn, code, low, high, _ = refine_bins(
        binned,
        node.codes,
        node.column,
        cases,
        limit,
        node.opt,
        NO_TABLE,
        left,
        new_refine_buffers(300, 2 * 300 + 2 * 40, node.width),
    )
    scores = node.scores()
    best = max(scores.values())
    first = min(cut for cut, one in scores.items() if one >= best * (1 - 1e-9))
    assert score == pytest.approx(best, rel=1e-9)
    assert turn == 0
    if np.isnan(low):
        later = min(other for other in range(code + 1, len(node.counts)) if node.cases[other])
        low, high = values_beside(node.codes, node.column, node.rows, code, later)
    assert low == first
    assert high == node.column[node.column > first].min()
    weights = node.weights if len(node.weights) else np.ones(len(node.rows))
    on_left = weights[node.column <= first].sum()
    assert (left[0] if node.regression else left.sum()) == pytest.approx(on_left)


def test_entries_are_sorted_and_mark_where_a_number_stays_the_same() -> None:
    column = np.array([2.0, np.nan, 0.0, 2.0, -0.0, np.nan, -1.0])
    entries = entries_of(column)
    assert (entries & 0x7FFFFFFF).tolist() == [1, 5, 6, 2, 4, 0, 3]
    assert (entries < 0).tolist() == [False, True, False, False, True, False, True]


@pytest.mark.parametrize("gap", [0.0, 0.15])
def test_thresholds_are_counted_by_the_ranks_of_the_numbers(gap: float) -> None:
    rng = np.random.default_rng(3)
    column = np.round(rng.normal(size=400), 2)
    column[::9] = np.nan
    numbers, ranks = np.unique(column[~np.isnan(column)], return_inverse=True)
    all_ranks = np.full(len(column), -1, dtype=np.int32)
    all_ranks[~np.isnan(column)] = ranks
    borders = numbers[[20, 60, 61, 90]]
    ends = np.concatenate(([0], np.searchsorted(numbers, borders, side="right"), [len(numbers)]))
    rows = np.sort(rng.choice(400, 90, replace=False)).astype(np.int32)
    inner, gaps = np.full(6, 99), np.zeros(6, dtype=bool)
    words = np.zeros(len(numbers) // 8 + 1, dtype=np.uint64)
    count_thresholds(all_ranks, numbers, ends, rows, gap, inner, gaps, words, words.view(np.uint8))
    assert not words.any()
    here = np.unique(column[rows][~np.isnan(column[rows])])
    codes = np.searchsorted(borders, here, side="left") + 1
    expected = np.zeros(6, dtype=np.int64)
    for low, high, code, following in zip(here[:-1], here[1:], codes[:-1], codes[1:], strict=True):
        if code == following:
            expected[code] += high - low > gap
        else:
            assert gaps[code] == (high - low > gap)
    assert inner.tolist() == expected.tolist()


def test_cases_without_a_branch_go_to_all_that_are_not_empty_in_proportion() -> None:
    codes = np.array([1, 0, 2, 1, 0, 1], dtype=np.uint8)
    rows = np.array([0, 1, 2, 3, 4], dtype=np.int32)
    weights = np.array([1.0, 2.0, 1.0, 2.0, 0.5])
    branches, sizes, sums = np.zeros(5, dtype=np.int32), np.zeros(4, dtype=np.int64), np.zeros(4)
    table = np.array([-1, 0, 2], dtype=np.int32)
    route_rows(codes, np.zeros(0), rows, weights, table, (-1, 0.0), branches, sizes, sums)
    assert sizes.tolist() == [2, 0, 1, 2]
    assert sums.tolist() == [3.0, 0.0, 1.0, 2.5]
    new_rows, new_weights = np.zeros(7, dtype=np.int32), np.zeros(7)
    partition_rows(rows, weights, branches, sizes, sums[:3] / 4.0, np.array([0, 4, 4]), new_rows, new_weights)
    assert new_rows.tolist() == [0, 1, 3, 4, 1, 2, 4]
    assert new_weights.tolist() == [1.0, 1.5, 2.0, 0.375, 0.5, 1.0, 0.125]


def test_a_minimum_on_each_side_leaves_borders_out() -> None:
    node = Node(2, "gini")
    recipe = CART(stopping=Stopping(min_leaf=50), missing=MissingPolicy.MAJORITY)
    node.opt = options_of(recipe, 120.0, node.width, whole=False, unit=False)
    borders, _, _ = node.scored_bins()
    assert np.flatnonzero(borders[0] > -np.inf).tolist() == [3]
