"""Intervals by entropy with the stop of Fayyad and Irani (1993), by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from learners.tables_for_growing import numeric_table
from treewright.counting.table import FrequencyTable
from treewright.fitting.learn import fit
from treewright.learners.discretise import mdl_bounds
from treewright.learners.recipe import ID3
from treewright.tree.split import Test


def _bounds(counts: list[list[int]], values: list[float] | None = None) -> tuple[float, ...]:
    array = np.array(counts)
    numbers = np.arange(len(counts), dtype=np.float64) if values is None else np.array(values)
    return mdl_bounds(FrequencyTable(array, np.zeros_like(array[0]), array.sum(axis=1), numbers))


def test_a_clean_cut_pays_from_its_description_length_on() -> None:
    """n of each class, separated: the gain is 1 bit, the price (log2(2n - 1) + log2(7) - 2) / 2n."""
    for n in range(1, 10):
        threshold = (log2(2 * n - 1) + log2(3**2 - 2) - 2 * 1) / (2 * n)
        assert bool(_bounds([[n, 0], [0, n]])) == (threshold < 1), n
    assert _bounds([[2, 0], [0, 2]]) == (0.5,)
    assert _bounds([[1, 0], [0, 1]]) == (0.5,)


def test_a_cut_with_a_pure_side_by_hand() -> None:
    """6 of A against 3 A and 3 B: H = 0.811, gain 0.311; delta = log2 7 - (2 * 0.811 - 1 * 0 - 2 * 1)."""
    whole = -(9 / 12) * log2(9 / 12) - (3 / 12) * log2(3 / 12)
    gain = whole - 0.5
    threshold = (log2(11) + log2(7) - (2 * whole - 0 - 2)) / 12
    assert (round(gain, 3), round(threshold, 3)) == (0.311, 0.554)
    assert _bounds([[6, 0], [3, 3]]) == ()
    many = 10
    threshold = (log2(12 * many - 1) + log2(7) - (2 * whole - 0 - 2)) / (12 * many)
    assert threshold < gain
    assert _bounds([[6 * many, 0], [3 * many, 3 * many]]) == (0.5,)


def test_sides_are_split_further() -> None:
    assert _bounds([[20, 0, 0], [0, 20, 0], [0, 0, 20]]) == (0.5, 1.5)
    assert _bounds([[20, 0], [0, 20], [20, 0]]) == (0.5, 1.5)


def test_noise_is_not_cut() -> None:
    assert _bounds([[5, 5], [5, 5], [5, 5]]) == ()
    assert _bounds([[7, 0]]) == ()


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(2, 3)), elements=st.integers(0, 12)))
def test_bounds_ascend_and_lie_between_the_numbers(counts: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> None:
    counts = counts[counts.sum(axis=1) > 0]
    bounds = _bounds(counts.tolist()) if len(counts) else ()
    assert list(bounds) == sorted(set(bounds))
    assert all(bound % 1 == 0.5 for bound in bounds)


@pytest.mark.parametrize("first", [1.0, 1e300, -5e-324, np.nextafter(1.0, 2.0)])
def test_a_bound_between_neighbouring_doubles_separates_them(first: float) -> None:
    """The midpoint of two neighbours rounds to one of them; it must be the lower one, which belongs below."""
    second = np.nextafter(first, np.inf)
    third = np.nextafter(second, np.inf)
    bounds = _bounds([[20, 0], [0, 20], [20, 0]], [first, second, third])
    assert bounds == (first, second)
    table = numeric_table({"x": [first, second, third] * 20}, list("aba") * 20, ("a", "b"))
    tree = fit(table, ID3()).tree
    assert tree.errors[[node.index for node in tree if node.is_leaf]].sum() == 0


def test_hundreds_of_classes_can_be_counted() -> None:
    """3^k - 2 leaves the range of doubles at k = 647."""
    classes = 700
    bounds = _bounds(np.eye(classes, dtype=np.int64).tolist())
    assert all(bound % 1 == 0.5 for bound in bounds)


def test_id3_grows_on_intervals_made_at_the_root() -> None:
    table = numeric_table({"x": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]}, list("aaabbb"), ("a", "b"))
    root = fit(table, ID3()).tree.node(0)
    assert root.split is not None
    assert root.split.test is Test.INTERVALS
    assert root.split.bounds == (7.0,)


def test_a_numeric_attribute_that_is_never_cut_is_one_value() -> None:
    table = numeric_table({"x": [1.0, 2.0, 3.0, 4.0]}, list("abab"), ("a", "b"))
    assert fit(table, ID3()).tree.n_nodes == 1
