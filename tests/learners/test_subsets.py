"""The partitions that are compared contain the best of all partitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from treewright.learners.candidates import EXHAUSTIVE, ordered_cuts, subsets_to_compare
from treewright.learners.criteria import CRITERIA, Criterion

Bools = npt.NDArray[np.bool_]


def _best(criterion: Criterion, counts: npt.NDArray[np.int64] | npt.NDArray[np.float64], sides: Bools) -> float:
    scores = [criterion.of_table(np.stack((counts[left].sum(axis=0), counts[~left].sum(axis=0)))) for left in sides]
    return max(scores)


def _all_sides(present: npt.NDArray[np.intp], n: int) -> Bools:
    """Every way to put the values that occur on two sides, neither of them empty."""
    rows = []
    for choice in product((False, True), repeat=len(present)):
        if any(choice) and not all(choice):
            row = np.zeros(n, dtype=bool)
            row[present] = choice
            rows.append(row)
    return np.array(rows)


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 8), st.just(2)), elements=st.integers(0, 20)),
    st.sampled_from(["gini", "entropy"]),
)
def test_two_classes_the_best_of_all_partitions_is_among_few(counts: npt.NDArray[np.int64], name: str) -> None:
    cases = counts.sum(axis=1)
    present = np.flatnonzero(cases)
    assume(len(present) >= 2)
    sides = subsets_to_compare(counts, cases, regression=False)
    assert len(sides) <= len(present) - 1
    everything = _best(CRITERIA[name], counts, _all_sides(present, len(counts)))
    assert _best(CRITERIA[name], counts, sides) == pytest.approx(everything, rel=1e-9, abs=1e-12)


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=2, max_size=8))
def test_numeric_target_the_best_of_all_partitions_is_among_few(groups: list[list[int]]) -> None:
    counts = np.array([[len(g), sum(g), sum(y * y for y in g)] for g in groups], dtype=np.float64)
    cases = counts[:, 0].astype(np.int64)
    present = np.flatnonzero(cases)
    assume(len(present) >= 2)
    sides = subsets_to_compare(counts, cases, regression=True)
    assert len(sides) <= len(present) - 1
    criterion = CRITERIA["variance"]
    everything = _best(criterion, counts, _all_sides(present, len(counts)))
    assert _best(criterion, counts, sides) == pytest.approx(everything, rel=1e-9, abs=1e-9)


@settings(max_examples=30)
@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 7), st.integers(3, 4)), elements=st.integers(0, 9)))
def test_more_classes_all_partitions_are_compared_once(counts: npt.NDArray[np.int64]) -> None:
    cases = counts.sum(axis=1)
    present = np.flatnonzero(cases)
    assume(len(present) >= 2)
    assume(np.count_nonzero(counts.sum(axis=0)) > 2)
    sides = subsets_to_compare(counts, cases, regression=False)
    assert len(sides) == 2 ** (len(present) - 1) - 1
    assert len(np.unique(sides, axis=0)) == len(sides)
    everything = _best(CRITERIA["gini"], counts, _all_sides(present, len(counts)))
    assert _best(CRITERIA["gini"], counts, sides) == pytest.approx(everything, rel=1e-9, abs=1e-12)


def test_ten_values_of_three_classes_are_compared_exhaustively() -> None:
    counts = np.random.default_rng(0).integers(1, 9, (EXHAUSTIVE, 3))
    assert len(subsets_to_compare(counts, counts.sum(axis=1), regression=False)) == 2**9 - 1


def test_beyond_the_limit_the_orders_by_the_share_of_each_class_are_cut() -> None:
    counts = np.random.default_rng(1).integers(1, 30, (EXHAUSTIVE + 2, 3))
    sides = subsets_to_compare(counts, counts.sum(axis=1), regression=False)
    assert len(sides) <= 3 * (EXHAUSTIVE + 1)
    for chosen in range(3):
        order = np.argsort(counts[:, chosen] / counts.sum(axis=1), kind="stable")
        for size in range(1, len(order)):
            row = np.isin(np.arange(len(order)), order[:size])
            row = row if row[0] else ~row
            assert (sides == row).all(axis=1).any()


def test_beyond_the_limit_the_heuristic_is_near_the_best_and_finds_a_pure_partition() -> None:
    counts = np.array([[5, 0, 0]] * 6 + [[0, 3, 1]] * 3 + [[0, 1, 3]] * 3)
    sides = subsets_to_compare(counts, counts.sum(axis=1), regression=False)
    pure = np.array([True] * 6 + [False] * 6)
    assert (sides == pure).all(axis=1).any()


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 14), st.integers(2, 4)), elements=st.integers(0, 9)), st.booleans()
)
def test_a_partition_has_one_form_with_the_first_value_on_the_left(
    counts: npt.NDArray[np.int64], missing: bool
) -> None:
    cases = counts.sum(axis=1)
    present = np.flatnonzero(cases)
    assume(len(np.flatnonzero(cases[:-1] if missing else cases)) >= 2)
    sides = subsets_to_compare(counts, cases, regression=False, missing=missing)
    assert len(sides) > 0
    assert sides[:, present[0]].all()
    assert not sides[:, cases == 0].any()
    assert not sides[:, present].all(axis=1).any()


@settings(max_examples=60)
@given(hnp.arrays(np.int64, st.tuples(st.integers(3, 7), st.integers(2, 3)), elements=st.integers(0, 9)))
def test_missing_goes_with_some_values_and_the_best_such_partition_is_among_them(counts: npt.NDArray[np.int64]) -> None:
    """The last row stands for the missing cases; alone against all values they cannot be tested for."""
    cases = counts.sum(axis=1)
    known = np.flatnonzero(cases[:-1])
    present = np.flatnonzero(cases)
    assume(len(known) >= 2)
    assume(cases[-1] > 0)
    sides = subsets_to_compare(counts, cases, regression=False, missing=True)
    on_left = sides[:, known].sum(axis=1)
    assert np.all((on_left > 0) & (on_left < len(known)))
    wanted = [s for s in _all_sides(present, len(counts)) if 0 < s[known].sum() < len(known)]
    everything = _best(CRITERIA["gini"], counts, np.array(wanted))
    assert _best(CRITERIA["gini"], counts, sides) == pytest.approx(everything, rel=1e-9, abs=1e-12)


@given(hnp.arrays(np.int64, st.integers(1, 8), elements=st.integers(0, 3)), st.booleans())
def test_ordered_values_are_cut_between_neighbours_that_occur(cases: npt.NDArray[np.int64], missing: bool) -> None:
    present = np.flatnonzero(cases)
    sides = ordered_cuts(cases, missing=missing)
    cuts = max(len(present) - 1, 0)
    assert sides.shape == (cuts * (1 + missing), len(cases) + missing)
    for row in sides:
        values = row[: len(cases)]
        assert np.all(np.diff(values.astype(int)) <= 0)  # lower values on the left
        assert cases[values].sum() > 0
        assert cases[~values].sum() > 0
    if missing and cuts:
        assert not sides[:cuts, -1].any()
        assert sides[cuts:, -1].all()


def test_a_value_that_does_not_occur_goes_with_its_nearer_neighbour() -> None:
    assert ordered_cuts(np.array([1, 0, 0, 0, 1])).tolist() == [[True, True, True, False, False]]
