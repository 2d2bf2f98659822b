"""CART by absolute error: medians, costs and tests against plain definitions and scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from treewright import CARTRegressor
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError
from treewright.learners.median_cart import MedianCart, grow_median_cart, running_costs, weighted_median
from treewright.learners.recipe import MissingPolicy, Stopping
from treewright.tree.route import all_visits, main_leaves
from treewright.tree.split import KNOWN
from treewright.tree.tree import Stop, Tree

VALUES = ("u", "v", "w")
CASES = st.lists(
    st.tuples(st.sampled_from([-3.0, 0.0, 0.5, 2.0, 1e6]), st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=12
)


def dataset(columns: dict[str, list[Any]], y: list[float], weights: list[float] | None = None) -> Dataset:
    """Make a dataset: floats are numbers, ints codes of nominal values, of ordinal ones in a column "o"."""
    kinds = [
        Column(name, Kind.NUMERIC)
        if any(isinstance(cell, float) for cell in cells)
        else Column(name, Kind.ORDINAL if name == "o" else Kind.NOMINAL, VALUES)
        for name, cells in columns.items()
    ]
    return Dataset(
        Schema((*kinds, Column("y", Kind.NUMERIC)), target="y"),
        tuple(
            np.array(cells, np.float64) if kind.is_numeric else np.array(cells, np.int32)
            for kind, cells in zip(kinds, columns.values(), strict=True)
        ),
        len(y),
        np.array(y),
        None if weights is None else np.array(weights),
    )


def plain_cost(cases: list[tuple[float, float]]) -> float:
    """The least sum of weighted deviations; one of the numbers is always among the minimisers."""
    return min((sum(w * abs(y - centre) for y, w in cases) for centre, _ in cases), default=0.0)


# -- medians and costs -----------------------------------------------------------------------------------------------


@given(CASES)
def test_the_median_costs_least(cases: list[tuple[float, float]]) -> None:
    y, w = (np.array(column) for column in zip(*cases, strict=True))
    median = weighted_median(y, w)
    assert (w * np.abs(y - median)).sum() == pytest.approx(plain_cost(cases))
    assert w[y < median].sum() <= w.sum() / 2
    assert w[y > median].sum() <= w.sum() / 2


def test_an_even_share_on_both_sides_gives_the_middle() -> None:
    assert weighted_median(np.array([4.0, 1.0, 2.0, 9.0]), np.ones(4)) == 3.0
    assert weighted_median(np.array([1.0, 2.0]), np.array([0.1, 0.3])) == 2.0


@given(CASES, CASES)
def test_running_costs_are_those_of_every_beginning(
    before: list[tuple[float, float]], cases: list[tuple[float, float]]
) -> None:
    y, w = (np.array(column) for column in zip(*cases, strict=True))
    first = tuple(np.array(column) for column in zip(*before, strict=True))
    plain = [plain_cost(cases[:n]) for n in range(1, len(cases) + 1)]
    assert running_costs(y, w).tolist() == pytest.approx(plain, abs=1e-6)
    plain = [plain_cost(before + cases[:n]) for n in range(1, len(cases) + 1)]
    assert running_costs(y, w, (first[0], first[1])).tolist() == pytest.approx(plain, abs=1e-6)


# -- trees against scikit-learn --------------------------------------------------------------------------------------


def costs_of(tree: Tree, data: Dataset) -> tuple[dict[int, Any], dict[int, float]]:
    """Return the rows and the cost of each node."""
    assert data.target is not None
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    rows: dict[int, Any] = {}
    for visits in all_visits(tree, data):
        for node in np.unique(visits.nodes).tolist():
            rows[node] = visits.rows[visits.nodes == node]
    costs = {
        node: float((weights[here] * np.abs(data.target[here] - tree.outcome[node])).sum())
        for node, here in rows.items()
    }
    return rows, costs


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_every_test_is_as_good_as_scikit_learns_best(seed: int, weighted: bool) -> None:
    """Compared node by node, since whole trees may differ where two tests are equally good."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    X, y = rng.normal(size=(n, 3)).round(1), rng.normal(size=n).round(1 + seed % 2)
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    data = dataset({f"x{k}": X[:, k].tolist() for k in range(3)}, y.tolist(), weights.tolist() if weighted else None)
    tree = grow_median_cart(data, MedianCart(Stopping(max_depth=4))).tree
    rows, costs = costs_of(tree, data)
    checked = 0
    for node, here in rows.items():
        stump = DecisionTreeRegressor(criterion="absolute_error", max_depth=1, random_state=0)
        predicted = stump.fit(X[here], y[here], weights[here]).predict(X[here])
        if tree.node(node).is_leaf:
            assert tree.node(node).stop in (Stop.DEPTH, Stop.PURE, Stop.NO_GAIN)
            continue
        below = sum(costs[child] for child in tree.children_of(node).tolist())
        assert below == pytest.approx(float((weights[here] * np.abs(y[here] - predicted)).sum()), abs=1e-9)
        checked += 1
    assert checked >= 1


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_same_total_error_as_scikit_learn(depth: int) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    y = np.abs(X[:, 0]) * 3 + rng.standard_cauchy(60)
    ours = CARTRegressor(criterion="absolute_error", max_depth=depth).fit(X, y)
    theirs = DecisionTreeRegressor(criterion="absolute_error", max_depth=depth, random_state=0).fit(X, y)
    assert np.abs(y - ours.predict(X)).sum() == pytest.approx(np.abs(y - theirs.predict(X)).sum())


