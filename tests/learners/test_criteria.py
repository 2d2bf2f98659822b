"""Criteria against the formulas of the textbooks, SciPy, and the properties that make them criteria."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats.contingency import chi2_contingency

from treewright.errors import ParameterError
from treewright.learners.criteria import (
    CRITERIA,
    chi_square,
    criterion_named,
    entropy,
    expected_counts,
    gain_ratio,
    gini,
    gini_decrease,
    information_gain,
    remainder,
    split_information,
    total_entropy,
    total_gini,
    total_variance,
    variance_decrease,
)

Table = npt.NDArray[np.int64]


def class_tables(rows: int = 4, classes: int = 3) -> st.SearchStrategy[Table]:
    shape = st.tuples(st.integers(1, rows), st.integers(1, classes))
    return hnp.arrays(np.int64, shape, elements=st.integers(0, 40))


def _entropy(row: list[float]) -> float:
    n = sum(row)
    return -sum(x / n * log2(x / n) for x in row if x) if n else 0.0


def _gini(row: list[float]) -> float:
    n = sum(row)
    return 1 - sum((x / n) ** 2 for x in row) if n else 0.0


def _mean_over_branches(table: Any, impurity: Any) -> float:
    n = table.sum()
    return float(sum(row.sum() / n * impurity(row.tolist()) for row in table))


@given(class_tables())
def test_entropy_and_gini_are_the_sums_over_shares(table: Table) -> None:
    for row in table:
        assert entropy(row) == pytest.approx(_entropy(row.tolist()), abs=1e-12)
        assert gini(row) == pytest.approx(_gini(row.tolist()), abs=1e-12)


@given(class_tables())
def test_total_impurity_is_impurity_times_weight(table: Table) -> None:
    assert total_entropy(table) == pytest.approx([row.sum() * _entropy(row.tolist()) for row in table], abs=1e-9)
    assert total_gini(table) == pytest.approx([row.sum() * _gini(row.tolist()) for row in table], abs=1e-9)


@given(class_tables())
def test_gain_is_entropy_before_less_mean_entropy_after(table: Table) -> None:
    assume(table.sum() > 0)
    after = _mean_over_branches(table, _entropy)
    assert remainder(table) == pytest.approx(after, abs=1e-9)
    assert information_gain(table) == pytest.approx(_entropy(table.sum(axis=0).tolist()) - after, abs=1e-9)
    assert gini_decrease(table) == pytest.approx(
        _gini(table.sum(axis=0).tolist()) - _mean_over_branches(table, _gini), abs=1e-9
    )


@given(class_tables(), hnp.arrays(np.int64, 3, elements=st.integers(0, 9)))
def test_unknown_values_scale_the_gain_and_are_one_more_branch_of_the_split_information(
    table: Table, unknown: Table
) -> None:
    assume(table.sum() > 0)
    unknown = unknown[: table.shape[1]]
    known, all_cases = table.sum(), table.sum() + unknown.sum()
    assert information_gain(table, unknown) == pytest.approx(information_gain(table) * known / all_cases, abs=1e-12)
    branches = [*table.sum(axis=1).tolist(), int(unknown.sum())]
    assert split_information(table, unknown) == pytest.approx(_entropy(branches), abs=1e-9)


@given(class_tables())
def test_the_ratio_is_gain_by_split_information_and_zero_for_one_branch(table: Table) -> None:
    assume(table.sum() > 0)
    information = split_information(table)
    if information > 1e-9:
        assert gain_ratio(table) == pytest.approx(information_gain(table) / information, abs=1e-9)
    else:
        assert gain_ratio(table) == 0.0


@given(class_tables())
def test_no_decrease_is_negative_and_a_useless_test_has_none_exactly(table: Table) -> None:
    assert information_gain(table) >= 0.0
    assert gini_decrease(table) >= 0.0
    useless = np.concatenate((table[:1], 3 * table[:1]))
    assert information_gain(useless) == 0.0
    assert gini_decrease(useless) == 0.0


@given(class_tables())
def test_the_order_of_branches_does_not_change_a_score(table: Table) -> None:
    for criterion in (CRITERIA["entropy"], CRITERIA["gini"], CRITERIA["chi2"]):
        assert criterion.of_table(table[::-1]) == pytest.approx(criterion.of_table(table), rel=1e-9, abs=1e-12)


@given(class_tables())
def test_whole_and_real_counts_score_alike(table: Table) -> None:
    for criterion in (CRITERIA["entropy"], CRITERIA["gini"], CRITERIA["chi2"]):
        assert criterion.of_table(table.astype(np.float64)) == pytest.approx(criterion.of_table(table), abs=1e-9)


@given(hnp.arrays(np.int64, (5, 3), elements=st.integers(0, 30)), st.sampled_from(["entropy", "gini", "chi2"]))
def test_many_cuts_at_once_score_as_one_table_each(rows: Table, name: str) -> None:
    assume(rows.sum() > 0)
    left = np.cumsum(rows, axis=0)[:-1]
    right = rows.sum(axis=0) - left
    criterion = criterion_named(name)
    single = [criterion.of_table(np.stack(pair)) for pair in zip(left, right, strict=True)]
    assert criterion.of_cuts(left, right) == pytest.approx(single, rel=1e-9, abs=1e-12)


@given(class_tables(5, 4))
def test_chi_square_is_scipys_without_correction(table: Table) -> None:
    dense = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    result = chi_square(table)
    if dense.size == 0 or 1 in dense.shape:
        assert result.statistic == pytest.approx(0.0, abs=1e-9)
        assert (result.df, result.p) == (0, 1.0)
        return
    expected = chi2_contingency(dense, correction=False)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert result.df == expected.dof
    assert result.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert expected_counts(dense) == pytest.approx(expected.expected_freq)


@given(st.lists(st.lists(st.floats(-50, 50), min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_decrease_of_variance_is_that_of_numpy(branches: list[list[float]]) -> None:
    moments = np.array([[len(part), sum(part), sum(x * x for x in part)] for part in branches], dtype=np.float64)
    everything = np.concatenate(branches)
    after = sum(len(part) * np.var(part) for part in branches) / len(everything)
    assert variance_decrease(moments) == pytest.approx(np.var(everything) - after, abs=1e-8)
    assert total_variance(moments) == pytest.approx([len(part) * np.var(part) for part in branches], abs=1e-8)


def test_an_empty_table_has_no_impurity() -> None:
    nothing = np.zeros((2, 2), dtype=np.int64)
    assert (entropy(nothing[0]), gini(nothing[0]), remainder(nothing), information_gain(nothing)) == (0, 0, 0, 0)
    assert (gain_ratio(nothing), chi_square(nothing)) == (0.0, (0.0, 0, 1.0))


def test_counts_beyond_the_table_of_logarithms_are_right() -> None:
    counts = np.array([3 * 2**22, 2**22])
    assert entropy(counts) == pytest.approx(2 - 0.75 * log2(3), rel=1e-12)


def test_an_unknown_criterion_is_named_with_the_allowed_ones() -> None:
    with pytest.raises(ParameterError, match=r"'ginni'.*gini"):
        criterion_named("ginni")


def test_equal_numbers_away_from_the_mean_of_their_node_have_no_decrease() -> None:
    """Cases without a value can pull the mean away; what is left of the variance is then rounding only."""
    distance = -1.0 - (3 * -1.0 + 1 * -1.0) / 6
    parts = np.array([[w, w * distance, w * distance * distance] for w in (3.0, 1.0, 7.0)])
    variance = criterion_named("variance")
    assert variance.of_table(parts) == 0.0
    assert variance.of_cuts(parts[:1], parts[1:2] + parts[2:]).tolist() == [0.0]
