"""The tests of CHAID against scipy and closed forms; its multipliers against counting."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import chdtri
from scipy.stats.contingency import chi2_contingency

from treewright.learners.chaid.significance import (
    DIRECT,
    ChiSquareTest,
    FTest,
    Scale,
    log_chi_square_tail,
    log_exhaustive_multiplier,
    log_f_tail,
    log_multiplier,
)

Floats = npt.NDArray[np.float64]


def array(*numbers: float) -> Floats:
    return np.array(numbers, dtype=np.float64)


# -- tails -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0.0, 1e-9, 1.0, 100.0, 1149.0, 1152.0, 1160.0, 50_000.0, 1e9])
def test_chi_square_tails_with_even_freedom_have_a_closed_form(x: float) -> None:
    # 2 degrees: exp(-x/2); 4 degrees: exp(-x/2) (1 + x/2); 6: exp(-x/2) (1 + x/2 + x^2/8).
    logs = log_chi_square_tail(array(x, x, x), array(2, 4, 6))
    half = x / 2
    expected = [-half, -half + math.log1p(half), -half + math.log1p(half + half * half / 2)]
    assert logs == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("f", [0.0, 0.5, 3.0, 1e3, 1e9, 1e200])
@pytest.mark.parametrize("within", [1.0, 10.0, 997.5, 1e6])
def test_f_tails_with_two_degrees_above_have_a_closed_form(f: float, within: float) -> None:
    # P(F >= f) = (1 + 2 f / within) ^ (-within / 2)
    [found] = log_f_tail(array(f), array(2), array(within))
    assert found == pytest.approx(-within / 2 * math.log1p(2 * f / within), rel=1e-10, abs=1e-15)


def test_tails_are_continuous_where_the_method_changes() -> None:
    for df in (1.0, 3.0, 50.0, 4000.0):
        edge = float(chdtri(df, DIRECT))
        x = np.linspace(edge - 5, edge + 5, 2001)
        logs = log_chi_square_tail(x, np.full_like(x, df))
        assert logs[0] > math.log(DIRECT) > logs[-1]
        assert np.all(np.diff(logs) < 0)
        assert np.all(np.abs(np.diff(logs, 2)) < 1e-7)


def test_no_degrees_of_freedom_no_significance() -> None:
    assert log_chi_square_tail(array(5, 0), array(0, 1)).tolist() == [0.0, 0.0]
    assert log_f_tail(array(5, np.inf, np.inf), array(0, 1, 1), array(3, 0, 2)).tolist() == [0.0, 0.0, -math.inf]


# -- tables ----------------------------------------------------------------------------------------------------------


def tables(rows: st.SearchStrategy[int], top: int) -> st.SearchStrategy[npt.NDArray[np.int64]]:
    return st.tuples(rows, st.integers(2, 4)).flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(0, top), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        ).map(np.array)
    )


def expected_log_p(rows: npt.NDArray[np.int64]) -> float:
    kept = rows[rows.sum(axis=1) > 0][:, rows.sum(axis=0) > 0]
    if min(kept.shape) < 2:
        return 0.0
    return math.log(chi2_contingency(kept, correction=False).pvalue)


def test_a_table_by_hand() -> None:
    # Every expected count is 15: chi-square = 4 * 25/15 = 6.667, and with one degree p = 0.00982.
    rows = np.array([[10, 20], [20, 10]])
    assert ChiSquareTest().of_table(rows) == pytest.approx(math.log(0.009823275), rel=1e-6)
    assert ChiSquareTest().of_row_pairs(rows[:1], rows[1:])[0] == pytest.approx(ChiSquareTest().of_table(rows))


@given(tables(st.integers(1, 5), 40))
def test_chi_square_is_that_of_scipy(rows: npt.NDArray[np.int64]) -> None:
    assert ChiSquareTest().of_table(rows) == pytest.approx(expected_log_p(rows), rel=1e-9, abs=1e-12)


@given(tables(st.just(6), 60))
def test_pairs_are_tables_of_two_rows(rows: npt.NDArray[np.int64]) -> None:
    test = ChiSquareTest()
    logs = test.of_row_pairs(rows[:3], rows[3:])
    assert logs == pytest.approx([expected_log_p(rows[[i, i + 3]]) for i in range(3)], rel=1e-9, abs=1e-12)
    assert test.of_row_pairs(rows[3:], rows[:3]).tolist() == logs.tolist()


def test_tables_far_below_the_smallest_double_are_distinguished() -> None:
    test = ChiSquareTest()
    near = test.of_table(np.array([[5000, 0], [0, 5000]]))
    far = test.of_table(np.array([[5001, 0], [0, 5001]]))
    assert far < near < -4000


def moments(groups: list[list[float]]) -> Floats:
    mean = np.mean([number for group in groups for number in group])
    return np.array([[len(g), sum(x - mean for x in g), sum((x - mean) ** 2 for x in g)] for g in groups])


def test_an_f_test_by_hand() -> None:
    # 1, 2, 3 and 3, 4, 5: means 2 and 4, between = 3 + 3 = 6 with 1 degree, within = 2 + 2 = 4 with 4 degrees;
    # F = 6 / (4/4) = 6, p = 0.0705.
    assert FTest().of_table(moments([[1, 2, 3], [3, 4, 5]])) == pytest.approx(math.log(0.0704839), rel=1e-5)


@given(
    st.lists(
        st.lists(st.integers(-20, 20).map(lambda number: number / 4), min_size=1, max_size=6), min_size=2, max_size=4
    )
)
def test_f_is_that_of_scipy(groups: list[list[float]]) -> None:
    numbers = [number for group in groups for number in group]
    found = FTest().of_table(moments(groups))
    if len(numbers) <= len(groups) or len({float(np.mean(group)) for group in groups}) == 1:
        assert found == pytest.approx(0.0, abs=1e-5)
    elif all(len(set(group)) == 1 for group in groups):
        assert found == -math.inf
    else:
        assert found == pytest.approx(math.log(stats.f_oneway(*groups).pvalue), rel=1e-6, abs=1e-9)


def test_f_pairs_leave_rows_without_cases_out() -> None:
    one, none = moments([[1.0, 2.0], [5.0, 7.0]])[:1], np.zeros((1, 3))
    assert FTest().of_row_pairs(one, none).tolist() == [0.0]
    assert FTest().of_row_pairs(none, none).tolist() == [0.0]
    assert FTest().weights(one).tolist() == [2.0]


# -- multipliers -----------------------------------------------------------------------------------------------------


def partitions(levels: int) -> Iterator[list[set[int]]]:
    """Yield all partitions, by giving each level to one of the groups so far or to a new one."""
    waiting: list[list[set[int]]] = [[]]
    for level in range(levels):
        grown = []
        for groups in waiting:
            for index in range(len(groups)):
                grown.append([group | {level} if at == index else group for at, group in enumerate(groups)])
            grown.append([*groups, {level}])
        waiting = grown
    yield from waiting


def is_run(levels: set[int]) -> bool:
    return not levels or max(levels) - min(levels) + 1 == len(levels)


@pytest.mark.parametrize("levels", range(2, 8))
@pytest.mark.parametrize("scale", list(Scale))
def test_multipliers_count_partitions(levels: int, scale: Scale) -> None:
    last = levels - 1
    for groups in range(1, levels + 1):
        admissible = 0
        for partition in partitions(levels):
            if len(partition) != groups:
                continue
            if scale is Scale.ORDERED:
                admissible += all(is_run(group) for group in partition)
            elif scale is Scale.FLOATING:
                admissible += all(is_run(group - {last}) for group in partition)
            else:
                admissible += 1
        assert round(math.exp(log_multiplier(levels, groups, scale))) == admissible


def test_a_multiplier_of_many_levels_is_exact() -> None:
    # Stirling's number S(c, 2) = 2^(c-1) - 1 and S(c, c-1) = c (c-1) / 2.
    assert log_multiplier(2000, 2, Scale.NOMINAL) == pytest.approx(1999 * math.log(2), rel=1e-14)
    assert log_multiplier(400, 399, Scale.NOMINAL) == pytest.approx(math.log(400 * 399 / 2), rel=1e-14)


@pytest.mark.parametrize("levels", range(2, 12))
def test_exhaustive_multipliers_count_the_pairs_on_the_way(levels: int) -> None:
    pairs = {
        Scale.NOMINAL: sum(k * (k - 1) // 2 for k in range(2, levels + 1)),
        Scale.ORDERED: sum(k - 1 for k in range(2, levels + 1)),
        Scale.FLOATING: sum((k - 2) + (k - 1) for k in range(2, levels + 1)),
    }
    for scale, count in pairs.items():
        assert math.exp(log_exhaustive_multiplier(levels, scale)) == pytest.approx(count)


def test_one_level_needs_no_multiplier() -> None:
    for scale in Scale:
        assert log_multiplier(1, 1, scale) == log_exhaustive_multiplier(1, scale) == 0.0
