"""Pruning methods as values, holding cases out, and very deep trees under every method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from random_tables import datasets
from small_trees import random_cases
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3
from treewright.pruning.collapse import simplify
from treewright.pruning.cost_complexity import cost_complexity_path
from treewright.pruning.error_based import prune_error_based
from treewright.pruning.methods import (
    MDL,
    PRUNERS,
    ChiSquare,
    Collapse,
    CostComplexity,
    ErrorBased,
    Method,
    ReducedError,
    Simplify,
    prune,
    pruner_named,
    split_off,
)
from treewright.tree.tree import Tree

METHODS: tuple[Method, ...] = (
    Collapse(),
    Simplify(),
    ErrorBased(0.1, raising=False),
    ReducedError(0.25, 7),
    ChiSquare(0.01, bonferroni=True),
    MDL(),
    CostComplexity(0.02, "errors"),
)
"""One of each."""


@pytest.mark.parametrize("method", METHODS)
def test_a_method_comes_back_from_its_plain_form(method: Method) -> None:
    plain = method.to_dict()
    name = plain.pop("method")
    assert pruner_named(name, **plain) == method
    assert pruner_named(name.replace("_", "-"), **plain) == method
    assert method.describe()


def test_every_method_is_tried_here() -> None:
    assert [type(method) for method in METHODS] == list(PRUNERS.values())


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("error_base", {}, "'error_based'.*did you mean 'error_based'"),
        ("zzz", {}, "must be one of 'collapse', 'simplify', 'error_based'"),
        ("error-based", {"confidnce": 0.1}, "did you mean 'confidence'.*it has 'confidence', 'raising'"),
        ("mdl", {"alpha": 1}, "MDL has no parameter 'alpha'"),
        ("cost_complexity", {}, "needs 'alpha'"),
        ("cost_complexity", {"alpha": -1}, "at least 0"),
        ("cost_complexity", {"alpha": 1, "risk": "impurities"}, "'impurity', 'errors'"),
        ("cost_complexity", {"alpha": 1, "criterion": "chi2"}, "'gini', 'entropy'"),
        ("error_based", {"confidence": 0}, "above 0 and at most 1"),
        ("error_based", {"confidence": True}, "above 0 and at most 1"),
        ("error_based", {"confidence": "0.25"}, "above 0 and at most 1"),
        ("error_based", {"raising": "no"}, "True or False"),
        ("reduced_error", {"share": 1}, "between 0 and 1"),
        ("reduced_error", {"seed": -1}, "at least 0"),
        ("chi_square", {"significance": 5}, "between 0 and 1"),
        ("chi_square", {"bonferroni": 1}, "True or False"),
    ],
)
def test_what_is_not_allowed_is_reported(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        pruner_named(name, **parameters)


def test_methods_declare_which_cases_they_need() -> None:
    weather = sample("play-tennis")
    tree = fit(weather, ID3()).tree
    with pytest.raises(ParameterError, match="grown from"):
        prune(tree, ErrorBased(), None, weather)
    with pytest.raises(ParameterError, match="held out"):
        prune(tree, ReducedError(), weather)
    not_one: Any = "collapse"
    with pytest.raises(ParameterError, match="'Collapse', 'Simplify', 'ErrorBased'"):
        prune(tree, not_one)
    assert prune(tree, ErrorBased(0.1), weather).to_dict() == prune_error_based(tree, weather, 0.1).to_dict()


@given(st.integers(0, 500), st.sampled_from(METHODS))
def test_every_method_is_done_at_once(seed: int, method: Method) -> None:
    rng = np.random.default_rng(seed)
    cases, others = random_cases(rng, 60), random_cases(rng, 30)
    tree = fit(cases, CART()).tree
    pruned = prune(tree, method, cases, others)
    pruned.validate()
    assert len(pruned) <= len(tree)
    assert prune(pruned, method, cases, others).to_dict() == pruned.to_dict()


# -- holding cases out -------------------------------------------------------------------------------------


@given(datasets(max_rows=40), st.floats(0.05, 0.95), st.integers(0, 3))
def test_the_parts_make_the_whole_and_classes_keep_their_proportion(cases: Dataset, share: float, seed: int) -> None:
    assume(1 <= int(cases.n_rows * share) < cases.n_rows)
    numbered = Dataset(cases.schema, cases.columns, cases.n_rows, cases.target, np.arange(1.0, cases.n_rows + 1))
    grow_part, held_out = split_off(numbered, share, seed)
    rows = [np.asarray(part.weights) for part in (grow_part, held_out)]
    assert sorted(np.concatenate(rows)) == list(range(1, cases.n_rows + 1))
    assert all(np.all(np.diff(part) > 0) for part in rows)
    assert abs(len(held_out) - share * cases.n_rows) <= 1
    if cases.schema.task is Task.CLASSIFICATION:
        for code in range(len(cases.schema.classes)):
            here = np.count_nonzero(np.asarray(held_out.target) == code)
            assert abs(here - share * np.count_nonzero(np.asarray(cases.target) == code)) <= 1 + 1e-9


def test_seeds_decide_what_is_held_out() -> None:
    cases = random_cases(np.random.default_rng(0), 90)
    first, again, other = (split_off(cases, 1 / 3, seed)[1].columns[1].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_too_few_cases_or_no_target() -> None:
    weather = sample("play-tennis")
    with pytest.raises(ParameterError, match="too few"):
        split_off(weather.take([0, 1]), 0.3)
    with pytest.raises(ParameterError, match="target"):
        split_off(weather.X, 0.3)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        split_off(weather, 1.0)


# -- depth -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chain() -> tuple[Tree, Dataset]:
    """A tree 2,999 deep, from 3,000 cases with alternating classes."""
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    cases = Dataset(schema, (np.arange(3000.0),), 3000, (np.arange(3000) % 2).astype(np.int32))
    tree = fit(cases, CART()).tree
    assert tree.depth == 2999
    return tree, cases


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "most"),
    [
        (Collapse(), 5999),
        (ErrorBased(), 3),
        (ErrorBased(1.0), 5999),
        (ErrorBased(raising=False), 3),
        (ReducedError(), 5999),
        (ChiSquare(), 1),
        (ChiSquare(0.5), 5999),
        (MDL(), 1),
        (CostComplexity(0.0), 5999),
        (CostComplexity(1.0), 1),
    ],
)
def test_depth_costs_no_stack(method: Method, most: int, chain: tuple[Tree, Dataset]) -> None:
    tree, cases = chain
    pruned = prune(tree, method, cases, cases)
    assert len(pruned) <= most
    assert len(prune(pruned, method, cases, cases)) == len(pruned)


@pytest.mark.slow
def test_paths_and_simplifying_go_as_deep(chain: tuple[Tree, Dataset]) -> None:
    tree, _ = chain
    assert simplify(tree).depth == 2999
    path = cost_complexity_path(tree)
    assert path.leaves[-1] == 1
