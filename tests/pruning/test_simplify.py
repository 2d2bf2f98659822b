"""Taking out tests that decide nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import trees_and_cases
from small_trees import SCHEMA, random_cases
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, CART, ID3
from treewright.pruning.collapse import simplify
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel
from treewright.tree.route import main_leaves
from treewright.tree.split import FRACTIONAL, STAY, Split
from treewright.tree.tree import LEAF, Stop, Tree


def stump(counts: tuple[tuple[int, ...], ...], outcomes: tuple[int, ...], missing: int = 0) -> Tree:
    leaves = [
        NodeRecord(float(sum(own)), np.array(own), outcome, stop=Stop.TOO_FEW)
        for own, outcome in zip(counts[1:], outcomes[1:], strict=True)
    ]
    root = NodeRecord(float(sum(counts[0])), np.array(counts[0]), outcomes[0], Split.multiway(2, 2, missing), [1, 2])
    return build_tree(SCHEMA, [root, *leaves])[0]


def test_leaves_that_agree_become_one_with_the_same_prediction() -> None:
    pruned = simplify(stump(((2, 2, 0), (1, 1, 0), (1, 1, 0)), (0, 1, 1)))
    assert (len(pruned), pruned.outcome.tolist(), pruned.counts.tolist()) == (1, [1], [[2, 2, 0]])
    assert pruned.node(0).stop is Stop.PRUNED


def test_leaves_that_differ_stay_and_empty_ones_count() -> None:
    assert len(simplify(stump(((3, 2, 0), (3, 0, 0), (0, 2, 0)), (0, 0, 1)))) == 3
    assert len(simplify(stump(((3, 2, 0), (3, 2, 0), (0, 0, 0)), (0, 0, 2)))) == 3


def test_where_cases_stay_the_node_counts() -> None:
    counts = ((4, 2, 0), (0, 1, 0), (0, 1, 0))
    assert len(simplify(stump(counts, (0, 1, 1), STAY))) == 3
    assert len(simplify(stump(counts, (1, 1, 1), STAY))) == 1


def test_numbers_can_agree_too() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    for other, nodes in ((1.5, 1), (1.25, 3)):
        records = [
            NodeRecord(4.0, np.zeros(0), 1.5, Split.threshold(0, 0.0, 0), [1, 2], sse=2.0),
            NodeRecord(2.0, np.zeros(0), 1.5, stop=Stop.TOO_FEW, sse=1.0),
            NodeRecord(2.0, np.zeros(0), other, stop=Stop.TOO_FEW, sse=1.0),
        ]
        assert len(simplify(build_tree(schema, records)[0])) == nodes


@given(trees_and_cases())
def test_any_tree_keeps_its_predictions(both: tuple[Tree, Dataset]) -> None:
    tree, cases = both
    simple = simplify(tree)
    simple.validate()
    assert len(simple) <= len(tree)
    assert simplify(simple).to_dict() == simple.to_dict()
    if not np.any((tree.missing == FRACTIONAL) & (tree.attribute != LEAF)):
        assert simple.outcome[main_leaves(simple, cases)].tolist() == tree.outcome[main_leaves(tree, cases)].tolist()


@settings(max_examples=40)
@given(st.integers(0, 1000), st.sampled_from((ID3(max_depth=2), C45(), CART())))
def test_a_model_predicts_the_same(seed: int, recipe: Any) -> None:
    cases = random_cases(np.random.default_rng(seed), 60)
    model = fit(cases, recipe)
    simple = TreeModel(simplify(model.tree))
    assert simple.predict_codes(cases).tolist() == model.predict_codes(cases).tolist()
    assert simple.tree.errors[0] == pytest.approx(model.tree.errors[0])
