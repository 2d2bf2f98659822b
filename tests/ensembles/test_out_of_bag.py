"""Out of bag: cases are evaluated by trees that have not seen them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ensembles.made_cases import two_moons, wave, with_missing
from oracle_sets import folds, load_set, set_names
from treewright.ensembles.out_of_bag import out_of_bag, permutation_importance
from treewright.ensembles.plan import bagging, forest
from treewright.ensembles.random_forest import CaseSampling
from treewright.errors import DataError, ParameterError
from treewright.fitting.learn import fit
from treewright.plans import c45
from treewright.tree.model import TreeModel

DATA = two_moons(120)


def test_answers_are_those_of_the_trees_that_have_not_seen_the_case() -> None:
    for plan, data in ((forest(trees=12), DATA), (forest(c45(), trees=8), with_missing(DATA))):
        model = fit(data, plan)
        found = out_of_bag(model, data, plan)
        is_out = np.stack([CaseSampling(plan, data).counts(tree) == 0 for tree in range(model.n_trees)])
        single = np.stack([TreeModel(tree).predict_proba(data) for tree in model.trees])
        assert found.voters.tolist() == is_out.sum(axis=0).tolist()
        for row in np.flatnonzero(found.voters > 0):
            assert found.predictions[row] == pytest.approx(single[is_out[:, row], row].mean(axis=0))
        assert np.isnan(found.predictions[found.voters == 0]).all()
        voted = found.voters > 0
        wrong = model.codes_of(found.predictions[voted]) != data.target[voted]  # type: ignore[index]
        assert found.error == pytest.approx(wrong.mean())


def test_errors_after_each_tree_are_those_of_the_smaller_forests() -> None:
    plan = forest(trees=10)
    errors = out_of_bag(fit(DATA, plan), DATA, plan).errors
    for trees in (3, 7):
        smaller = replace(plan, trees=trees)
        assert out_of_bag(fit(DATA, smaller), DATA, smaller).error == pytest.approx(errors[trees - 1])


def test_about_37_percent_are_out_of_bag() -> None:
    plan = forest(trees=60)
    found = out_of_bag(fit(DATA, plan), DATA, plan)
    expected = (1 - 1 / 120) ** 120
    assert abs(found.share - expected) < 3 * np.sqrt((np.exp(-1) - 2 * np.exp(-2)) / 120 / 60)


def test_numbers_have_a_mean_squared_error() -> None:
    data = wave(100)
    plan = forest(trees=30)
    found = out_of_bag(fit(data, plan), data, plan)
    voted = found.voters > 0
    assert found.predictions.shape == (100, 1)
    assert found.error == pytest.approx(np.mean((found.predictions[voted, 0] - data.y[voted]) ** 2))


def test_weights_count() -> None:
    weights = np.r_[np.ones(60), np.zeros(60)]
    data = replace(DATA, weights=weights)
    plan = forest(trees=20)
    model = fit(data, plan)
    found = out_of_bag(model, data, plan)
    voted = (found.voters > 0) & (weights > 0)
    wrong = model.codes_of(found.predictions[voted]) != DATA.target[voted]  # type: ignore[index]
    assert found.error == pytest.approx(wrong.mean())


def test_without_bootstrap_samples_nothing_is_out_of_bag() -> None:
    plan = bagging("cart", trees=2, bootstrap=False)
    model = fit(DATA, plan)
    for ask in (out_of_bag, permutation_importance):
        with pytest.raises(ParameterError, match="without bootstrap samples"):
            ask(model, DATA, plan)


def test_one_case_is_in_every_bootstrap_sample() -> None:
    one = DATA.take([0])
    plan = forest(trees=3)
    with pytest.raises(ParameterError, match="no case was out of bag"):
        out_of_bag(fit(one, plan), one, plan)
    assert permutation_importance(fit(one, plan), one, plan).mean.tolist() == [0.0] * 4


def test_cases_without_a_target_are_refused() -> None:
    plan = forest(trees=3)
    with pytest.raises(DataError, match="no target"):
        out_of_bag(fit(DATA, plan), DATA.X, plan)


def test_the_error_before_the_first_vote_is_the_first_there_is() -> None:
    two = DATA.take([0, 1])
    plan = forest(trees=12, seed=4)
    found = out_of_bag(fit(two, plan), two, plan)
    assert len(found.errors) == 12
    assert all(0 <= error <= 1 for error in found.errors)


def test_shuffling_what_matters_hurts_and_noise_does_not() -> None:
    data = two_moons(200)
    plan = forest(trees=30)
    found = permutation_importance(fit(data, plan), data, plan)
    x, z, noise, colour = found.mean
    assert min(x, z, colour) > 0.05
    assert abs(noise) < 0.03
    assert found.standard_error.shape == (4,)
    again = permutation_importance(fit(data, plan), data, plan)
    assert np.array_equal(found.importances, again.importances)


def test_importance_for_numbers_is_the_rise_of_the_squared_error() -> None:
    data = wave(150)
    plan = forest(trees=20, max_features=None)
    x, z = permutation_importance(fit(data, plan), data, plan).mean
    assert x > 5 * abs(z)


NEAR = ("credit-g", "diabetes", "vowel", "breast-w", "vote")


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NEAR if name in set_names()])
def test_the_out_of_bag_error_is_near_a_held_out_one(name: str) -> None:
    data, fold = load_set(name), folds(name)
    plan = forest(trees=100)
    voted, held = [], []
    for number in range(5):
        train, test = data.take(fold != number), data.take(fold == number)
        model = fit(train, plan)
        voted.append(out_of_bag(model, train, plan).error)
        held.append(float(np.mean(model.predict_codes(test) != test.target)))
    assert abs(np.mean(voted) - np.mean(held)) < 0.02
