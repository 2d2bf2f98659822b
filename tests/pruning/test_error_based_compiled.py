"""The pruning kernel prunes as the readable pruner does, to the last bit where counts are whole."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from made_tables import difference, filled, made_table, recipes
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.fitting.learn import fit
from treewright.learners.grower import grow
from treewright.learners.pessimistic_error import extra_errors, squared_deviate
from treewright.learners.recipe import C45, CART, ID3, MissingPolicy
from treewright.plans import c45
from treewright.pruning import error_based
from treewright.pruning.error_based import ErrorBasedPruner, canonical_order, has_only_unit_weights, prune_error_based
from treewright.pruning.error_based_fractional_kernels import Cases, _digest_of, prune_fractional_cases
from treewright.pruning.error_based_kernels import extra_errors_of, prune_unit_cases
from treewright.pruning.methods import ErrorBased, prune
from treewright.tree.split import STAY

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python


def without_missing(table: Dataset) -> Dataset:
    columns = filled(table.columns)
    kept = table.weights is None or bool(np.all(table.weights == np.floor(table.weights)))
    return replace(table, columns=columns, weights=table.weights if kept else None)


@pytest.mark.parametrize("raising", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_the_kernel_prunes_as_the_readable_pruner(seed: int, raising: bool) -> None:
    table = without_missing(made_table(seed, rows=400))
    cases = table if table.weights is None else table.take(table.weights > 0)
    for recipe in (C45(min_objects=1), ID3(), CART(missing=MissingPolicy.MAJORITY), recipes(seed)[0]):
        tree = grow(MemoryEngine(cases), recipe).tree
        if tree.n_nodes == 1 or not has_only_unit_weights(tree, cases):
            continue
        for confidence in (0.25, 0.9):
            expected = ErrorBasedPruner(tree, cases, confidence, raising).run()[0]
            found = prune_unit_cases(tree, cases, confidence, raising=raising)
            assert difference(expected, found, exact=True) is None
            assert np.array_equal(np.asarray(expected.estimate), np.asarray(found.estimate))


def test_extra_errors_have_the_bits_of_the_readable_function() -> None:
    for confidence in (0.01, 0.25, 1.0):
        for n in (0.0, 1.0, 6.0, 16.0, 1e6):
            for errors in (0.0, 0.5, 1.0, 3.6, n / 2, n):
                expected = extra_errors(n, errors, confidence)
                assert extra_errors_of(n, errors, confidence, squared_deviate(confidence)) == expected


def test_large_tables_are_pruned_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    table = without_missing(made_table(1, rows=400))
    tree = grow(MemoryEngine(table), C45()).tree
    readable = prune_error_based(tree, table)
    monkeypatch.setattr("treewright.learners.grower.COMPILED_CELLS", 1)
    assert difference(readable, prune_error_based(tree, table), exact=True) is None


@pytest.mark.parametrize("raising", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_fractional_cases_are_pruned_as_by_the_readable_pruner(seed: int, raising: bool) -> None:
    table = made_table(seed, rows=300)
    cases = table if table.weights is None else table.take(table.weights > 0)
    fractional = grow(MemoryEngine(cases, fractional=True), C45(min_objects=1)).tree
    staying = replace(
        fractional, missing=np.where(fractional.attribute >= 0, STAY, fractional.missing).astype(np.int32)
    )
    some = np.where(np.arange(len(fractional)) % 2 == 0, staying.missing, fractional.missing).astype(np.int32)
    for tree in (fractional, staying, replace(fractional, missing=some)):
        if tree.n_nodes == 1 or has_only_unit_weights(tree, cases):
            continue
        for confidence in (0.25, 0.9):
            expected = ErrorBasedPruner(tree, cases, confidence, raising).run()[0]
            found = prune_fractional_cases(tree, cases, canonical_order(cases), confidence, raising=raising)
            assert difference(expected, found, exact=False) is None
            assert np.allclose(np.asarray(expected.estimate), np.asarray(found.estimate), rtol=1e-9, atol=1e-9)


def test_large_tables_with_missing_values_are_pruned_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    table = next(t for t in (made_table(seed, rows=400) for seed in range(100)) if t.has_missing and t.n_rows > 300)
    tree = grow(MemoryEngine(table, fractional=True), C45(min_objects=1)).tree
    assert not has_only_unit_weights(tree, table)
    readable = prune_error_based(tree, table)
    monkeypatch.setattr("treewright.learners.grower.COMPILED_CELLS", 1)
    monkeypatch.setattr(error_based, "ErrorBasedPruner", None)
    assert difference(readable, prune_error_based(tree, table), exact=False) is None


def test_a_digest_distinguishes_other_cases_and_other_weights() -> None:
    rows, weights = np.arange(2_000_000, 2_000_010, dtype=np.int32), np.linspace(0.1, 1.0, 10)
    digest = _digest_of(Cases(rows, weights), 0, 10)
    assert _digest_of(Cases(rows.copy(), weights.copy()), 0, 10) == digest
    other_rows, other_weights = rows.copy(), weights.copy()
    other_rows[9] -= 1 << 20  # what is taken from the row is added to the exponent of the weight
    other_weights[9] *= 2
    assert _digest_of(Cases(other_rows, other_weights), 0, 10) != digest
    assert _digest_of(Cases(rows, other_weights), 0, 10) != digest
    assert _digest_of(Cases(other_rows, weights), 0, 10) != digest
    assert _digest_of(Cases(rows, weights), 0, 9) != digest


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
@pytest.mark.parametrize("missing", [False, True])
def test_the_engine_of_a_fit_prunes_too(engine: str, missing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.learners.grower.COMPILED_CELLS", 1)
    # Beyond this number of rows compiled pruning runs in a thread of its own.
    monkeypatch.setattr("treewright.plans.UNINTERRUPTED_CASES", 350)
    tables = (made_table(seed, rows=400) for seed in range(100))
    table = next(t for t in tables if t.has_missing and t.n_rows > 350)
    table = replace(table if missing else without_missing(table), weights=None)
    called: list[str] = []

    def counted(module: str, kernel: str) -> None:
        real = getattr(import_module(module), kernel)

        def call(*given: Any, **options: Any) -> Any:
            called.append(kernel)
            return real(*given, **options)

        monkeypatch.setattr(f"{module}.{kernel}", call)

    counted("treewright.pruning.error_based_kernels", "prune_unit_cases")
    counted("treewright.pruning.error_based_fractional_kernels", "prune_fractional_cases")
    pruned = fit(table, c45(min_objects=1), keep_trace=False, engine=engine).tree
    expected = "prune_fractional_cases" if missing else "prune_unit_cases"
    assert called == ([expected] if engine == "compiled" else [])
    again = prune(fit(table, C45(min_objects=1)).tree, ErrorBased(), table, engine="interpreted")
    assert difference(again, pruned, exact=False) is None
