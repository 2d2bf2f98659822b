"""Recipes are values: they compare, travel through JSON, and refuse what makes no sense."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.samples import sample
from treewright.errors import ModelFormatError, ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import (
    C45,
    CART,
    ID3,
    AttributeSampling,
    Choice,
    Cuts,
    Intervals,
    MissingPolicy,
    NominalTest,
    OrdinalTest,
    Placement,
    Recipe,
    Stopping,
    for_regression,
    recipe_from_dict,
)

STOPPINGS = st.builds(
    Stopping,
    max_depth=st.none() | st.integers(0, 9),
    max_leaves=st.none() | st.integers(2, 99),
    min_cases=st.integers(2, 50),
    min_leaf=st.integers(1, 50),
    min_weight=st.floats(0, 1e6),
    min_branch=st.floats(0, 1e6),
    min_share=st.floats(0, 0.5),
    min_decrease=st.floats(0, 2),
)
RECIPES = st.builds(
    Recipe,
    name=st.text(max_size=9),
    criterion=st.sampled_from(["gain", "gini", "chi2", "entropy", "variance"]),
    nominal=st.just(NominalTest.SUBSETS),
    ordinal=st.just(OrdinalTest.ORDERED),
    numeric=st.one_of(
        st.builds(Cuts, st.sampled_from(Placement), st.floats(0, 1), st.booleans(), st.booleans()),
        st.just(Intervals()),
    ),
    missing=st.sampled_from(MissingPolicy),
    choice=st.sampled_from([Choice.HIGHEST, Choice.GAIN]),
    once_per_path=st.booleans(),
    stopping=STOPPINGS,
    draw=st.none() | st.builds(AttributeSampling, st.integers(1, 99), st.integers(0, 2**31)),
    nominal_limit=st.integers(0, 20),
)


@given(RECIPES)
def test_any_recipe_survives_json(recipe: Recipe) -> None:
    assert recipe_from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


@pytest.mark.parametrize("recipe", [ID3(), C45(), CART(), C45(criterion="gain"), ID3(criterion="chi2")])
def test_the_classics_survive_json(recipe: Recipe) -> None:
    assert recipe_from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


def test_the_classics_are_what_their_authors_describe() -> None:
    id3, c45, cart = ID3(), C45(), CART()
    assert (id3.criterion, id3.nominal, id3.numeric, id3.once_per_path) == (
        "gain",
        NominalTest.MULTIWAY,
        Intervals("mdl"),
        True,
    )
    assert (c45.choice, c45.missing, c45.stopping.min_branch, c45.stopping.min_weight) == (
        Choice.RATIO,
        MissingPolicy.FRACTIONAL,
        2,
        4,
    )
    assert c45.numeric == Cuts(Placement.DATA_VALUE, 1e-5, relative_side=True, correction=True)
    assert (cart.criterion, cart.nominal, cart.once_per_path) == ("gini", NominalTest.SUBSETS, False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_depth": -1}, "max_depth"),
        ({"max_depth": 1.5}, "max_depth"),
        ({"max_depth": True}, "max_depth"),
        ({"max_leaves": 1}, "max_leaves"),
        ({"min_cases": 1}, "min_cases"),
        ({"min_leaf": 0}, "min_leaf"),
        ({"min_share": 0.6}, "min_share"),
        ({"min_weight": -1}, "min_weight"),
        ({"min_branch": float("inf")}, "min_branch"),
        ({"min_decrease": float("nan")}, "min_decrease"),
    ],
)
def test_limits_that_make_no_sense_are_refused_by_name(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Stopping(**change)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ID3(criterion="gain_ratio"),
        lambda: C45(criterion="gini"),
        lambda: C45(min_objects=0),
        lambda: C45(min_objects=float("nan")),
        lambda: CART(criterion="ginni"),
        lambda: Recipe("own", "gain_ratio"),
        lambda: Recipe("own", "gain", missing=MissingPolicy.LEARNED),
        lambda: Recipe("own", "gain", numeric=Intervals("equal width")),
        lambda: AttributeSampling(0, 1),
        lambda: AttributeSampling(-3, 1),
    ],
)
def test_contradictions_are_refused(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()


def test_regression_keeps_everything_but_the_criterion() -> None:
    recipe = CART(stopping=Stopping(max_depth=3))
    assert for_regression(recipe) == replace(recipe, criterion="variance")


@pytest.mark.parametrize(
    "damage",
    [
        {"numeric": {"kind": "spline"}},
        {"numeric": None},
        {"numeric": {"kind": "cuts", "placement": "left"}},
        {"nominal": "some"},
        {"stopping": {"max_depth": -4}},
        {"stopping": {"unheard": 1}},
        {"draw": {"attributes": 0, "seed": 1}},
        {"criterion": "beauty"},
        {"criterion": []},
        {"missing": 7},
    ],
)
def test_a_damaged_recipe_in_a_model_file_is_a_clear_error(damage: dict[str, Any]) -> None:
    with pytest.raises(ModelFormatError, match="recipe"):
        recipe_from_dict({**C45().to_dict(), **damage})


def test_a_recipe_without_a_part_is_a_clear_error() -> None:
    for key in C45().to_dict():
        plain = C45().to_dict()
        del plain[key]
        with pytest.raises(ModelFormatError, match=key):
            recipe_from_dict(plain)


def test_a_user_composes_an_own_recipe_from_the_same_parts() -> None:
    own = replace(ID3(), name="gini, multiway", criterion="gini", stopping=Stopping(max_depth=1))
    tree = fit(sample("play-tennis"), own).tree
    assert (tree.depth, tree.node(0).attribute.name) == (1, "Outlook")
