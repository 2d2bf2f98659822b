"""Cases that share leaves: embedding, proximity, and quantiles of the neighbours' targets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ensembles.made_cases import two_moons, wave, with_missing
from treewright.ensembles import neighbours as module
from treewright.ensembles.neighbours import embedding, neighbours, proximity
from treewright.ensembles.plan import bagging, forest
from treewright.ensembles.random_forest import CaseSampling
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, Stopping, for_regression
from treewright.plans import c45, chaid
from treewright.tree.forest import Forest
from treewright.tree.io.model_file import model_from_json, model_to_json

DATA = two_moons(60)
MODEL = fit(DATA, forest(trees=7))


def test_every_case_has_one_leaf_in_every_tree() -> None:
    leaves = embedding(MODEL, DATA)
    assert leaves.shape == (60, int(MODEL.packed.leaf_starts[-1]))
    assert leaves.sum(axis=1).ravel().tolist()[0] == [7.0] * 60
    for index, tree in enumerate(MODEL.trees):
        part = leaves[:, MODEL.packed.leaf_starts[index] : MODEL.packed.leaf_starts[index + 1]]
        assert part.shape[1] == tree.n_leaves
        assert part.sum() == 60


def test_fractional_cases_have_the_leaf_that_gets_most() -> None:
    data = with_missing(DATA, 0.3)
    model = fit(data, bagging(c45(), trees=5))
    assert embedding(model, data).sum() == 60 * 5


def test_cases_that_stay_at_inner_nodes_have_no_leaf() -> None:
    from treewright.plans import cal3

    model = fit(DATA, bagging(chaid(), trees=3))
    assert embedding(model, DATA).sum() <= 60 * 3
    assert cal3().name == "CAL3"


def test_proximity_is_the_share_of_trees_with_the_same_leaf() -> None:
    found = proximity(MODEL, DATA)
    nodes = MODEL.apply(DATA)
    expected = (nodes[:, None, :] == nodes[None, :, :]).mean(axis=2)
    assert np.allclose(found, expected)
    assert np.allclose(np.diag(found), 1.0)
    other = proximity(MODEL, DATA.take(slice(0, 5)), DATA.take(slice(5, 60)))
    assert np.allclose(other, expected[:5, 5:])


def test_too_large_a_matrix_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PROXIMITY_CELLS", 100)
    with pytest.raises(ParameterError, match="too many cells"):
        proximity(MODEL, DATA)


def test_the_mean_of_the_neighbours_is_the_prediction() -> None:
    data = wave(80)
    plan = forest(for_regression(CART(stopping=Stopping(max_depth=3))), trees=9)
    model = fit(data, plan)
    near = neighbours(model, data, plan)
    weights = module._membership(model, model.nodes(data)) @ near.members
    assert np.allclose(weights @ near.target / 9, model.predict(data))


def test_quantiles_are_those_of_the_leaf_of_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    data = wave(80)
    plan = bagging(for_regression(CART(stopping=Stopping(max_depth=2))), trees=1)
    model = fit(data, plan)
    near = neighbours(model, data, plan)
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 200)  # several portions
    found = near.quantiles(data, (0.0, 0.25, 0.5, 1.0))
    times = CaseSampling(plan, data).counts(0)
    leaf = model.apply(data)[:, 0]
    for row in range(80):
        inside = np.sort(np.repeat(data.y[leaf == leaf[row]], times[leaf == leaf[row]]))
        n = len(inside)
        expected = [inside[0], inside[int(np.ceil(0.25 * n)) - 1], inside[int(np.ceil(0.5 * n)) - 1], inside[-1]]
        assert found[row].tolist() == expected


def test_about_nine_of_ten_lie_in_a_ninety_percent_interval() -> None:
    train, test = wave(600, seed=1), wave(400, seed=2)
    plan = forest(for_regression(CART(stopping=Stopping(min_leaf=10))), trees=40, max_features=None)
    low, high = neighbours(fit(train, plan), train, plan).quantiles(test, (0.05, 0.95)).T
    inside = np.mean((test.y >= low) & (test.y <= high))
    assert 0.84 < inside < 0.97


def test_weights_of_cases_count_in_quantiles() -> None:
    data = wave(60)
    heavy = replace(data, weights=np.where(data.y > 0, 1.0, 0.0))
    plan = bagging(for_regression(CART(stopping=Stopping(max_depth=1))), trees=5)
    model = fit(heavy, plan)
    assert neighbours(model, heavy, plan).quantiles(data, (0.0,)).min() > 0


@pytest.mark.parametrize("wanted", [(), (1.5,), (-0.1,)])
def test_other_quantiles_are_refused(wanted: tuple[float, ...]) -> None:
    data = wave(30)
    plan = bagging("cart", trees=2)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        neighbours(fit(data, plan), data, plan).quantiles(data, wanted)


def test_classes_have_no_quantiles() -> None:
    with pytest.raises(ParameterError, match="predicts classes"):
        neighbours(MODEL, DATA, forest(trees=7))


def test_a_saved_forest_finds_its_training_cases_again() -> None:
    data = wave(80)
    last: list[Forest] = []
    for plan in (forest(trees=9, seed=4), bagging("cart", trees=5, max_samples=0.5), forest(trees=4, bootstrap=False)):
        model = fit(data, plan)
        loaded = model_from_json(model_to_json(model))
        assert isinstance(loaded, Forest)
        last = [loaded]
        before, after = neighbours(model, data, plan), neighbours(loaded, data)
        assert np.array_equal(before.quantiles(data, (0.1, 0.5, 0.9)), after.quantiles(data, (0.1, 0.5, 0.9)))
    with pytest.raises(ParameterError, match="not the training cases of the forest"):
        neighbours(last[0], data.take(np.arange(80)[::-1]))
    with pytest.raises(ParameterError, match="require bagged trees"):
        neighbours(replace(last[0], recipe={}), data)
