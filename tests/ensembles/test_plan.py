"""Plans of forests are values, and refuse what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from ensembles.made_cases import wave
from treewright.data.samples import sample
from treewright.ensembles.plan import adaboost, bagging, bases, forest, number_of_attributes, number_of_cases, tree_plan
from treewright.errors import ParameterError
from treewright.learners.recipe import C45, ID3
from treewright.learners.registry import algorithm_named, tree_algorithms
from treewright.plans import c45, cart, chaid


@pytest.mark.parametrize(
    ("wanted", "n", "sampled"),
    [
        ("sqrt", 28, 5),
        ("sqrt", 1, 1),
        ("log2", 28, 5),
        ("log2", 8, 4),
        ("log2", 1, 1),
        ("log2", 2, 2),
        (3, 28, 3),
        (50, 28, 28),
        (0.5, 28, 14),
        (0.01, 28, 1),
        (None, 28, 28),
        ("sqrt", 0, 1),
    ],
)
def test_attributes_sampled(wanted: Any, n: int, sampled: int) -> None:
    assert number_of_attributes(wanted, n) == sampled


@pytest.mark.parametrize("wanted", ["root", 0, -1, 0.0, 1.5, True, [2]])
def test_other_numbers_of_attributes_are_refused(wanted: Any) -> None:
    with pytest.raises(ParameterError, match="max_features must be"):
        number_of_attributes(wanted, 10)


def test_cases_sampled() -> None:
    assert [number_of_cases(wanted, 10) for wanted in (None, 3, 20, 0.25, 1.0)] == [10, 3, 20, 3, 10]
    with pytest.raises(ParameterError, match="max_samples must be"):
        number_of_cases("half", 10)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: forest(trees=0), "trees must be a whole number from 1"),
        (
            lambda: forest(trees=2.5),  # type: ignore[arg-type]
            "trees must be",
        ),
        (lambda: forest(per="leaf"), "per must be 'node' or 'tree'"),
        (lambda: forest(chaid()), "CHAID draws no attributes"),
        (lambda: forest(c45(dialect="r8")), "draws no attributes"),
        (lambda: forest(ID3(), random_cuts=True), "not intervals"),
        (lambda: bagging(bootstrap=False, max_samples=0.5), "bootstrap is False"),
        (lambda: bagging(bootstrap=False, balanced=True), "bootstrap is False"),
        (lambda: bagging("oak"), "must be one of 'c45', 'id3'"),
        (lambda: adaboost(max_resets=-1), "max_resets must be"),
        (lambda: adaboost(trees=True), "trees must be"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def test_classes_only_is_an_error_for_numbers() -> None:
    with pytest.raises(ParameterError, match="is a number, and this is for classes"):
        adaboost().for_schema(wave().schema)
    with pytest.raises(ParameterError, match="balanced classes"):
        forest(balanced=True).for_schema(wave().schema)
    with pytest.raises(ParameterError, match=r"C4\.5 predicts classes"):
        bagging().for_schema(wave().schema)
    assert forest().for_schema(wave().schema).criterion == "variance"


def test_trees_can_be_named_given_or_left_to_the_usual() -> None:
    assert tree_plan("cart", c45()) == cart()
    assert tree_plan(None, c45()) == c45()
    assert tree_plan(C45(), cart()).learner == C45()


def test_they_describe_themselves() -> None:
    assert forest(max_features=0.5, per="tree").describe() == "100 trees, 50 % of the attributes sampled for each tree"
    assert forest(max_features=3, trees=1).describe() == "1 tree, 3 attributes sampled at each node"
    assert forest(max_features=1, trees=1).describe() == "1 tree, 1 attribute sampled at each node"
    assert bagging(balanced=True).describe() == "100 trees, as many of each class in every bootstrap"
    assert forest(bootstrap=False).describe().endswith("all cases in every tree")
    assert adaboost(trees=1).describe() == "1 round at most"
    assert (
        adaboost(coarseness=1.4).describe() == "50 rounds at most, later trees split nodes of at least 1.4 mean leaves"
    )
    assert bagging(chaid()).name == "Bagged CHAID trees"


def test_a_plan_as_plain_data_is_complete() -> None:
    plain = forest(c45(), trees=7, max_features="log2", seed=3).to_dict()
    assert (plain["trees"], plain["max_features"], plain["seed"], plain["criterion"]) == (7, "log2", 3, "gain_ratio")
    assert plain["tree"]["name"] == "C4.5"
    assert adaboost(max_resets=2).to_dict()["max_resets"] == 2
    assert bagging().draw(5, 10) is None
    assert forest().for_schema(sample("play-tennis").schema) == forest()


def test_each_ensemble_lists_the_bases_that_are_able() -> None:
    assert bases("forest") == ("c45", "id3", "cart")
    assert bases("adaboost") == ("c45", "id3", "cart", "chaid")
    assert bases("bagging") == tree_algorithms()


@pytest.mark.parametrize("base", ["r8", "c45_rules", "forest", "crt"])
def test_unknown_bases_are_refused_with_those_of_the_ensemble(base: str) -> None:
    with pytest.raises(ParameterError, match="base must be one of 'c45', 'id3', 'cart', not"):
        algorithm_named("forest").learner({"base": base})
