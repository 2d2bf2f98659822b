"""Monotonic constraints: predictions keep the order, whatever the data; without constraints nothing changes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treewright import CARTClassifier, CARTRegressor
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.learners.monotonic import Span, constraints_from, signs_for, values_of
from treewright.learners.recipe import C45, CART, MissingPolicy, Stopping, recipe_from_dict
from treewright.plans import cart
from treewright.pruning.methods import CostComplexity
from treewright.tree.split import SplitStatus

LEVELS = ("low", "mid", "high")
CLASSES = ("a", "b")


def array(cells: list[Any], *, numeric: bool) -> npt.NDArray[np.float64] | npt.NDArray[np.int32]:
    return np.array(cells, np.float64) if numeric else np.array(cells, np.int32)


def table(columns: dict[str, list[Any]], target: list[Any], weights: list[float] | None = None) -> Dataset:
    """Make a dataset of numbers x, z, an ordinal o and a nominal f; the target is of classes if it holds ints."""
    kinds = {
        "x": Column("x", Kind.NUMERIC),
        "z": Column("z", Kind.NUMERIC),
        "o": Column("o", Kind.ORDINAL, LEVELS),
        "f": Column("f", Kind.NOMINAL, LEVELS),
    }
    regression = any(isinstance(one, float) for one in target)
    goal = Column("y", Kind.NUMERIC) if regression else Column("y", Kind.NOMINAL, CLASSES)
    return Dataset(
        Schema((*(kinds[name] for name in columns), goal), target="y"),
        tuple(array(cells, numeric=kinds[name].is_numeric) for name, cells in columns.items()),
        len(target),
        array(target, numeric=regression),
        None if weights is None else np.array(weights),
    )


@st.composite
def tables(draw: st.DrawFn, *, regression: bool) -> Dataset:
    n = draw(st.integers(2, 25))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=n, max_size=n))

    number = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, math.nan])
    code = st.integers(-1, 2)
    y = st.sampled_from([0.0, 0.1, 0.7, 1.0, 30.0]) if regression else st.integers(0, 1)
    return table(
        {"x": column(number), "z": column(number), "o": column(code), "f": column(code)},
        column(y),
        column(st.sampled_from([1.0, 2.0])) if draw(st.booleans()) else None,
    )


def grid(schema: Schema) -> Dataset:
    """Return all combinations of values, x changing last."""
    z, o, f, x = (one.ravel() for one in np.meshgrid([0.5, 2.5, np.nan], [-1, 0, 1, 2], [-1, 0, 2], np.arange(-1.0, 6)))
    codes = (o.astype(np.int32), f.astype(np.int32))
    order = np.lexsort((x, f, o, np.nan_to_num(z, nan=9.0)))
    return Dataset(schema, tuple(column[order] for column in (x, z, *codes)), len(x))


def values(model: Any, cases: Dataset) -> Any:
    return model.predict(cases) if model.tree.is_regression else model.predict_proba(cases)[:, 1]


def options(data: st.DataObject) -> dict[str, Any]:
    """Draw other options of CART, which must not break the order."""
    draw: dict[str, Any] = {
        "missing": data.draw(st.sampled_from(["best_side", "majority"])),
        "stopping": Stopping(max_leaves=data.draw(st.sampled_from([None, 4])), min_leaf=data.draw(st.integers(1, 3))),
    }
    if data.draw(st.booleans()):
        draw["prune"] = CostComplexity(0.01)
    return draw


@settings(max_examples=150)
@given(st.booleans(), st.sampled_from([-1, 1]), st.sampled_from([-1, 0, 1]), st.data())
def test_predictions_keep_the_order_on_a_grid(regression: bool, sign: int, other: int, data: st.DataObject) -> None:
    cases = data.draw(tables(regression=regression))
    model = fit(cases, cart(monotonic={"x": sign, "o": other}, **options(data)))
    rows = grid(cases.schema)
    predicted = values(model, rows)
    along_x = predicted.reshape(-1, 7)
    assert np.all(sign * np.diff(along_x, axis=1) >= 0)
    if other:
        o = rows.columns[2].reshape(-1, 7)[:, 0]
        levels = [along_x[o == code] for code in range(3)]
        for lower, higher in ((0, 1), (1, 2)):
            assert np.all(other * (levels[higher] - levels[lower]) >= 0)


@given(st.booleans(), st.data())
def test_no_constraint_changes_nothing(regression: bool, data: st.DataObject) -> None:
    cases = data.draw(tables(regression=regression))
    plain, free = fit(cases, cart()), fit(cases, cart(monotonic=[0, 0, 0, 0]))
    assert plain.tree.to_dict() == free.tree.to_dict()


def test_a_test_against_the_order_is_reported_as_not_admissible() -> None:
    data = table({"x": [1.0, 1.0, 2.0, 2.0], "z": [0.0, 1.0, 0.0, 1.0]}, [1, 1, 0, 0])
    against = fit(data, cart(monotonic={"x": 1}))
    assert against.tree.n_leaves > 1
    assert against.tree.node(0).attribute.name == "z"
    statuses = {one.name: one.verdict for one in explain_node(against).attributes}
    assert statuses["x"] is SplitStatus.MONOTONIC
    assert fit(data, cart(monotonic={"x": -1})).tree.node(0).attribute.name == "x"


def test_bounds_are_inherited_from_tests_above() -> None:
    # Cutting x at 1.5 gives 1 and 5; the middle is 3. Below, z would leave 4.0 on the lower side of x.
    data = table(
        {"x": [1.0, 1.0, 1.0, 1.0, 2.0, 2.0], "z": [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]}, [0.0, 0.0, 0.0, 4.0, 5.0, 5.0]
    )
    free = fit(data, cart(monotonic={"x": 0}))
    bound = fit(data, cart(monotonic={"x": 1}))
    assert 4.0 in free.tree.outcome.tolist()
    assert bound.tree.outcome.tolist() == [14 / 6, 1.0, 5.0]


def test_cases_without_a_value_count_on_the_side_they_go_to() -> None:
    # The known cases rise with x; with the missing ones on the heavier lower side they would fall.
    x = [1.0] * 4 + [2.0] * 3 + [math.nan] * 6
    y = [0.0] * 4 + [1.0] * 3 + [9.0] * 6
    data = table({"x": x}, y)
    assert fit(data, cart(missing="majority")).tree.n_leaves > 1
    assert fit(data, cart(missing="majority", monotonic=[1])).tree.n_leaves == 1


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_same_predictions_as_scikit_learn_where_all_columns_are_constrained(sign: int) -> None:
    """Elsewhere scikit-learn lets tests of other columns break the bounds and clips what their branches predict."""
    X, y = load_diabetes(return_X_y=True)
    signs = [1, -1, sign, 1, -1, 1, -1, 1, sign, 1]
    ours = CARTRegressor(max_depth=5, monotonic=signs).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=5, monotonic_cst=signs, random_state=0).fit(X, y)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-9)
    X, y = load_breast_cancer(return_X_y=True)
    signs = [sign, -sign] * 15
    shares = CARTClassifier(max_depth=3, monotonic=signs).fit(X, y).predict_proba(X)
    seeds = [DecisionTreeClassifier(max_depth=3, monotonic_cst=signs, random_state=seed) for seed in range(6)]
    assert any(shares == pytest.approx(one.fit(X, y).predict_proba(X)) for one in seeds)  # they differ where tests tie


def test_the_second_of_the_sorted_classes_rises_whatever_the_category_order() -> None:
    X = np.array([[1.0], [1.0], [2.0], [2.0]])
    y = ["no", "no", "yes", "yes"]
    for categories in (("no", "yes"), ("yes", "no")):
        schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, categories)), target="y")
        assert CARTClassifier(monotonic=[1], schema=schema).fit(X, y).get_n_leaves() == 2
        assert CARTClassifier(monotonic=[-1], schema=schema).fit(X, y).get_n_leaves() == 1


def test_a_recipe_with_constraints_survives_the_model_file() -> None:
    recipe = CART(monotonic=constraints_from({"x": 1}))
    assert recipe_from_dict(recipe.to_dict()) == recipe
    assert "monotonic" not in CART().to_dict()


def test_what_cannot_be_constrained_is_refused() -> None:
    X, y = [[1.0, 2.0], [2.0, 1.0]], [0, 1]
    for wrong, word in (
        ([1], "2 numbers"),
        ([1, 2], "-1"),
        ({"x7": 1}, "no column"),
        ("up", "monotonic"),
        ([True, 0], "-1"),
    ):
        with pytest.raises(ParameterError, match=word):
            CARTClassifier(monotonic=wrong).fit(X, y)  # type: ignore[arg-type]
    weather = sample("play-tennis")
    with pytest.raises(ParameterError, match="nominal"):
        fit(weather, cart(monotonic={"Outlook": 1}))
    with pytest.raises(ParameterError, match="more classes"):
        CARTClassifier(monotonic=[1]).fit([[1.0], [2.0], [3.0]], [0, 1, 2])
    with pytest.raises(ParameterError, match="raising"):
        cart(monotonic=[1], prune="error_based")
    assert cart(monotonic=[1], prune="error_based", raising=False).pruning
    with pytest.raises(ParameterError, match="binary splits"):
        replace(C45(), monotonic=(("x", 1),))
    with pytest.raises(ParameterError, match="without fractional cases"):
        replace(CART(missing=MissingPolicy.MAJORITY), missing=MissingPolicy.FRACTIONAL, monotonic=(("x", 1),))


def test_spans_and_values_by_hand() -> None:
    span = Span(0.0, 1.0)
    low, high = np.array([0.2, 0.5, -0.1]), np.array([0.4, 0.3, 0.3])
    assert span.admits(low, high, 1).tolist() == [True, False, False]
    assert span.admits(low, high, -1).tolist() == [False, True, False]
    assert span.admits(low, high, 0).tolist() == [True, True, False]
    assert span.split(-1, 0.6, 0.2) == (Span(0.4, 1.0), Span(0.0, 0.4))
    assert span.clipped(2.0) == 1.0
    assert values_of(np.array([[2.0, 3.0, 9.0], [0.0, 0.0, 0.0]]), classification=False).tolist() == [1.5, 0.0]
    schema = table({"x": [1.0], "o": [0]}, [0]).schema
    assert signs_for(constraints_from([0, -1]), schema) == {1: -1}
