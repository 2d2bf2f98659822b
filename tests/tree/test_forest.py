"""A forest predicts the mean, or the weighted votes, of its trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tree.test_packed_forest import forests_and_cases
from treewright.data.samples import sample
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3
from treewright.tree.forest import Combining, Forest
from treewright.tree.model import TreeModel, first_maximum
from treewright.tree.packed_forest import pack_trees

WEATHER = sample("play-tennis")
TREES = [fit(WEATHER, ID3()).tree, fit(WEATHER, CART()).tree, fit(WEATHER.take(np.arange(8)), ID3()).tree]


def forest_of(trees: Any = TREES, weights: Any = None, **how: Any) -> Forest:
    given_weights = np.ones(len(trees)) if weights is None else np.array(weights)
    return Forest(pack_trees(trees[0].schema, list(trees)), given_weights, **how)


@given(forests_and_cases(Task.CLASSIFICATION))
@settings(max_examples=60)
def test_probabilities_are_the_mean_over_the_trees(pair: Any) -> None:
    trees, cases = pair
    for smoothing in (None, "laplace", 2.0):
        forest = forest_of(trees, smoothing=smoothing)
        single = [TreeModel(tree, smoothing=smoothing).predict_proba(cases) for tree in forest.trees]
        assert np.allclose(forest.predict_proba(cases), np.mean(single, axis=0), atol=1e-12)


@given(forests_and_cases(Task.REGRESSION))
@settings(max_examples=40)
def test_numbers_are_the_mean_over_the_trees(pair: Any) -> None:
    trees, cases = pair
    single = [TreeModel(tree).predict(cases) for tree in trees]
    assert np.allclose(forest_of(trees).predict(cases), np.mean(single, axis=0), atol=1e-9)


@given(forests_and_cases(Task.CLASSIFICATION))
@settings(max_examples=60)
def test_votes_count_by_the_weight_of_their_tree(pair: Any) -> None:
    trees, cases = pair
    weights = np.arange(1.0, len(trees) + 1)
    forest = forest_of(trees, weights, combining=Combining.VOTES)
    votes = np.zeros((cases.n_rows, len(cases.schema.classes)))
    for tree, weight in zip(forest.trees, weights, strict=True):
        votes[np.arange(cases.n_rows), TreeModel(tree).predict_codes(cases)] += weight
    assert np.allclose(forest.predict_proba(cases), votes / weights.sum())
    assert forest.predict_codes(cases).tolist() == first_maximum(votes).tolist()


@given(forests_and_cases(Task.CLASSIFICATION))
@settings(max_examples=30)
def test_the_last_stage_is_the_whole_forest(pair: Any) -> None:
    trees, cases = pair
    assume(cases.n_rows)
    forest = forest_of(trees, [0.5] * len(trees), combining=Combining.VOTES)
    *_, last = forest.staged_answers(cases)
    assert np.allclose(last, forest.answers(cases))
    assert sum(1 for _ in forest.staged_answers(cases)) == len(trees)


def test_leaves_are_those_of_each_tree() -> None:
    found = forest_of().apply(WEATHER)
    for index, tree in enumerate(TREES):
        assert found[:, index].tolist() == TreeModel(tree).apply(WEATHER).tolist()


def test_leaves_of_fractional_cases_are_those_that_get_most() -> None:
    from treewright.learners.recipe import C45

    missing = {name: [None] for name in WEATHER.schema.attribute_names}
    tree = fit(WEATHER, C45()).tree
    assert forest_of([tree]).apply(missing).tolist() == [TreeModel(tree).apply(missing).tolist()]


def test_costs_decide_for_the_cheaper_class() -> None:
    costly = forest_of(costs=((0.0, 100.0), (1.0, 0.0)), smoothing="laplace")
    assert (costly.predict(WEATHER) == "Yes").sum() > (forest_of().predict(WEATHER) == "Yes").sum()


def test_it_takes_cases_as_they_are() -> None:
    new = {"Outlook": ["Rain"], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Weak"]}
    assert forest_of().predict(new).tolist() == ["Yes"]


def test_it_reports_its_size() -> None:
    assert str(forest_of()) == f"Forest: 3 trees, {sum(tree.n_nodes for tree in TREES)} nodes"
    assert str(forest_of(TREES[:1])).startswith("Forest: 1 tree,")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"weights": [1.0]}, "1 weights for 3 trees"),
        ({"weights": [0.0, 0.0, 0.0]}, "not all of them 0"),
        ({"weights": [1.0, -1.0, 1.0]}, "at least 0"),
        ({"weights": [1.0, np.nan, 1.0]}, "at least 0"),
        ({"smoothing": "none"}, "smoothing"),
        ({"costs": ((0.0,),)}, "2 rows and 2 columns"),
        ({"log": {"error": (0.1,)}}, "a finite number for each of 3 trees"),
        ({"log": {"error": (0.1, np.inf, 0.2)}}, "a finite number for each of 3 trees"),
    ],
)
def test_what_does_not_fit_is_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        forest_of(**how)


def test_numbers_have_neither_votes_nor_probabilities() -> None:
    from treewright.data.dataset import Dataset
    from treewright.data.schema import Column, Kind, Schema

    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.arange(6.0),), 6, np.array([0.0, 0, 0, 5, 5, 5]))
    tree = fit(data, CART()).tree
    with pytest.raises(ParameterError, match="votes are for classes"):
        forest_of([tree], combining=Combining.VOTES)
    with pytest.raises(ParameterError, match="no class probabilities"):
        forest_of([tree]).predict_proba(data)
    assert forest_of([tree, tree]).predict(data).tolist() == data.y.tolist()


def test_the_former_name_of_the_packed_forest_is_deprecated() -> None:
    model = forest_of()
    with pytest.warns(DeprecationWarning, match=r"Forest\.packed"):
        assert model.grove is model.packed
