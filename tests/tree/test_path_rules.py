"""The rules of a tree predict the same as the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from drawn_trees import LINE, TENNIS, chain, numbers, regression
from random_tables import trees_and_cases
from treewright.data.samples import sample
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel
from treewright.tree.rules import path_rules
from treewright.tree.split import KNOWN, Split
from treewright.tree.tree import Stop


def test_one_rule_for_each_leaf_with_its_counts() -> None:
    rules = path_rules(TENNIS)
    assert [rule.covers for rule in rules.rules] == [3, 2, 4, 3, 2]
    assert all(rule.wrong == 0 for rule in rules.rules)
    data = sample("play-tennis")
    assert rules.predict_codes(data).tolist() == np.asarray(data.target).tolist()


def test_conditions_on_one_number_are_put_together() -> None:
    model = fit(numbers(), CART())
    rules = path_rules(model.tree)
    assert all(len(rule.conditions) <= 2 for rule in rules.rules)
    assert len(path_rules(chain(300)).rules) == 301
    assert len(path_rules(chain(300)).rules[-1].conditions) == 1


def test_branch_for_missing_values_alone_is_no_rule() -> None:
    leaf = NodeRecord(1.0, np.array([1, 0]), 0, stop=Stop.PURE)
    for split in (Split.intervals(0, (2.5,), missing=2), Split.threshold(0, KNOWN, missing=1)):
        root = NodeRecord(3.0, np.array([3, 0]), 0, split, [*range(1, split.n_branches + 1)])
        tree, _ = build_tree(LINE, [root, *[leaf] * split.n_branches])
        assert len(path_rules(tree)) == split.n_branches - 1
        assert len(tree.to_formula("a").conjunctions) == split.n_branches - 1


def test_tree_of_numbers_has_no_rules() -> None:
    with pytest.raises(ParameterError, match="rules predict classes, but this tree predicts numbers"):
        path_rules(regression()[0])


@settings(max_examples=100, deadline=None)
@given(trees_and_cases(Task.CLASSIFICATION))
def test_rules_that_fire_predict_as_the_tree_does(pair: Any) -> None:
    tree, cases = pair
    rules = path_rules(tree)
    leaves = TreeModel(tree).apply(cases)
    first = rules.first_match(cases)
    predicted = rules.predict_codes(cases)
    for row in np.flatnonzero(first >= 0):
        assert predicted[row] == tree.outcome[leaves[row]]
        assert tree.weight[leaves[row]] > 0
    assert all(rules.fires(rule) for rule in rules.rules)
