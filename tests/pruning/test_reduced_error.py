"""Reduced-error pruning: hand-made counts, numbers, fractional cases, and its promises on any tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from random_tables import trees_and_cases
from small_trees import SCHEMA, random_cases, table
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import DataError
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, ID3
from treewright.pruning.reduced_error import prune_reduced_error
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel
from treewright.tree.route import leaf_visits
from treewright.tree.split import STAY, Split
from treewright.tree.tree import Stop, Tree


def two_levels(missing: int = 0) -> Tree:
    """Flag no: size <= 3 predicts a, else b; flag yes: c."""
    records = [
        NodeRecord(10.0, np.array([4, 3, 3]), 0, Split.multiway(2, 2, missing), [1, 4]),
        NodeRecord(7.0, np.array([4, 3, 0]), 0, Split.threshold(1, 3.0, missing), [2, 3]),
        NodeRecord(4.0, np.array([4, 0, 0]), 0, stop=Stop.PURE),
        NodeRecord(3.0, np.array([0, 3, 0]), 1, stop=Stop.PURE),
        NodeRecord(3.0, np.array([0, 0, 3]), 2, stop=Stop.PURE),
    ]
    return build_tree(SCHEMA, records)[0]


def case(size: float | None, flag: str | None, target: str) -> tuple[Any, ...]:
    return "red", size, flag, 0.0, target


def test_ties_prune_and_training_counts_stay() -> None:
    validation = table(SCHEMA, [case(5.0, "no", "b"), case(5.0, "no", "a"), case(1.0, "yes", "c")])
    pruned = prune_reduced_error(two_levels(), validation)  # one error with the test of size, one without
    assert pruned.counts.tolist() == [[4, 3, 3], [4, 3, 0], [0, 0, 3]]
    assert pruned.node(1).stop is Stop.PRUNED


def test_a_test_that_saves_one_error_stays() -> None:
    validation = table(SCHEMA, [case(5.0, "no", "b"), case(1.0, "yes", "c")])
    assert len(prune_reduced_error(two_levels(), validation)) == 5
    heavy = replace(table(SCHEMA, [case(5.0, "no", "b"), case(5.0, "no", "a")]), weights=np.array([1.0, 1.5]))
    assert len(prune_reduced_error(two_levels(), heavy)) == 1


def test_what_no_case_reaches_goes() -> None:
    validation = table(SCHEMA, [case(1.0, "yes", "c"), case(9.0, "yes", "c")])
    assert len(prune_reduced_error(two_levels(), validation)) == 3


def test_parts_of_cases_count_by_weight() -> None:
    # Without a flag 7/10 of the case go to the test of size and are wrong there, 3/10 are right.
    tree = two_levels(missing=-1)
    lost = table(SCHEMA, [case(1.0, None, "c")])
    assert len(prune_reduced_error(tree, lost)) == 3  # at the root 1 error, below it 0.7
    both = table(SCHEMA, [case(1.0, None, "c"), case(1.0, None, "a")])
    assert len(prune_reduced_error(tree, both)) == 1  # 1 error at the root, 0.7 + 0.3 below it


def test_what_no_branch_takes_counts_as_the_nodes_own() -> None:
    # Pruning by raising can leave branches that do not add up to their node: half of a case without a flag is lost.
    records = [
        NodeRecord(10.0, np.array([10, 0, 0]), 0, Split.multiway(2, 2), [1, 2]),
        NodeRecord(2.0, np.array([0, 0, 2]), 2, stop=Stop.PURE),
        NodeRecord(3.0, np.array([0, 3, 0]), 1, stop=Stop.PURE),
    ]
    tree = build_tree(SCHEMA, records)[0]
    unlike = table(SCHEMA, [case(1.0, None, "c")])
    assert len(prune_reduced_error(tree, unlike)) == 3  # 1 error at the root; 0.3 below, and 0.5 that is lost
    both = table(SCHEMA, [case(1.0, None, "c"), case(1.0, None, "a")])
    assert len(prune_reduced_error(tree, both)) == 1  # 1 error at the root; 0.3 + 0.5 below, and 0.5 that is lost


def test_cases_that_stay_are_answered_by_the_node() -> None:
    tree = two_levels(missing=STAY)
    validation = table(SCHEMA, [case(1.0, None, "a"), case(1.0, None, "b"), case(1.0, "yes", "c")])
    assert len(prune_reduced_error(tree, validation)) == 3  # 1 error below the root, 2 at the root


def numeric_tree() -> tuple[Schema, Tree]:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    nothing = np.zeros(0)
    records = [
        NodeRecord(4.0, nothing, 2.0, Split.threshold(0, 1.0, 0), [1, 2], sse=4.0),
        NodeRecord(2.0, nothing, 1.0, stop=Stop.PURE, sse=0.0),
        NodeRecord(2.0, nothing, 3.0, stop=Stop.PURE, sse=0.0),
    ]
    return schema, build_tree(schema, records)[0]


def test_numbers_are_pruned_by_squared_error() -> None:
    schema, tree = numeric_tree()
    for targets, nodes in (((1.0, 3.0), 3), ((2.0, 2.0), 1), ((1.5, 2.5), 1), ((1.4, 2.5), 3)):
        cases = Dataset(schema, (np.array([0.0, 5.0]),), 2, np.array(targets))
        assert len(prune_reduced_error(tree, cases)) == nodes, targets


def test_cases_of_another_kind_are_refused() -> None:
    _, tree = numeric_tree()
    with pytest.raises(DataError, match="columns"):
        prune_reduced_error(tree, table(SCHEMA, [case(1.0, "no", "a")]))
    with pytest.raises(DataError, match="no cases"):
        prune_reduced_error(two_levels(), table(SCHEMA, [case(1.0, "no", "a")]).take([]))


def error(tree: Tree, cases: Dataset) -> float:
    """Return the error of the leaves, part by part."""
    total = 0.0
    weights = np.ones(cases.n_rows) if cases.weights is None else cases.weights
    for visits in leaf_visits(tree, cases):
        target, predicted = np.asarray(cases.target)[visits.rows], tree.outcome[visits.nodes]
        loss = (target - predicted) ** 2 if tree.is_regression else target != predicted
        total += float((weights[visits.rows] * visits.shares * loss).sum())
    return total


@given(trees_and_cases())
def test_any_tree(both: tuple[Tree, Dataset]) -> None:
    tree, cases = both
    assume(cases.weights is None or cases.weights.any())
    assume(not tree.is_regression or float(np.abs(np.asarray(cases.target)).max()) < 1e9)
    pruned = prune_reduced_error(tree, cases)
    pruned.validate()
    assert len(pruned) <= len(tree)
    assert prune_reduced_error(pruned, cases) is pruned
    if all(tree.missing[node] != -1 for node in range(len(tree)) if tree.attribute[node] >= 0):
        assert error(pruned, cases) <= error(tree, cases) * (1 + 1e-9) + 1e-9


@given(st.integers(0, 1000), st.sampled_from((ID3(), C45())))
def test_predictions_on_the_validation_cases_do_not_get_worse(seed: int, recipe: Any) -> None:
    rng = np.random.default_rng(seed)
    model = fit(random_cases(rng, 80), recipe)
    validation = random_cases(rng, 40)
    pruned = TreeModel(prune_reduced_error(model.tree, validation))
    right = [np.count_nonzero(one.predict_codes(validation) == validation.target) for one in (model, pruned)]
    assert right[1] >= right[0]
    assert model.tree.schema.task is Task.CLASSIFICATION
