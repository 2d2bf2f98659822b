"""The kernel is used where routing takes longer than loading it."""

from __future__ import annotations

import pytest

from treewright.lazy_import import loaded_kernels
from treewright.tree.route import (
    MANY_FOR_LOADED_ENGINE,
    MANY_FOR_LOADED_KERNEL,
    MANY_VISITS,
    NODES_PER_VISIT,
    by_kernel,
)


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(loaded_kernels, "kept", False)
    monkeypatch.setattr(loaded_kernels, "routing", False)
    return monkeypatch


def least(nodes: int = 3, most: int = 2 * MANY_VISITS) -> int:
    """Return the least number of visits for which the kernel is used."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if by_kernel(middle, nodes) else (middle + 1, high)
    return low


def test_a_process_without_kernels_loads_them_for_very_many_cases_only(nothing_loaded: pytest.MonkeyPatch) -> None:
    assert least() == MANY_VISITS


def test_an_engine_that_was_used_before_makes_the_kernel_cheaper(nothing_loaded: pytest.MonkeyPatch) -> None:
    nothing_loaded.setattr(loaded_kernels, "kept", True)
    assert least() == MANY_FOR_LOADED_ENGINE


def test_without_a_cache_for_compiled_code_the_kernel_is_compiled_for_very_many_cases_only(
    nothing_loaded: pytest.MonkeyPatch,
) -> None:
    nothing_loaded.setattr(loaded_kernels, "kept", False)
    assert least() == MANY_VISITS


def test_a_kernel_that_was_used_before_is_used_again(nothing_loaded: pytest.MonkeyPatch) -> None:
    nothing_loaded.setattr(loaded_kernels, "routing", True)
    assert least() == MANY_FOR_LOADED_KERNEL


def test_few_cases_do_not_make_all_nodes_of_a_large_forest_ready(nothing_loaded: pytest.MonkeyPatch) -> None:
    nothing_loaded.setattr(loaded_kernels, "routing", True)
    nodes = 1000 * MANY_FOR_LOADED_KERNEL
    assert least(nodes) == nodes // NODES_PER_VISIT