@pytest.mark.parametrize(
    "limit", [{"max_leaf_nodes": 5}, {"min_samples_leaf": 9}, {"min_impurity_decrease": 0.05}], ids=str
)
def test_limits_mean_what_they_mean_in_scikit_learn(limit: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=80) / 4
    ours = CARTRegressor(criterion="absolute_error", **limit).fit(X, y)
    theirs = DecisionTreeRegressor(criterion="absolute_error", random_state=0, **limit).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.predict(X) == pytest.approx(theirs.predict(X))


# -- by hand ---------------------------------------------------------------------------------------------------------


def test_an_outlier_moves_the_mean_but_not_the_tree() -> None:
    X = np.arange(8.0)[:, None]
    y = np.array([1.0, 1.0, 1.0, 900.0, 2.0, 2.0, 2.0, 2.0])
    fitted = CARTRegressor(criterion="absolute_error", max_depth=1, min_samples_leaf=4).fit(X, y)
    assert fitted.predict([[0.0], [9.0]]).tolist() == [1.0, 2.0]
    assert fitted.feature_importances_.tolist() == [1.0]
    assert fitted.model_.recipe["options"]["learner"] == "MedianLearner"


def test_nominal_values_are_ordered_by_their_medians() -> None:
    data = dataset({"f": [0, 0, 1, 1, 2, 2, -1]}, [1.0, 2.0, 9.0, 9.0, 1.0, 1.5, 9.0])
    split = grow_median_cart(data, MedianCart(Stopping(max_depth=1))).tree.split(0)
    assert split is not None
    assert (split.branch_of[0] == split.branch_of[2] != split.branch_of[1], split.missing) == (True, split.branch_of[1])


def test_ordinal_values_are_cut_in_their_order() -> None:
    data = dataset({"o": [0, 0, 1, 1, 2, 2]}, [1.0, 1.0, 9.0, 9.0, 1.0, 1.0])
    tree = grow_median_cart(data, MedianCart(Stopping(max_depth=1))).tree
    split = tree.split(0)
    assert split is not None
    assert split.branch_of in ((0, 1, 1), (0, 0, 1))


def test_missing_cases_go_where_they_cost_least_or_to_the_heavier_side() -> None:
    x = [1.0, 1.0, 2.0, 2.0, 2.0, math.nan]
    data = dataset({"x": x}, [5.0, 5.0, 0.0, 0.0, 0.0, 5.0])
    best = grow_median_cart(data, MedianCart(Stopping(max_depth=1)))
    majority = grow_median_cart(data, MedianCart(Stopping(max_depth=1), MissingPolicy.MAJORITY))
    assert best.tree.outcome[main_leaves(best.tree, data)].tolist() == data.y.tolist()
    assert majority.tree.outcome[main_leaves(majority.tree, data)].tolist() == [5.0, 5.0, 0.0, 0.0, 0.0, 0.0]


def test_known_against_missing_is_a_test() -> None:
    data = dataset({"x": [1.0, 2.0, 3.0, math.nan, math.nan]}, [0.0, 0.0, 0.0, 7.0, 7.0])
    tree = grow_median_cart(data, MedianCart()).tree
    split = tree.split(0)
    assert split is not None
    assert (split.cut, tree.outcome.tolist()) == (KNOWN, [0.0, 0.0, 7.0])


@settings(max_examples=60)
@given(st.data(), st.sampled_from([MissingPolicy.LEARNED, MissingPolicy.MAJORITY]))
def test_nodes_are_what_their_cases_make_them(data: st.DataObject, missing: MissingPolicy) -> None:
    n = data.draw(st.integers(1, 15))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return data.draw(st.lists(cells, min_size=n, max_size=n))

    cases = dataset(
        {
            "x": [0.0, *column(st.sampled_from([0.0, 1.0, 2.0, math.nan]))][:n],
            "f": column(st.integers(-1, 2)),
            "o": column(st.integers(-1, 2)),
        },
        column(st.sampled_from([-1.0, 0.0, 3.0, 3.5])),
        column(st.sampled_from([1.0, 0.5, 2.0])),
    )
    growth = grow_median_cart(cases, MedianCart(Stopping(max_depth=3), missing))
    rows, costs = costs_of(growth.tree, cases)
    assert cases.weights is not None
    for node, here in rows.items():
        assert growth.tree.weight[node] == pytest.approx(cases.weights[here].sum())
        assert growth.tree.outcome[node] == weighted_median(cases.y[here], cases.weights[here])
    leaves = sum(costs[node] for node in rows if growth.tree.node(node).is_leaf)
    assert growth.importance.sum() == pytest.approx(costs[0] - leaves, abs=1e-9)


def test_what_cannot_be_learned_from_is_refused() -> None:
    with pytest.raises(ParameterError, match="numeric target"):
        grow_median_cart(sample("play-tennis"), MedianCart())
    with pytest.raises(DataError, match="no cases"):
        grow_median_cart(dataset({"x": [1.0]}, [1.0], [0.0]), MedianCart())
    with pytest.raises(DataError, match="too large"):
        grow_median_cart(dataset({"x": [1.0]}, [1e200]), MedianCart())
    with pytest.raises(ParameterError, match="median"):
        MedianCart(missing=MissingPolicy.FRACTIONAL)
