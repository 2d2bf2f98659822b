"""Chance depends on seed, tree and purpose, and on nothing else; and it is fair."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.ensembles.bootstrap import (
    COMPILED_SAMPLE,
    balanced_bootstrap,
    bootstrap,
    permutation,
    sampled_rows,
    shares,
    stream,
    tree_key,
)
from treewright.lazy_import import loaded_kernels
from treewright.learners.sampling import mix_bits

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python

MASK, STEP = 2**64 - 1, 0x9E3779B97F4A7C15


@given(st.integers(0, MASK), st.integers(0, 30))
def test_the_stream_is_that_of_the_scalar_generator(key: int, n: int) -> None:
    state, expected = key, []
    for _ in range(n):
        expected.append(mix_bits(state))
        state = (state + STEP) & MASK
    assert stream(key, n).tolist() == expected


@given(st.integers(0, MASK), st.integers(1, 50), st.integers(0, 80))
def test_a_bootstrap_draws_as_many_cases_as_requested(key: int, n: int, size: int) -> None:
    times = bootstrap(key, n, size)
    assert len(times) == n
    assert times.sum() == size
    assert np.array_equal(times, np.bincount(sampled_rows(key, n, size), minlength=n))


@pytest.mark.parametrize(
    ("n", "size"), [(COMPILED_SAMPLE, None), (3, COMPILED_SAMPLE), (2 * COMPILED_SAMPLE, COMPILED_SAMPLE)]
)
@pytest.mark.parametrize("key", [0, 1, 2**63, MASK])
def test_large_samples_are_the_same_with_and_without_kernels(
    key: int, n: int, size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded_kernels, "kept", True)
    drawn = bootstrap(key, n, size)
    monkeypatch.setattr(loaded_kernels, "kept", False)
    interpreted = bootstrap(key, n, size)
    assert drawn.dtype == interpreted.dtype
    assert np.array_equal(drawn, interpreted)


@pytest.mark.parametrize("n", [200, 2000])
def test_about_37_percent_of_the_cases_are_out_of_bag(n: int) -> None:
    trees = 200
    out_of_bag_share = np.mean([np.mean(bootstrap(tree_key(5, tree), n) == 0) for tree in range(trees)])
    expected = (1 - 1 / n) ** n
    # Variance of the share left out (occupancy of n boxes by n balls): (e^-1 - 2 e^-2) / n.
    error = sqrt((exp(-1) - 2 * exp(-2)) / n / trees)
    assert abs(out_of_bag_share - expected) < 3 * error


def test_every_case_is_sampled_about_equally_often() -> None:
    times = np.sum([bootstrap(tree_key(1, tree), 50) for tree in range(400)], axis=0)
    assert times.min() > 400 - 5 * 20
    assert times.max() < 400 + 5 * 20


def test_keys_differ_by_seed_tree_and_purpose() -> None:
    keys = {tree_key(seed, tree, purpose) for seed in range(5) for tree in range(20) for purpose in range(4)}
    assert len(keys) == 5 * 20 * 4


@given(st.integers(0, MASK), st.integers(0, 60))
def test_a_permutation_has_every_number_once(key: int, n: int) -> None:
    assert sorted(permutation(key, n).tolist()) == list(range(n))


@given(st.integers(0, MASK), st.integers(1, 60))
def test_shares_are_below_one(key: int, n: int) -> None:
    found = shares(key, n)
    assert np.all((found >= 0) & (found < 1))


def test_a_balanced_bootstrap_has_as_many_of_each_class_as_the_rarest() -> None:
    target = np.array([0] * 90 + [2] * 10)
    times = balanced_bootstrap(3, target)
    assert times[:90].sum() == times[90:].sum() == 10
    half = balanced_bootstrap(3, target, 30)
    assert half[:90].sum() == half[90:].sum() == 15
