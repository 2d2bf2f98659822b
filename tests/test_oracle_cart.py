"""Unpruned CART has the gains of scikit-learn's tree at every split.

Where two splits are equally good scikit-learn takes one at random: such a pair must have equal gains and is followed
further down only if both split the cases in the same way. Node counts are compared only where
they do not depend on scikit-learn's seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from oracle_sets import load_json, load_set, oracle_folder, require_oracle, set_names
from treewright.data.dataset import Dataset
from treewright.fitting.learn import fit
from treewright.learners.criteria import total_entropy, total_gini
from treewright.learners.recipe import CART
from treewright.tree.tree import Tree

pytestmark = pytest.mark.oracle

Rows = npt.NDArray[np.intp]
CRITERIA = {"gini": "gini", "entropy": "entropy", "squared_error": "variance"}


def _runs() -> list[tuple[str, str]]:
    if oracle_folder() is None:
        return [("none", "gini")]
    names = set_names(having="sklearn.json")
    return [(name, run) for name in names for run in CRITERIA if run in load_json(name, "sklearn.json")["runs"]]


def _impurity(tree: Tree, run: str) -> Any:
    """Impurity per case of each node, as scikit-learn counts it."""
    if tree.sse is not None:
        return tree.sse / tree.weight
    totals = total_gini(tree.counts) if run == "gini" else total_entropy(tree.counts)
    return totals / tree.weight


def _gain(impurity: Any, weight: Any, node: int, left: int, right: int) -> float:
    after = (weight[left] * impurity[left] + weight[right] * impurity[right]) / weight[node]
    return float(impurity[node] - after)


def _check_errors(data: Dataset, tree: Tree, recorded: dict[str, Any]) -> None:
    leaves = [node.index for node in tree if node.is_leaf]
    if tree.sse is not None:
        assert tree.sse[leaves].sum() / data.n_rows == pytest.approx(recorded["train_mse"], rel=1e-6, abs=1e-9)
    else:
        assert tree.errors[leaves].sum() == recorded["train_errors"]


@pytest.mark.parametrize(("name", "run"), _runs())
def test_cart_splits_as_well_as_scikit_learn_everywhere(name: str, run: str) -> None:
    require_oracle()
    data = load_set(name)
    recorded = load_json(name, "sklearn.json")["runs"][run]
    tree = fit(data, CART(criterion=CRITERIA[run])).tree
    _check_errors(data, tree, recorded)
    counts = recorded["node_count_seeds_0_4"]
    if len(set(counts)) == 1:
        assert tree.n_nodes == counts[0]
    nodes = recorded["nodes"]
    ours, theirs = _impurity(tree, run), np.array(nodes["impurity"])
    weight = np.array(nodes["n"])
    features = recorded["features"]
    assert features == list(data.schema.attribute_names)
    waiting = [(0, 0, np.arange(data.n_rows))]
    while waiting:
        here, there, rows = waiting.pop()
        assert tree.weight[here] == weight[there] == len(rows)
        assert ours[here] == pytest.approx(theirs[there], rel=1e-8, abs=1e-9)
        left, right = nodes["children_left"][there], nodes["children_right"][there]
        if theirs[there] <= 1e-12 * theirs[0]:  # equal targets: what scikit-learn still splits there is rounding
            assert tree.attribute[here] < 0
            continue
        assert (tree.attribute[here] < 0) == (left < 0), f"{name}, node {here} against {there}"
        if left < 0:
            continue
        low, high = tree.children_of(here).tolist()
        gain = _gain(ours, tree.weight, here, low, high)
        # Recorded impurities have nine digits.
        assert gain == pytest.approx(_gain(theirs, weight, there, left, right), abs=1e-8 * max(theirs[there], 0.1))
        below, below_there = _left(tree, data, here, rows), _left_there(nodes, data, there, rows)
        if np.array_equal(below, ~below_there):
            left, right = right, left
        elif not np.array_equal(below, below_there):
            continue
        waiting += [(low, left, rows[below]), (high, right, rows[~below])]


def _left(tree: Tree, data: Dataset, node: int, rows: Rows) -> npt.NDArray[np.bool_]:
    split = tree.split(node)
    assert split is not None
    branches = split.route(data.columns[split.attribute][rows])
    left: npt.NDArray[np.bool_] = np.where(branches < 0, split.missing, branches) == 0
    return left


def _left_there(nodes: dict[str, Any], data: Dataset, node: int, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return what scikit-learn sends to the left; it compares numbers of 32 bits."""
    column = data.columns[nodes["feature"][node]][rows].astype(np.float32)
    below = column <= np.float32(float(nodes["threshold"][node]))
    left: npt.NDArray[np.bool_] = np.where(np.isnan(column), bool(nodes["missing_go_to_left"][node]), below)
    return left
