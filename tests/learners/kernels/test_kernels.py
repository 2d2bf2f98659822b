"""Each kernel against a readable reference implementation."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data.schema import Column, Kind, Schema
from treewright.jit import kernel
from treewright.learners import sampling
from treewright.learners.criteria import CHI_SQUARE as CHI_SQUARE_CRITERION
from treewright.learners.criteria import ENTROPY as ENTROPY_CRITERION
from treewright.learners.criteria import GINI as GINI_CRITERION
from treewright.learners.criteria import VARIANCE as VARIANCE_CRITERION
from treewright.learners.criteria import nlogn, split_information
from treewright.learners.kernels import options as kernel_options
from treewright.learners.kernels import random as kernels
from treewright.learners.kernels.score import (
    CHI_SQUARE,
    ENTROPY,
    GINI,
    QUICK_ERROR,
    VARIANCE,
    branch_information,
    fill_nlogn,
    first_tied,
    nlogn_of,
    quick_nlogn,
    score_of_table,
)
from treewright.learners.kernels.sort import new_sort_buffers, sort_numbers
from treewright.learners.recipe import C45, CART, ID3, Intervals, MissingPolicy, Recipe, Stopping

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python

TABLES = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 30), min_size=width, max_size=width), min_size=1, max_size=5)
)


def test_the_table_of_n_log_n_has_the_bits_of_the_interpreter() -> None:
    table = np.zeros(100_000)
    fill_nlogn(table, 0)
    assert np.array_equal(table, nlogn(np.arange(100_000)))
    assert nlogn_of(2.5, table) == 2.5 * log2(2.5)
    assert nlogn_of(600_000.0, table) == 600_000 * log2(600_000)
    assert nlogn_of(0.0, table) == 0.0


@settings(deadline=None)
@given(rows=TABLES)
def test_criteria_score_tables_as_the_interpreter_does(rows: list[list[int]]) -> None:
    counts = np.array(rows)
    table = np.array([0.0])
    pairs = ((ENTROPY, ENTROPY_CRITERION), (GINI, GINI_CRITERION), (CHI_SQUARE, CHI_SQUARE_CRITERION))
    for code, criterion in pairs:
        found = score_of_table(counts.astype(np.float64), len(rows), code, table, np.zeros(counts.shape[1]))
        assert found == criterion.of_table(counts)
    assert branch_information(counts.astype(np.float64), len(rows), 0.0, table) == split_information(counts)


@kernel
def _quick(x: float) -> float:
    return quick_nlogn(x)


@settings(deadline=None)
@given(x=st.floats(1e-9, 1e9) | st.integers(0, 2**20).map(float) | st.floats(-1.0, 0.0))
def test_quick_logarithms_are_too_low_by_at_most_the_documented_error(x: float) -> None:
    exact = x * log2(x) if x > 0 else 0.0
    rounding = 1e-12 * max(abs(exact), abs(x))
    assert -rounding <= exact - _quick(x) <= QUICK_ERROR * abs(x) + rounding


@settings(deadline=None)
@given(groups=st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=4), min_size=1, max_size=4))
def test_variance_scores_tables_as_the_interpreter_does(groups: list[list[float]]) -> None:
    moments = np.array([[len(group), sum(group), sum(x * x for x in group)] for group in groups])
    found = score_of_table(moments, len(moments), VARIANCE, np.array([0.0]), np.zeros(3))
    assert found == pytest.approx(VARIANCE_CRITERION.of_table(moments), rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(numbers=st.lists(st.floats(allow_nan=True, allow_infinity=False, width=64), min_size=1, max_size=120))
def test_sorting_gives_the_ranks_and_the_order_of_numpy(numbers: list[float]) -> None:
    values = np.array(numbers)
    n = len(values)
    order, codes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
    found = np.zeros(n + 1)
    distinct = sort_numbers(values, n, 32, order, codes, found, new_sort_buffers(n))
    known = ~np.isnan(values)
    expected, ranks = np.unique(values[known] + 0.0, return_inverse=True)
    assert distinct == len(expected)
    assert np.array_equal(found[1 : distinct + 1], expected)
    assert np.array_equal(codes[known], ranks + 1)
    assert not codes[~known].any()
    cases = order & 0xFFFFFFFF
    assert sorted(cases.tolist()) == list(range(n))
    assert np.array_equal(order >> 32, np.sort(codes))
    assert np.array_equal(codes[cases], order >> 32)


@settings(deadline=None)
@given(key=st.integers(0, 2**64 - 1), n=st.integers(1, 30))
def test_drawing_gives_the_numbers_of_the_interpreter(key: int, n: int) -> None:
    order = np.zeros(n, dtype=np.int64)
    kernels.shuffle(np.uint64(key), order, n)
    assert order.tolist() == sampling.shuffled(key, n)
    assert int(kernels.child_key(np.uint64(key), n)) == sampling.child_key(key, n)
    assert kernels.random_cut(np.uint64(key), n, -1.5, 7.25) == sampling.random_cut(key, n, -1.5, 7.25)


def test_ties_take_the_first_index() -> None:
    assert first_tied(np.array([0.1, 0.3, 0.3 + 1e-14, 0.2]), 4) == 1
    assert first_tied(np.array([-np.inf, -np.inf]), 2) == -1
    assert first_tied(np.zeros(0), 0) == -1


@pytest.mark.parametrize(
    ("recipe", "known"),
    [
        (ID3(), True),
        (C45(), True),
        (CART(), True),
        (C45(subset=True), False),
        (CART(stopping=Stopping(max_leaves=4)), False),
        (CART(stopping=Stopping(significance=0.05)), False),
        (Recipe("own", "gini", numeric=Intervals(), missing=MissingPolicy.MAJORITY), True),
    ],
)
def test_kernels_know_which_recipes_they_grow(recipe: Recipe, known: bool) -> None:
    assert kernel_options.is_supported(recipe) is known


def test_options_carry_the_limits_of_a_recipe() -> None:
    options = kernel_options.options_of(
        CART(stopping=Stopping(max_depth=3, min_leaf=5)), 100.0, 2, whole=True, unit=True
    )
    assert options["max_depth"][0] == 3
    assert options["min_leaf"][0] == 5
    assert kernel_options.tests_of(ID3(), _schema(), frozenset()).tolist() == [0, 1]


def _schema() -> Schema:
    return Schema(
        (
            Column("x", Kind.NUMERIC),
            Column("v", Kind.NOMINAL, ("p", "q")),
            Column("y", Kind.NOMINAL, ("a", "b")),
        ),
        target="y",
    )
