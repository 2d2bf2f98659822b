from __future__ import annotations

from math import atan, inf, pi, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from treewright.errors import ParameterError
from treewright.evaluation.significance_tests import (
    corrected_resampled_t,
    friedman,
    groups_within,
    holm,
    mcnemar,
    nemenyi_critical_difference,
    ranks_of,
)

DEMSAR_RANKS: list[list[float]] = [
    [4, 3, 2, 1],
    [1, 2, 3, 4],
    [4, 1, 2, 3],
    [4, 1, 3, 2],
    [4, 2, 3, 1],
    [1, 2.5, 4, 2.5],
    [3, 2, 4, 1],
    [2.5, 2.5, 4, 1],
    [4, 3, 2, 1],
    [2.5, 2.5, 2.5, 2.5],
    [4, 2.5, 1, 2.5],
    [3, 2, 4, 1],
    [4, 1, 2, 3],
    [3, 1, 4, 2],
]
"""Demsar 2006, table 6: ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 tables."""

DEMSAR_Q = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}
"""Demsar 2006, table 5 (a): critical values of Nemenyi's test for 2 to 10 learners."""

laws: Any = stats  # made as it is imported, which type checkers do not see

differences = st.lists(st.integers(-100, 100).map(lambda n: n / 100), min_size=2, max_size=20)


def tables(least: int = 2) -> st.SearchStrategy[list[list[float]]]:
    row = st.integers(least, 6)
    return row.flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 5).map(lambda n: n / 5), min_size=k, max_size=k), min_size=2, max_size=12
        )
    )


