"""One function from data to model, whatever the recipe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas
import pytest

from learners.tables_for_growing import numeric_table
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.ensembles.plan import forest
from treewright.errors import DataError, ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, CART, ID3, Recipe, recipe_from_dict
from treewright.plans import cart, chaid
from treewright.version import __version__


@pytest.fixture
def numbers() -> Dataset:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    return Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, np.array([1.0, 1.0, 5.0, 5.0]))


@pytest.mark.parametrize("recipe", [ID3(), C45(), CART()])
def test_the_training_cases_of_the_lecture_are_learned_by_heart(recipe: Recipe) -> None:
    data = sample("play-tennis")
    model = fit(data, recipe)
    assert model.predict(data).tolist() == data.y.tolist()


def test_the_model_records_how_and_from_what_it_was_made() -> None:
    model = fit(sample("play-tennis"), C45())
    assert recipe_from_dict(model.recipe) == C45()
    assert model.provenance == {"treewright": __version__, "rows": 14, "source": "sample:play-tennis"}


def test_a_binary_recipe_names_its_search_for_sets_of_values() -> None:
    assert "exact for two classes" in fit(sample("play-tennis"), CART()).recipe["subset_search"]
    assert "subset_search" not in fit(sample("play-tennis"), ID3()).recipe


def test_a_numeric_target_is_grown_by_variance(numbers: Dataset) -> None:
    model = fit(numbers, CART())
    assert model.recipe["criterion"] == "variance"
    assert model.predict(numbers).tolist() == [1.0, 1.0, 5.0, 5.0]


@pytest.mark.parametrize("recipe", [ID3(), C45()])
def test_a_recipe_for_classes_refuses_a_numeric_target(numbers: Dataset, recipe: Recipe) -> None:
    with pytest.raises(ParameterError, match=r"predicts classes.*CART"):
        fit(numbers, recipe)


def test_variance_refuses_classes() -> None:
    with pytest.raises(ParameterError, match="variance requires a numeric target"):
        fit(sample("play-tennis"), CART(criterion="variance"))


def test_there_must_be_rows_and_a_target() -> None:
    data = sample("play-tennis")
    with pytest.raises(DataError, match="no rows"):
        fit(data.take([]), ID3())
    with pytest.raises(DataError, match="no target"):
        fit(data.X, ID3())


def test_class_weights_are_case_weights() -> None:
    data = sample("play-tennis")
    by_class = fit(data, CART(), class_weights={"No": 3.0}).tree
    weights = np.where(np.asarray(data.target) == 1, 3.0, 1.0)
    by_case = fit(replace(data, weights=weights), CART()).tree
    assert by_class.to_dict() == by_case.to_dict()
    assert by_class.node(0).distribution == {"Yes": 9, "No": 15}


def test_class_weights_multiply_case_weights() -> None:
    data = replace(sample("play-tennis"), weights=np.full(14, 2.0))
    assert fit(data, CART(), class_weights={"No": 3.0}).tree.node(0).distribution == {"Yes": 18, "No": 30}


def test_a_class_of_weight_zero_is_not_learned() -> None:
    tree = fit(sample("play-tennis"), CART(), class_weights={"No": 0.0}).tree
    assert (tree.n_nodes, tree.node(0).distribution) == (1, {"Yes": 9})


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_class_weights_must_be_numbers_of_at_least_zero(factor: float) -> None:
    with pytest.raises(ParameterError, match="class weights"):
        fit(sample("play-tennis"), CART(), class_weights={"No": factor})


@pytest.mark.parametrize("plan", [cart(), forest(trees=2)])
def test_class_weights_are_refused_for_a_number(numbers: Dataset, plan: Any) -> None:
    with pytest.raises(ParameterError, match="class_weights are for classes, and this target is a number"):
        fit(numbers, plan, class_weights={"a": 1.0})


@pytest.mark.parametrize("plan", [cart(), chaid(), forest(trees=2)])
@pytest.mark.parametrize("smoothing", ["laplace", 2.0])
def test_smoothing_is_refused_for_a_number(numbers: Dataset, plan: Any, smoothing: str | float) -> None:
    frame = pandas.DataFrame({"x": numbers.column("x"), "y": numbers.y + 0.25, "id": range(4)})
    how: dict[str, Any] = {"key": "id"} if plan.abilities.many_trees else {}
    with pytest.raises(ParameterError, match="smoothing is for classes, and this target is a number"):
        fit(numbers, plan, smoothing=smoothing)
    with pytest.raises(ParameterError, match="smoothing is for classes, and this target is a number"):
        fit(duckdb.connect().from_df(frame), plan, smoothing=smoothing, target="y", **how)


@pytest.mark.parametrize("where", [{}, {"finish_rows": 0, "target": "PlayTennis"}])
def test_class_weights_of_other_classes_are_refused(where: dict[str, Any]) -> None:
    data: Any = sample("play-tennis")
    if where:
        frame = pandas.DataFrame({column.name: data.column(column.name) for column in data.schema.attributes})
        data = duckdb.connect().from_df(frame.assign(PlayTennis=data.y))
    with pytest.raises(ParameterError, match=r"class_weights are for the classes .*'Yes'.*, not for 'Maybe'"):
        fit(data, cart(), class_weights={"Maybe": 2.0, "No": 3.0}, **where)


def test_smoothing_changes_probabilities_and_not_the_tree() -> None:
    data = numeric_table({"x": [1.0, 1.0, 2.0]}, ["a", "a", "b"], ("a", "b"))
    plain, laplace = fit(data, CART()), fit(data, CART(), smoothing="laplace")
    assert plain.tree.to_dict() == laplace.tree.to_dict()
    assert plain.predict_proba(data)[0].tolist() == [1.0, 0.0]
    assert laplace.predict_proba(data)[0].tolist() == [0.75, 0.25]
    m = fit(data, CART(), smoothing=3.0).predict_proba(data)[0]
    assert m == pytest.approx([(2 + 3 * 2 / 3) / 5, (0 + 3 * 1 / 3) / 5])


def test_a_wrong_smoothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="smoothing"):
        fit(sample("play-tennis"), CART(), smoothing="some")
