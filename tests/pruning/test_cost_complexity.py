"""Weakest-link pruning: by hand, against every subtree, and against scikit-learn, live and recorded."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from oracle_sets import load_json, load_set, set_names
from random_tables import schemas, trees_of
from small_trees import SCHEMA
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART
from treewright.pruning.cost_complexity import Impurity, cost_complexity_path, prune_cost_complexity
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import STAY, Split
from treewright.tree.tree import LEAF, Stop, Tree


def node(split: Split | None, children: list[int], *counts: float) -> NodeRecord:
    stop = None if split else Stop.NO_GAIN
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), split, children, stop)


def example() -> Tree:
    """Twenty cases: the test of size saves one error, that of flag seven with two leaves more."""
    records = [
        node(Split.multiway(2, 2), [1, 4], 10, 10, 0),
        node(Split.threshold(1, 2.0), [2, 3], 9, 3, 0),
        node(None, [], 8, 1, 0),
        node(None, [], 1, 2, 0),
        node(None, [], 1, 7, 0),
    ]
    return build_tree(SCHEMA, records)[0]


def test_the_path_by_hand() -> None:
    path = cost_complexity_path(example(), "errors")
    assert path.leaves.tolist() == [3, 2, 1]
    assert path.risks.tolist() == pytest.approx([3 / 20, 4 / 20, 10 / 20])
    assert path.alphas.tolist() == pytest.approx([0, 1 / 20, 6 / 20])
    for alpha, leaves in ((0.0, 3), (0.049, 3), (0.05, 2), (0.29, 2), (0.3, 1), (5.0, 1)):
        assert prune_cost_complexity(example(), alpha, "errors").n_leaves == leaves


def test_impurities_by_hand() -> None:
    gini = cost_complexity_path(example()).risks * 20
    leaves = [9 - 65 / 9, 3 - 5 / 3, 8 - 50 / 8]
    assert gini.tolist() == pytest.approx([sum(leaves), 12 - 90 / 12 + leaves[2], 10])
    bits = cost_complexity_path(example(), criterion="entropy").risks * 20
    assert bits[-1] == pytest.approx(20)


def test_cases_that_stay_keep_their_risk() -> None:
    records = [node(Split.multiway(2, 2, STAY), [1, 2], 12, 11, 0), node(None, [], 10, 0, 0), node(None, [], 0, 10, 0)]
    tree = build_tree(SCHEMA, records)[0]
    assert cost_complexity_path(tree, "errors").risks.tolist() == pytest.approx([1 / 23, 11 / 23])
    assert cost_complexity_path(tree).risks[0] == pytest.approx((3 - 5 / 3) / 23)
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    numbers = [  # 0, 0 go left, 6, 6 right, 2 and 4 stay
        NodeRecord(6.0, np.zeros(0), 3.0, Split.threshold(0, 0.5, STAY), [1, 2], sse=38.0),
        NodeRecord(2.0, np.zeros(0), 0.0, stop=Stop.PURE, sse=0.0),
        NodeRecord(2.0, np.zeros(0), 6.0, stop=Stop.PURE, sse=0.0),
    ]
    assert cost_complexity_path(build_tree(schema, numbers)[0]).risks.tolist() == pytest.approx([2 / 6, 38 / 6])


def test_a_single_leaf_has_a_path_of_one() -> None:
    only = build_tree(SCHEMA, [node(None, [], 3, 1, 0)])[0]
    path = cost_complexity_path(only)
    assert (path.alphas.tolist(), path.leaves.tolist()) == ([0.0], [1])
    assert prune_cost_complexity(only, 1.0) is only


def test_wrong_names_and_prices_are_refused() -> None:
    wrong: Any = "error"
    with pytest.raises(ParameterError, match=r"'impurity', 'errors'.*did you mean 'errors'"):
        cost_complexity_path(example(), wrong)
    with pytest.raises(ParameterError, match="'gini', 'entropy'"):
        cost_complexity_path(example(), "impurity", wrong)
    for alpha in (-0.1, float("nan")):
        with pytest.raises(ParameterError, match="alpha"):
            prune_cost_complexity(example(), alpha)
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    only = build_tree(schema, [NodeRecord(3.0, np.zeros(0), 1.0, stop=Stop.PURE, sse=2.0)])[0]
    with pytest.raises(ParameterError, match="'impurity'"):
        cost_complexity_path(only, "errors")


# -- against every subtree ---------------------------------------------------------------------------------


def subtrees(tree: Tree, risks: Any, index: int = 0) -> list[tuple[float, int]]:
    """Return risk and leaves of every way to cut below a node."""
    found = [(float(risks[index]), 1)]
    below = [subtrees(tree, risks, int(child)) for child in tree.children_of(index)]
    for parts in product(*below) if below else ():
        found.append((sum(risk for risk, _ in parts), sum(leaves for _, leaves in parts)))
    return found


@given(schemas(Task.CLASSIFICATION).flatmap(lambda schema: trees_of(schema, max_tests=3)), st.floats(0, 0.5))
def test_no_subtree_is_cheaper(tree: Tree, alpha: float) -> None:
    path = cost_complexity_path(tree, "errors")
    pruned = prune_cost_complexity(tree, alpha, "errors")
    pruned.validate()
    assert np.all(np.diff(path.alphas) >= 0)
    assert np.all(np.diff(path.leaves) < 0)
    assert np.all(np.diff(path.risks) >= -1e-12)
    again = cost_complexity_path(pruned, "errors")
    assert prune_cost_complexity(pruned, alpha, "errors") is pruned
    if np.any((tree.missing == STAY) & (tree.attribute != LEAF)):
        return  # what stays at a node is not in its branches
    total = float(tree.weight[0]) or 1.0
    least = min(risk + alpha * leaves for risk, leaves in subtrees(tree, tree.errors / total))
    assert again.risks[0] + alpha * pruned.n_leaves == pytest.approx(least, abs=1e-9)


# -- scikit-learn ------------------------------------------------------------------------------------------


def tree_of_sklearn(model: Any) -> Tree:
    """Make our tree of the arrays of theirs."""
    theirs = model.tree_
    columns = [Column(f"x{position}", Kind.NUMERIC) for position in range(model.n_features_in_)]
    classes = getattr(model, "classes_", None)
    target = Column("y", Kind.NUMERIC) if classes is None else Column("y", Kind.NOMINAL, tuple(map(str, classes)))
    records = []
    for index in range(theirs.node_count):
        weight = float(theirs.weighted_n_node_samples[index])
        children = [int(theirs.children_left[index]), int(theirs.children_right[index])]
        split = (
            Split.threshold(int(theirs.feature[index]), float(theirs.threshold[index])) if children[0] >= 0 else None
        )
        if classes is None:
            own = NodeRecord(weight, np.zeros(0), float(theirs.value[index, 0, 0]), sse=theirs.impurity[index] * weight)
        else:
            counts = np.round(theirs.value[index, 0] * weight, 6)
            own = NodeRecord(weight, counts, int(np.argmax(counts)))
        own.split, own.children, own.stop = split, children if split else [], None if split else Stop.PURE
        records.append(own)
    return build_tree(Schema((*columns, target), target="y"), records)[0]


@cache
def bundled(name: str) -> tuple[Any, Any]:
    loaders = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "diabetes": load_diabetes}
    X, y = loaders[name](return_X_y=True)
    return X, y


@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        *product(("iris", "wine", "breast cancer"), ("gini", "entropy")),
        ("diabetes", "squared_error"),
    ],
)
def test_the_path_of_scikit_learn(name: str, criterion: str) -> None:
    X, y = bundled(name)
    maker = DecisionTreeRegressor if name == "diabetes" else DecisionTreeClassifier
    tree = tree_of_sklearn(maker(criterion=criterion, random_state=0).fit(X, y))
    impurity: Impurity = "entropy" if criterion == "entropy" else "gini"
    model: Any = maker(criterion=criterion, random_state=0)
    theirs = model.cost_complexity_pruning_path(X, y)
    ours = cost_complexity_path(tree, "impurity", impurity)
    assert ours.alphas.tolist() == pytest.approx(theirs.ccp_alphas.tolist(), rel=1e-9, abs=1e-9)
    assert ours.risks.tolist() == pytest.approx(theirs.impurities.tolist(), rel=1e-9, abs=1e-9)
    between = (theirs.ccp_alphas[1:] + theirs.ccp_alphas[:-1])[np.diff(theirs.ccp_alphas) > 1e-9] / 2
    for alpha in between[:: max(1, len(between) // 12)].tolist():
        pruned = tree_of_sklearn(maker(criterion=criterion, random_state=0, ccp_alpha=alpha).fit(X, y))
        own = prune_cost_complexity(tree, alpha, "impurity", impurity)
        assert own.attribute.tolist() == pruned.attribute.tolist()
        assert np.array_equal(own.cut, pruned.cut, equal_nan=True)


def recorded_runs() -> list[tuple[str, str]]:
    """Return the numeric runs with a recorded path and a node count that does not vary with the seed."""
    return [
        (name, run)
        for name in set_names(having="sklearn.json")
        for run, result in load_json(name, "sklearn.json")["runs"].items()
        if "ccp" in result and result["encoding"] == "numeric" and len(set(result["node_count_seeds_0_4"])) == 1
    ]


def last_of_equals(alphas: Any, risks: Any) -> list[float]:
    """Return the different alphas, each followed by the risk of the last tree that has it.

    Where a node and one below it are equally weak, rounding decides in scikit-learn whether there are two steps or one
    (balance-scale: 77 instead of our 73 steps, but the same 39 different alphas).
    """
    steep, total = np.asarray(alphas), np.asarray(risks)
    last = np.append(np.diff(steep) > 1e-7 * steep[1:], True)
    return np.column_stack((steep[last], total[last])).ravel().tolist()


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "run"), recorded_runs())
def test_the_recorded_paths_come_out_of_our_own_trees(name: str, run: str) -> None:
    recorded = load_json(name, "sklearn.json")["runs"][run]
    cases = load_set(name)
    numeric = cases.schema.task is Task.REGRESSION
    tree = fit(cases, CART() if numeric else CART(criterion=run)).tree
    assert len(tree) == recorded["node_count"]
    path = cost_complexity_path(tree, "impurity", "entropy" if run == "entropy" else "gini")
    theirs = last_of_equals(recorded["ccp"]["ccp_alphas"], recorded["ccp"]["impurities"])
    assert last_of_equals(path.alphas, path.risks) == pytest.approx(theirs, rel=1e-8, abs=1e-8)