class TestCorrectedResampledT:
    def test_by_hand(self) -> None:
        # Nadeau and Bengio 2003: the variance 0.0008/3 of the differences times (1/4 + 25/75).
        test = corrected_resampled_t([0.02, 0.04, 0.00, 0.02], n_train=75, n_test=25)
        error = sqrt(0.0008 / 3 * (1 / 4 + 1 / 3))
        assert error == pytest.approx(0.0124722, abs=1e-7)
        assert test.mean == pytest.approx(0.02)
        assert test.statistic == pytest.approx(0.02 / error) == pytest.approx(1.603567, abs=1e-6)
        assert test.df == 3
        x = test.statistic / sqrt(3)  # Student's law with 3 degrees of freedom in closed form
        assert test.p == pytest.approx(1 - 2 / pi * (atan(x) + x / (1 + x * x)))
        # Tables of Student's law: 3.182 at 97.5 % with 3 degrees of freedom.
        assert test.high - test.mean == pytest.approx(3.182446 * error, rel=1e-6)
        assert test.mean - test.low == pytest.approx(test.high - test.mean)

    def test_is_less_sure_than_the_usual_t_test(self) -> None:
        found = [0.02, 0.04, 0.00, 0.02]
        plain = laws.ttest_1samp(found, 0)
        test = corrected_resampled_t(found, 75, 25)
        assert plain.statistic == pytest.approx(sqrt(6))  # 2.449, by hand
        # The correction is a division of t by the square root of 1 + k n_test / n_train.
        assert test.statistic == pytest.approx(plain.statistic / sqrt(1 + 4 / 3))
        assert test.p > plain.pvalue

    def test_ten_folds(self) -> None:
        # 10 folds: 1/10 + 1/9 of a variance of 10/9 (five times 1, five times -1, and 1 added to each).
        test = corrected_resampled_t([2, 0] * 5, n_train=90, n_test=10)
        assert test.statistic == pytest.approx(1 / sqrt(10 / 9 * (1 / 10 + 1 / 9)))

    def test_no_spread(self) -> None:
        nothing = corrected_resampled_t([0, 0, 0], 20, 10)
        assert (nothing.statistic, nothing.p, nothing.spread, nothing.low) == (0, 1, 0, 0)
        always = corrected_resampled_t([-0.1, -0.1, -0.1], 20, 10)
        assert (always.statistic, always.p, always.spread) == (-inf, 0, 0)
        assert always.to_dict()["statistic"] is None

    @given(differences, st.integers(1, 1000), st.integers(1, 1000))
    def test_swapping_the_learners_swaps_the_sign(self, found: list[float], n_train: int, n_test: int) -> None:
        one = corrected_resampled_t(found, n_train, n_test)
        other = corrected_resampled_t([-value for value in found], n_train, n_test)
        assert one.statistic == pytest.approx(-other.statistic)
        assert one.p == pytest.approx(other.p)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
        assert 0 <= one.p <= 1

    @pytest.mark.parametrize(
        ("found", "n_train", "n_test", "confidence", "message"),
        [
            ([0.1], 10, 5, 0.95, "two differences"),
            ([0.1, float("nan")], 10, 5, 0.95, "finite numbers"),
            (["a", "b"], 10, 5, 0.95, "must be numbers"),
            ([0.1, 0.2], 0, 5, 0.95, "must be positive"),
            ([0.1, 0.2], 10, 5, 1.0, "confidence must be"),
        ],
    )
    def test_refused(self, found: list[float], n_train: int, n_test: int, confidence: float, message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            corrected_resampled_t(found, n_train, n_test, confidence)


class TestMcNemar:
    def test_exact_by_hand(self) -> None:
        # 2 (C(10, 0) + C(10, 1)) / 2^10
        test = mcnemar(1, 9)
        assert (test.p, test.statistic, test.method) == (22 / 1024, None, "exact binomial")

    def test_chi_square_by_hand(self) -> None:
        # Edwards 1948: (|150 - 86| - 1)^2 / 236 = 3969 / 236
        test = mcnemar(150, 86)
        assert test.statistic == pytest.approx(16.8178, abs=1e-4)
        assert test.p == pytest.approx(4.11e-5, rel=2e-3)
        assert test.method == "chi-square with continuity correction"

    def test_the_methods_meet_at_25(self) -> None:
        assert mcnemar(12, 12).method == "exact binomial"
        assert mcnemar(13, 12).method == "chi-square with continuity correction"
        assert mcnemar(13, 12).p == 1

    def test_no_significant_difference(self) -> None:
        assert mcnemar(0, 0).p == 1
        assert mcnemar(4, 4).p == 1

    @given(st.integers(0, 60), st.integers(0, 60))
    def test_swap(self, b: int, c: int) -> None:
        assert mcnemar(b, c).p == mcnemar(c, b).p
        assert 0 < mcnemar(b, c).p <= 1

    @given(st.integers(0, 12), st.integers(0, 12))
    def test_exact_is_the_binomial_test(self, b: int, c: int) -> None:
        assume(b + c > 0)
        assert mcnemar(b, c).p == pytest.approx(laws.binomtest(b, b + c).pvalue)

    @pytest.mark.parametrize("counts", [(-1, 3), (2.5, 3)])
    def test_refused(self, counts: tuple[int, int]) -> None:
        with pytest.raises(ParameterError, match="counted from 0"):
            mcnemar(*counts)


class TestHolm:
    def test_by_hand(self) -> None:
        # Sorted 0.01 x 4, 0.02 x 3, 0.03 x 2 (not below the last), 0.5 x 1.
        assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
        assert holm([]) == []

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
    def test_never_surer_than_alone(self, alone: list[float]) -> None:
        together = holm(alone)
        assert all(p <= q <= 1 for p, q in zip(alone, together, strict=True))
        assert [together[i] for i in np.argsort(alone, kind="stable")] == sorted(together)


class TestRanks:
    def test_ties_share(self) -> None:
        assert ranks_of([[0.9, 0.8, 0.9, 0.1]]).tolist() == [[1.5, 3, 1.5, 4]]
        assert ranks_of([[3.0, 1.0, 2.0]], higher_is_better=False).tolist() == [[3, 1, 2]]

    def test_rounding_makes_no_rank(self) -> None:
        assert ranks_of([[0.1 + 0.2, 0.3]]).tolist() == [[1.5, 1.5]]

    @given(tables())
    def test_sum(self, scores: list[list[float]]) -> None:
        k = len(scores[0])
        ranks = ranks_of(scores)
        assert ranks.sum(axis=1).tolist() == [k * (k + 1) / 2] * len(scores)
        assert np.allclose(ranks + ranks_of(scores, higher_is_better=False), k + 1)


class TestFriedman:
    def test_demsar(self) -> None:
        # Demsar 2006, section 3.2.2: chi-square 9.28, F 3.69 with 3 and 39 degrees of freedom; ranks of table 6.
        test = friedman(DEMSAR_RANKS)
        assert test.ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
        assert test.chi2 == pytest.approx(9.28, abs=5e-3)
        assert test.f == pytest.approx(3.69, abs=5e-3)
        assert (test.df, test.df1, test.df2) == (3, 3, 39)
        assert test.p < 0.05  # there: the critical value of F(3, 39) is 2.85

    def test_perfect_agreement(self) -> None:
        test = friedman([[1, 2, 3]] * 5)
        assert test.chi2 == pytest.approx(10)  # N (k - 1)
        assert (test.f, test.p) == (inf, 0)
        assert test.to_dict()["f"] is None

    def test_all_equal(self) -> None:
        for correct in (False, True):
            test = friedman([[2, 2, 2]] * 5, correct_ties=correct)
            assert (test.chi2, test.f, test.p) == (0, 0, 1)

    @given(tables(least=3))
    def test_with_ties_corrected_it_is_that_of_scipy(self, scores: list[list[float]]) -> None:
        assume(any(len(set(row)) > 1 for row in scores))
        ranks = ranks_of(scores)
        expected = laws.friedmanchisquare(*np.transpose(ranks))
        test = friedman(ranks, correct_ties=True)
        assert test.chi2 == pytest.approx(expected.statistic, abs=1e-9)
        assert test.p_chi2 == pytest.approx(expected.pvalue, abs=1e-9)
        assert friedman(ranks).chi2 <= test.chi2 + 1e-12

    @given(tables())
    def test_the_order_of_learners_does_not_matter(self, scores: list[list[float]]) -> None:
        one, other = friedman(ranks_of(scores)), friedman(ranks_of([row[::-1] for row in scores]))
        assert one.ranks == pytest.approx(other.ranks[::-1])
        assert one.chi2 == pytest.approx(other.chi2)

    @pytest.mark.parametrize(
        ("ranks", "message"),
        [([[1, 2]], "two tables"), ([[1], [1]], "two learners"), ([[0.9, 0.8], [0.7, 0.6]], "must sum to 3")],
    )
    def test_refused(self, ranks: list[list[float]], message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            friedman(ranks)


class TestNemenyi:
    @pytest.mark.parametrize("alpha", [0.05, 0.10])
    def test_critical_values_of_demsar(self, alpha: float) -> None:
        for k, expected in enumerate(DEMSAR_Q[alpha], start=2):
            q = nemenyi_critical_difference(k, 1, alpha) / sqrt(k * (k + 1) / 6)
            assert q == pytest.approx(expected, abs=1e-3)

    def test_example_of_demsar(self) -> None:
        # Demsar 2006, section 3.2.2: 2.569 sqrt(4 x 5 / (6 x 14)) = 1.25, and 1.12 at 10 %.
        assert nemenyi_critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)
        assert nemenyi_critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=5e-3)

    @pytest.mark.parametrize(("k", "n", "alpha"), [(1, 5, 0.05), (3, 0, 0.05), (3, 5, 0.0)])
    def test_refused(self, k: int, n: int, alpha: float) -> None:
        with pytest.raises(ParameterError):
            nemenyi_critical_difference(k, n, alpha)

    def test_groups(self) -> None:
        assert groups_within([1, 2, 3], 0.5) == []
        assert groups_within([1, 2, 3], 1) == []  # the difference is the critical one: significant
        assert groups_within([1, 2, 3], 1.5) == [(0, 1), (1, 2)]
        assert groups_within([3, 1, 1, 2], 10) == [(1, 2, 3, 0)]
        assert groups_within([1.2, 1.3, 3.2, 3.3], 0.5) == [(0, 1), (2, 3)]

    @given(st.lists(st.integers(10, 60).map(lambda n: n / 10), min_size=2, max_size=8), st.floats(0.05, 5))
    def test_groups_are_all_pairs_within_the_critical_difference(self, ranks: list[float], distance: float) -> None:
        groups = groups_within(ranks, distance)
        for i in range(len(ranks)):
            for j in range(i):
                together = any(i in group and j in group for group in groups)
                assert together == (abs(ranks[i] - ranks[j]) < distance)
        assert not any(set(one) < set(other) for one in groups for other in groups)
