"""Histograms of the numbers that nodes test."""

from __future__ import annotations

import numpy as np
import pytest

from small_trees import random_cases
from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.fitting.learn import fit
from treewright.html_report import node_panel
from treewright.html_report.node_panel import node_plots


def test_every_node_that_tests_a_number_has_one_with_its_cut() -> None:
    data = random_cases(np.random.default_rng(41), 200)
    tree = fit(data, plans.cart()).tree
    plots = node_plots(tree, data)
    numeric = {node.index for node in tree if not node.is_leaf and node.attribute.is_numeric}
    assert {int(node) for node in plots} == numeric
    for node, (low, high, cuts, counts) in plots.items():
        assert cuts == [tree.cut[int(node)]]
        assert low <= high
        assert np.sum(counts) == pytest.approx(tree.weight[int(node)])


def test_the_upper_nodes_come_first_and_many_classes_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_cases(np.random.default_rng(42), 300)
    tree = fit(data, plans.cart()).tree
    monkeypatch.setattr(node_panel, "MOST_NODES", 9)
    few = node_plots(tree, data)
    assert max(tree.depths[int(node)] for node in few) <= 4
    monkeypatch.setattr(node_panel, "MOST_CLASSES", 2)
    assert all(len(row) == 1 for _, _, _, counts in node_plots(tree, data).values() for row in counts)


def test_numbers_as_target_and_samples_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.arange(100.0),), 100, np.arange(100.0))
    tree = fit(data, plans.cart()).tree
    monkeypatch.setattr(node_panel, "MOST_ROWS", 40)
    assert np.sum(node_plots(tree, data)["0"][3]) == 40
