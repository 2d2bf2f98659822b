"""Trees of any plan on any weights; whole weights are copies of cases."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ensembles.made_cases import two_moons, wave, with_missing
from treewright.ensembles.bootstrap import bootstrap
from treewright.ensembles.growing import COMPILED_FOREST_CELLS, InterpretedGrower, SharedGrower, TreeMaker
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, CART, AttributeSampling, Stopping, for_regression
from treewright.plans import Plan, c45, cal3, cart, chaid, id3

DATA = two_moons(60)
TIMES = bootstrap(11, 60)

PLANS: dict[str, Any] = {
    "cart": cart(),
    "c45": c45(),
    "id3": id3(),
    "chaid": chaid(),
    "r8": c45(dialect="r8"),
    "j48": c45(dialect="j48"),
    "rpart": cart(missing="surrogate", cp=0.01),
    "reduced error": c45(prune="reduced_error"),
    "reduced error, chaid": chaid(prune="reduced_error"),
}


@pytest.mark.parametrize("name", PLANS)
def test_without_weights_it_is_the_tree_of_fit(name: str) -> None:
    assert TreeMaker(DATA, PLANS[name]).make(None).to_dict() == fit(DATA, PLANS[name]).tree.to_dict()


@pytest.mark.parametrize("name", ["cart", "c45", "chaid"])
def test_whole_weights_are_weights(name: str) -> None:
    weighted = replace(DATA, weights=TIMES.astype(np.float64))
    assert TreeMaker(DATA, PLANS[name]).make(TIMES).to_dict() == fit(weighted, PLANS[name]).tree.to_dict()


@pytest.mark.parametrize("name", ["r8", "j48"])
def test_learners_without_weights_see_a_case_as_often_as_it_was_sampled(name: str) -> None:
    copies = DATA.take(np.repeat(np.arange(60), TIMES))
    assert TreeMaker(DATA, PLANS[name]).make(TIMES).to_dict() == fit(copies, PLANS[name]).tree.to_dict()
    with pytest.raises(ParameterError, match="supports only integer case weights"):
        TreeMaker(DATA, PLANS[name]).make((TIMES + 0.5).astype(np.float64))


def test_cal_learns_from_copies() -> None:
    from treewright.data.samples import sample

    data = sample("cal3")
    assert TreeMaker(data, cal3()).make(np.ones(data.n_rows, dtype=np.int64)).n_leaves == 3


def test_weights_of_the_cases_count_beside_those_of_the_tree() -> None:
    own = np.linspace(0.5, 1.5, 60)
    weighted = replace(DATA, weights=own)
    expected = fit(replace(DATA, weights=own * TIMES), cart()).tree
    assert TreeMaker(weighted, cart()).make(TIMES).to_dict() == expected.to_dict()


def test_a_maker_can_be_sent_to_other_processes() -> None:
    maker = TreeMaker(DATA, c45()).prepare()
    again = pickle.loads(pickle.dumps(maker))  # noqa: S301 - made here
    assert again.make(TIMES).to_dict() == maker.make(TIMES).to_dict()


@pytest.mark.parametrize(
    "recipe",
    [
        CART(),
        C45(),
        CART(draw=AttributeSampling(2, 5)),
        CART(draw=AttributeSampling(2, 5, per_tree=True)),
        CART(draw=AttributeSampling(2, 5, random_cuts=True)),
        CART(stopping=Stopping(max_leaves=5)),
    ],
    ids=["cart", "c45", "drawn", "per tree", "random cuts", "leaves"],
)
def test_the_compiled_engine_grows_the_same_trees(recipe: Any) -> None:
    data = two_moons(400)
    assert data.n_rows * len(data.columns) >= COMPILED_FOREST_CELLS
    times = bootstrap(2, 400)
    grower, taken = SharedGrower(data).grower_for(recipe)
    assert grower.grow(taken, times).to_dict() == InterpretedGrower(data).grow(recipe, times).to_dict()


def test_the_compiled_engine_grows_the_same_structure_with_broken_cases() -> None:
    data = with_missing(two_moons(400))
    grower, recipe = SharedGrower(data).grower_for(C45())
    mine, theirs = grower.grow(recipe), InterpretedGrower(data).grow(C45())
    assert np.array_equal(mine.attribute, theirs.attribute)
    assert np.allclose(mine.weight, theirs.weight)


def test_numbers_are_grown_too() -> None:
    plan = Plan(for_regression(CART()))
    assert TreeMaker(wave(50), plan).make(bootstrap(1, 50)).is_regression
