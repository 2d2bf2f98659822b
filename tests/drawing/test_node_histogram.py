"""Histograms of nodes: every case that reaches a node and has a value is in one bin, under its class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from drawn_trees import LINE, TENNIS, chain, numbers, regression
from random_tables import trees_and_cases
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.drawing.node_histogram import NodeHistogram, node_histograms
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.route import all_visits
from treewright.tree.split import KNOWN, NUMERIC_TESTS, Split
from treewright.tree.tree import Stop


def test_classes_stand_on_both_sides_of_the_cut() -> None:
    data = numbers(40)
    tree = fit(data, CART()).tree
    found = node_histograms(tree, data, range(tree.n_nodes), bins=4)
    root = found[0]
    assert (root.low, root.high) == (0.0, 39.0)
    assert root.cuts == (float(tree.cut[0]),)
    assert root.counts == ((10.0, 0.0), (0.0, 10.0), (10.0, 0.0), (10.0, 0.0))
    assert set(found) == {node for node in range(tree.n_nodes) if tree.attribute[node] >= 0}


def test_nominal_tests_and_leaves_have_none() -> None:
    assert node_histograms(TENNIS, sample("play-tennis"), range(8)) == {}


def test_cases_weigh_what_they_weigh() -> None:
    data = replace(numbers(8), weights=np.full(8, 2.5))
    tree = fit(numbers(8), CART()).tree
    assert sum(map(sum, node_histograms(tree, data, [0])[0].counts)) == 20.0


def test_without_target_the_cases_are_one_kind() -> None:
    data = numbers(8)
    tree = fit(data, CART()).tree
    assert node_histograms(tree, data.X, [0], bins=2)[0].counts == ((4.0,), (4.0,))
    tree, data = regression()
    assert node_histograms(tree, data, [0], bins=2)[0].counts == ((16.0,), (16.0,))


def test_test_for_known_values_has_no_cut_and_missing_values_are_not_shown() -> None:
    leaf = NodeRecord(1.0, np.array([1, 0]), 0, stop=Stop.PURE)
    root = NodeRecord(2.0, np.array([2, 0]), 0, Split.threshold(0, KNOWN, missing=1), [1, 2])
    tree, _ = build_tree(LINE, [root, leaf, leaf])
    data = Dataset(LINE, (np.array([3.0, np.nan, 5.0]),), 3, np.zeros(3, dtype=np.int32))
    only = node_histograms(tree, data, [0], bins=2)[0]
    assert (only.low, only.high, only.cuts) == (3.0, 5.0, ())
    assert only.counts == ((1.0, 0.0), (1.0, 0.0))


def test_node_that_no_case_reaches_has_none() -> None:
    tree = chain(3)
    data = Dataset(LINE, (np.array([0.0]),), 1, np.zeros(1, dtype=np.int32))
    assert set(node_histograms(tree, data, range(tree.n_nodes))) == {0}


@pytest.mark.parametrize("values", [[1.5, 1.5], [-1.7e308, 1.7e308], [0.0, 5e-324]])
def test_any_range_of_numbers_can_be_shown(values: list[float]) -> None:
    data = Dataset(LINE, (np.array(values),), 2, np.zeros(2, dtype=np.int32))
    only = node_histograms(chain(1), data, [0])[0]
    assert sum(map(sum, only.counts)) == 2.0
    assert all(0.0 <= only.share(value) <= 1.0 for value in (*values, 0.0))


def test_shares_and_ends() -> None:
    plot = NodeHistogram(0.0, 10.0, (1.0, 9.5), ((1.0,),))
    assert [plot.share(value) for value in (-5.0, 2.5, 20.0)] == [0.0, 0.25, 1.0]
    assert plot.ends() == ("", "")
    assert NodeHistogram(0.0, 10.0, (5.0,), ((1.0,),)).ends() == ("0", "10")
    assert NodeHistogram(3.0, 3.0, (3.0,), ((1.0,),)).share(3.0) == 0.5
    assert plot.to_dict() == {"low": 0.0, "high": 10.0, "cuts": [1.0, 9.5], "counts": [[1.0]]}


def test_wrong_wishes_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one bin"):
        node_histograms(chain(1), numbers(), [0], bins=0)
    with pytest.raises(ParameterError, match="schema of the tree"):
        node_histograms(chain(1), sample("play-tennis"), [0])


@settings(max_examples=80, deadline=None)
@given(trees_and_cases())
def test_every_share_of_a_case_with_a_value_is_counted_once(pair: Any) -> None:
    tree, data = pair
    found = node_histograms(tree, data, range(tree.n_nodes), bins=5)
    expected = np.zeros(tree.n_nodes)
    for visits in all_visits(tree, data):
        for row, node, share in zip(visits.rows, visits.nodes, visits.shares, strict=True):
            split = tree.split(int(node))
            if split is None or split.test not in NUMERIC_TESTS or np.isnan(data.columns[split.attribute][row]):
                continue
            expected[node] += share * (1.0 if data.weights is None else data.weights[row])
    for node in range(tree.n_nodes):
        counted = sum(map(sum, found[node].counts)) if node in found else 0.0
        assert counted == pytest.approx(expected[node])
