"""Merging levels: examples by hand, a plain reference implementation, and what must hold for any table."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.learners.chaid.merging import (
    TIE,
    Groups,
    LevelTable,
    merge_exhaustively,
    merge_groups,
    merge_levels,
    merge_like_r,
    simulates_tables,
)
from treewright.learners.chaid.significance import ChiSquareTest, FTest, Scale, log_multiplier

Rows = npt.NDArray[np.int64]
TEST = ChiSquareTest()
ALPHA = 0.05


def table(rows: list[list[int]] | Rows, scale: Scale = Scale.NOMINAL) -> LevelTable:
    return LevelTable(np.array(rows), scale, TEST)


@st.composite
def level_tables(draw: st.DrawFn, *, empty: bool = False) -> LevelTable:
    levels, classes = draw(st.integers(2, 7)), draw(st.integers(2, 3))
    counts = st.lists(st.integers(0, 30), min_size=classes, max_size=classes)
    if not empty:
        counts = counts.filter(any)
    return table(draw(st.lists(counts, min_size=levels, max_size=levels)), draw(st.sampled_from(list(Scale))))


@st.composite
def moment_tables(draw: st.DrawFn) -> LevelTable:
    numbers = st.lists(st.integers(-9, 9), min_size=1, max_size=8)
    groups = draw(st.lists(numbers, min_size=2, max_size=6))
    mean = np.mean([number for group in groups for number in group])
    rows = [[len(g), sum(x - mean for x in g), sum((x - mean) ** 2 for x in g)] for g in groups]
    return LevelTable(np.array(rows, dtype=np.float64), draw(st.sampled_from(list(Scale))), FTest())


def neighbours(levels: LevelTable, groups: Groups) -> list[tuple[int, int]]:
    """Return the pairs that may be merged, by the words of the procedure."""
    missing = len(levels.rows) - 1 if levels.scale is Scale.FLOATING else None
    pairs = []
    for low, high in combinations(range(len(groups)), 2):
        if levels.scale is Scale.NOMINAL or groups[high] == (missing,):
            pairs.append((low, high))
            continue
        ordinary = sorted(level for group in groups for level in group if level != missing)
        below = max(level for level in groups[low] if level != missing)
        above = min(level for level in groups[high] if level != missing)
        if ordinary.index(above) == ordinary.index(below) + 1:
            pairs.append((low, high))
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


def pair_log_p(levels: LevelTable, groups: Groups, pair: tuple[int, int]) -> float:
    sums = levels.sums(groups)
    return float(levels.test.of_row_pairs(sums[[pair[0]]], sums[[pair[1]]])[0])


def most_similar(levels: LevelTable, groups: Groups, pairs: list[tuple[int, int]]) -> tuple[tuple[int, int], float]:
    logs = [pair_log_p(levels, groups, pair) for pair in pairs]
    best = max(logs)
    index = next(at for at, log_p in enumerate(logs) if log_p == best or log_p >= best - TIE)
    return pairs[index], logs[index]


def plain_merge(levels: LevelTable, least: float) -> Groups:
    groups = levels.singles
    while len(groups) > 1:
        pairs = neighbours(levels, groups)
        pair, log_p = most_similar(levels, groups, pairs)
        if log_p <= math.log(ALPHA):
            weights = levels.weights(groups).tolist()
            if min(weights) >= least:
                break
            small = weights.index(min(weights))
            pair, _ = most_similar(levels, groups, [pair for pair in pairs if small in pair])
        groups = merge_groups(groups, *pair)
    return groups


# -- Kass ------------------------------------------------------------------------------------------------------------


def test_merging_by_hand() -> None:
    # Rows (18,20) (10,2) (12,7) (3,22), chi-square of pairs n (ad - bc)^2 / (products of the margins):
    #   0-1  50 (36-200)^2 / (38*12*28*22) = 4.79    0-2  57 (126-240)^2 / (38*19*30*27) = 1.27
    #   1-2  31 (70-24)^2 / (12*19*22*9) = 1.45      those with level 3 are above 7
    # The smallest has p = 0.26: 0 and 2 are merged to (30,27). Then
    #   02-1 69 (60-270)^2 / (57*12*40*29) = 3.835, p = 0.0502 > 0.05: merged to (40,29);
    #   012-3 94 (880-87)^2 / (69*25*43*51) = 15.63, p = 0.0000772: the end.
    # Two groups of four levels can be made in 2^3 - 1 = 7 ways.
    merged = merge_levels(table([[18, 20], [10, 2], [12, 7], [3, 22]]), ALPHA, 1)
    assert merged.groups == ((0, 1, 2), (3,))
    assert math.exp(merged.log_multiplier) == pytest.approx(7)
    assert math.exp(merged.log_p) == pytest.approx(7.7188e-5, rel=1e-4)
    assert merged.log_adjusted == pytest.approx(merged.log_p + math.log(7))


def test_resplitting_by_hand() -> None:
    # As above; but (0,1,2) may be split again, best as 0 against 1 and 2, (18,20) and (22,9):
    #   69 (162-440)^2 / (38*31*40*29) = 3.90, p = 0.0482 <= 0.05.
    merged = merge_levels(table([[18, 20], [10, 2], [12, 7], [3, 22]]), ALPHA, 1, resplit=True)
    assert merged.groups == ((0,), (1, 2), (3,))
    # Parts that would be too small are not made: 0 has 38 cases, 1 and 2 have 31.
    assert merge_levels(table([[18, 20], [10, 2], [12, 7], [3, 22]]), ALPHA, 32, resplit=True).groups == ((0, 1, 2, 3),)


def test_levels_that_do_not_differ_become_one_group() -> None:
    merged = merge_levels(table([[10, 10], [11, 10], [10, 11]]), ALPHA, 1)
    assert merged == (((0, 1, 2),), 0.0, 0.0, 0.0, False)


def test_only_neighbours_are_merged_when_levels_are_ordered() -> None:
    # The first and the last level are alike, the middle one differs from both.
    rows = [[30, 10], [10, 30], [30, 10]]
    assert merge_levels(table(rows), ALPHA, 1).groups == ((0, 2), (1,))
    assert merge_levels(table(rows, Scale.ORDERED), ALPHA, 1).groups == ((0,), (1,), (2,))
    assert merge_levels(table(rows, Scale.FLOATING), ALPHA, 1).groups == ((0, 2), (1,))


def test_the_missing_level_may_stay_alone_between_merged_ones() -> None:
    rows = [[30, 10], [29, 10], [10, 30], [0, 40]]
    merged = merge_levels(table(rows, Scale.FLOATING), ALPHA, 1)
    assert merged.groups == ((0, 1), (2,), (3,))
    # Missing alone beside 2 runs of 3: C(2, 1) = 2; within one of 3 runs of 3: 3 C(2, 2) = 3.
    assert math.exp(merged.log_multiplier) == pytest.approx(5)


def test_small_groups_join_what_is_most_like_them() -> None:
    rows = [[40, 2], [2, 40], [0, 5]]  # a significant difference between the first two; the third is small
    assert merge_levels(table(rows), ALPHA, 1).groups == ((0,), (1, 2))
    rows = [[40, 2], [2, 40], [3, 2]]
    assert merge_levels(table(rows), 0.9, 1).groups == ((0,), (1,), (2,))
    assert merge_levels(table(rows), 0.9, 6).groups == ((0, 2), (1,))


def test_a_level_of_one_for_merging_keeps_all_levels() -> None:
    assert len(merge_levels(table([[10, 10], [11, 10], [10, 11]]), 1.0, 1).groups) == 3


@given(level_tables(), st.sampled_from([1, 5, 20]))
def test_kass_is_the_reference_implementation(levels: LevelTable, least: int) -> None:
    assert merge_levels(levels, ALPHA, least).groups == plain_merge(levels, least)


@given(moment_tables(), st.sampled_from([1, 3]))
def test_kass_is_the_reference_implementation_for_numbers(levels: LevelTable, least: int) -> None:
    assert merge_levels(levels, ALPHA, least).groups == plain_merge(levels, least)


@settings(max_examples=300)
@given(level_tables() | moment_tables(), st.sampled_from([1, 5, 20]), st.booleans())
def test_what_merging_leaves(levels: LevelTable, least: int, resplit: bool) -> None:
    merged = merge_levels(levels, ALPHA, least, resplit=resplit)
    groups = merged.groups
    assert sorted(level for group in groups for level in group) == list(range(len(levels.rows)))
    assert list(groups) == sorted(groups)
    assert merged.log_adjusted <= 0
    if len(groups) == 1:
        assert merged.log_p == 0
        return
    assert levels.weights(groups).min() >= least
    for pair in neighbours(levels, groups):
        assert pair_log_p(levels, groups, pair) <= math.log(ALPHA)
    for group in groups:
        run = group
        if levels.scale is Scale.FLOATING:
            run = tuple(level for level in group if level != len(levels.rows) - 1)
        if levels.scale is not Scale.NOMINAL:
            assert run == tuple(range(run[0], run[-1] + 1)) if run else group == (len(levels.rows) - 1,)
    assert merged.log_p == levels.log_p(groups)
    assert merged.log_multiplier == log_multiplier(len(levels.rows), len(groups), levels.scale)


# -- exhaustive ------------------------------------------------------------------------------------------------------


def test_exhaustive_merging_by_hand() -> None:
    # Singles: (30,10) (20,20) (10,30), chi-square 20 with 2 degrees, p = exp(-10) = 4.54e-5. Both pairs of neighbours
    # are equally alike; the lower is merged: (50,30) and (10,30), 120 (1500-300)^2 / (80*40*60*60) = 15, p = 1.08e-4.
    # So the first stage wins; the multiplier is 3*2/2 = 3 for ordered and 3*8/6 = 4 for nominal levels.
    rows = [[30, 10], [20, 20], [10, 30]]
    merged = merge_exhaustively(table(rows, Scale.ORDERED), 1)
    assert merged.groups == ((0,), (1,), (2,))
    assert merged.log_adjusted == pytest.approx(-10 + math.log(3))
    assert merge_exhaustively(table(rows), 1).log_adjusted == pytest.approx(-10 + math.log(4))


def test_exhaustive_merging_stops_at_two_groups() -> None:
    merged = merge_exhaustively(table([[10, 10], [11, 10], [10, 11]]), 1)
    assert len(merged.groups) >= 2
    assert merged.log_adjusted == 0  # far from significant: cut off at 1


@given(level_tables(), st.sampled_from([1, 10, 40]))
def test_exhaustive_merging_is_that_of_the_reference_implementation(levels: LevelTable, least: int) -> None:
    groups = levels.singles
    while len(groups) > 1 and min(levels.weights(groups)) < least:
        small = int(np.argmin(levels.weights(groups)))
        pairs = [pair for pair in neighbours(levels, groups) if small in pair]
        groups = merge_groups(groups, *most_similar(levels, groups, pairs)[0])
    stages = [groups]
    while len(groups) > 2:
        groups = merge_groups(groups, *most_similar(levels, groups, neighbours(levels, groups))[0])
        stages.append(groups)
    merged = merge_exhaustively(levels, least)
    assert merged.groups in stages
    if len(merged.groups) > 1:
        assert merged.log_p <= min(levels.log_p(stage) for stage in stages) + len(stages) * TIE
        assert levels.weights(merged.groups).min() >= least
    else:
        assert stages == [merged.groups]


# -- R ---------------------------------------------------------------------------------------------------------------


def plain_merge_like_r(levels: LevelTable, least: int) -> Groups:
    """Keep the triangular table as rows of cells, cell (i, j) in row i, and displace it as the program does."""
    groups = levels.singles
    cells: list[list[float | None]] = [[None] * len(groups) for _ in groups]
    while len(groups) > 2:
        best: tuple[float, int, int] | None = None
        for high in range(1, len(groups)):
            for low in range(high):
                if (low, high) not in neighbours(levels, groups):
                    continue
                value = cells[low][high]
                if value is None:
                    value = cells[low][high] = pair_log_p(levels, groups, (low, high))
                if best is None or value > best[0]:
                    best = (value, low, high)
        assert best is not None
        log_p, low, high = best
        if log_p <= math.log(ALPHA) and min(levels.weights(groups)) >= least:
            break
        for other in range(len(groups)):
            cells[low][other] = cells[high][other] = cells[other][low] = cells[other][high] = None
        del cells[low]
        for row in cells:
            del row[high]
        groups = merge_groups(groups, low, high)
    return groups


@settings(max_examples=300)
@given(level_tables(empty=True), st.sampled_from([1, 3, 7]))
def test_merging_like_r_is_that_of_the_reference_implementation(levels: LevelTable, least: int) -> None:
    merged = merge_like_r(levels, ALPHA, least)
    assert merged.groups == plain_merge_like_r(levels, least)
    assert len(merged.groups) >= 2
    if min(levels.weights(merged.groups)) < least:
        assert merged.log_adjusted == 0


def test_like_r_two_groups_remain_and_p_may_exceed_one() -> None:
    rows = [[40, 40], [41, 40], [40, 41]]
    merged = merge_like_r(table(rows), ALPHA, 1)
    assert len(merged.groups) == 2
    assert merged.log_adjusted > 0
    assert not merged.monte_carlo


def test_like_r_outdated_values_are_believed() -> None:
    # Round 1: 0 and 3 have the same shares, p = 1, and are merged to (80,80) at index 0. Old row 1 moves to row 0 and
    # row 2 to row 1. So the value of (0, 2) is what was known of old (1, 2), where it should be that of (03, 2).
    rows = [[40, 40], [79, 81], [30, 60], [40, 40]]
    levels = table(rows)
    assert pair_log_p(levels, ((0, 3), (1,), (2,)), (0, 1)) > math.log(ALPHA)
    assert pair_log_p(levels, levels.singles, (1, 2)) < math.log(ALPHA)
    assert merge_like_r(levels, ALPHA, 1).groups == plain_merge_like_r(levels, 1) == ((0, 1, 3), (2,))


def test_like_r_levels_without_cases_count_for_small_groups_but_not_for_the_multiplier() -> None:
    merged = merge_like_r(table([[60, 20], [20, 60], [0, 0]]), ALPHA, 1)
    assert merged.groups in (((0, 2), (1,)), ((0,), (1, 2)))
    assert merged.log_multiplier == 0.0  # two levels occur: one way to make two groups
    alone = merge_like_r(table([[60, 20], [0, 0]]), ALPHA, 1)
    assert alone.log_adjusted == 0.0
    assert alone.groups == ((0,), (1,))


def test_small_tables_are_marked() -> None:
    assert simulates_tables(np.array([[9, 20], [20, 9]]))
    assert not simulates_tables(np.array([[10, 20], [20, 10]]))
    assert not simulates_tables(np.array([[9, 0], [20, 0]]))  # one class: p is 1 without any test
    assert not simulates_tables(np.array([[0, 0], [20, 9]]))
    assert not simulates_tables(np.array([[1, 50], [50, 1]]))  # 102 cases
    assert merge_like_r(table([[9, 20], [20, 9]]), ALPHA, 1).monte_carlo
    assert not merge_like_r(table([[60, 20], [20, 60]]), ALPHA, 1).monte_carlo
