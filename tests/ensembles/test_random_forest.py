"""Forests are the same for any number of threads, and go on to the same bytes after an interruption."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treewright
from ensembles.made_cases import three_classes, two_moons, wave, with_missing
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.ensembles import random_forest as module
from treewright.ensembles.plan import EnsemblePlan, adaboost, bagging, forest
from treewright.ensembles.random_forest import CaseSampling, digest_of, grow_forest
from treewright.ensembles.running import Interrupted
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, Stopping
from treewright.plans import c45, chaid
from treewright.tree.forest import Forest
from treewright.tree.io.model_file import model_from_json, model_to_json

DATA = two_moons(120)

PLANS: dict[str, Any] = {
    "forest": forest(trees=8),
    "per tree": forest(trees=6, per="tree", max_features=2),
    "random cuts": forest(trees=6, random_cuts=True, bootstrap=False),
    "c45": forest(c45(), trees=6, max_features="log2"),
    "bagging": bagging(trees=6),
    "chaid": bagging(chaid(), trees=4),
    "balanced": bagging("cart", trees=5, balanced=True),
    "balanced weights": bagging("cart", trees=5, balanced_weights=True),
    "few": forest(trees=5, max_samples=0.3),
}


def again(model: Forest) -> Forest:
    """Save and load."""
    loaded = model_from_json(model_to_json(model))
    assert isinstance(loaded, Forest)
    return loaded


@pytest.mark.parametrize("name", PLANS)
def test_any_number_of_threads_gives_the_same_bytes(name: str) -> None:
    one, three = (fit(DATA, PLANS[name], n_jobs=jobs) for jobs in (1, 3))
    assert model_to_json(one) == model_to_json(three)
    assert one.n_trees == PLANS[name].trees


@pytest.mark.parametrize("name", ["forest", "c45", "balanced weights", "chaid"])
def test_a_forest_that_was_saved_early_goes_on_to_the_same_bytes(name: str) -> None:
    plan, data = PLANS[name], with_missing(DATA) if name == "c45" else DATA
    whole = fit(data, plan)
    early = fit(data, replace(plan, trees=3))
    saved = again(early)
    assert model_to_json(fit(data, plan, resume=saved, n_jobs=2)) == model_to_json(whole)


def test_ctrl_c_keeps_the_finished_trees_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = forest(trees=10)
    whole = fit(DATA, plan)
    make = module._Job.__call__

    def interrupted(self: Any, number: int) -> Any:
        if number == 4:
            raise KeyboardInterrupt
        return make(self, number)

    monkeypatch.setattr(module._Job, "__call__", interrupted)
    with pytest.raises(Interrupted, match="4 of 10 trees are finished and kept") as stopped:
        fit(DATA, plan)
    monkeypatch.undo()
    partial = again(stopped.value.forest)
    assert partial.n_trees == 4
    assert model_to_json(fit(DATA, plan, resume=partial)) == model_to_json(whole)


def test_ctrl_c_before_the_first_tree_is_just_that(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Any, number: int) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(module._Job, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        fit(DATA, forest(trees=10))
    assert not isinstance(stopped.value, Interrupted)


@pytest.mark.parametrize(
    ("resumed", "data", "words"),
    [
        (forest(trees=8, seed=1), DATA, "trained with other options: seed"),
        (forest(trees=8, max_features=None), DATA, "max_features"),
        (bagging(trees=8), DATA, "trained with other options"),
        (forest(trees=8), two_moons(120, seed=1), "other data"),
        (forest(trees=8), three_classes(), "other data"),
        (forest(trees=2), DATA, "has 5 trees"),
    ],
)
def test_only_the_same_forest_goes_on(resumed: Any, data: Any, words: str) -> None:
    before = fit(DATA, forest(trees=5))
    with pytest.raises(ParameterError, match=words):
        fit(data, resumed, resume=before)


def test_a_boosted_model_is_not_gone_on_with_as_a_forest() -> None:
    with pytest.raises(ParameterError, match="trained with other options"):
        fit(DATA, forest(trees=5), resume=fit(DATA, adaboost(trees=2)))


@pytest.mark.parametrize("plan", [forest(trees=2), adaboost(trees=2)], ids=["forest", "adaboost"])
def test_large_data_are_hashed_once_by_a_thread_beside_the_growth(
    plan: EnsemblePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fit(DATA, plan)
    hashed_by: list[str] = []

    def recording_digest(data: Dataset) -> str:
        hashed_by.append(threading.current_thread().name)
        return digest_of(data)

    monkeypatch.setattr(module, "digest_of", recording_digest)
    monkeypatch.setattr(module, "HASHED_AT_ONCE", 1)
    found = fit(DATA, plan)
    assert model_to_json(found) == model_to_json(expected)
    fit(DATA, replace(plan, trees=3), resume=found)
    assert len(hashed_by) == 2
    assert all(name.startswith("treewright-digest") for name in hashed_by)


def test_the_digest_is_that_of_the_data_during_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HASHED_AT_ONCE", 1)
    rows = np.random.default_rng(0).normal(size=(200, 3))
    model = treewright.RandomForestClassifier(2).fit(rows, rows[:, 0] > 0).model_
    expected = model_to_json(model)
    rows[:] = 0.0
    assert model_to_json(model) == expected
    again = treewright.RandomForestClassifier(2).fit(rows, np.arange(200) % 2).model_
    assert again.provenance["data"] != model.provenance["data"]


def test_trees_differ_by_bootstrap_and_by_seed() -> None:
    first = fit(DATA, bagging("cart", trees=3))
    other = fit(DATA, bagging("cart", trees=3, seed=1))
    texts = [str(tree) for tree in (*first.trees, *other.trees)]
    assert len(set(texts)) == 6


def test_without_bootstraps_bagged_trees_are_all_the_same_tree() -> None:
    model = fit(DATA, bagging("cart", trees=3, bootstrap=False))
    plain = fit(DATA, CART())
    assert {str(tree) for tree in model.trees} == {str(plain.tree)}
    assert np.allclose(model.predict_proba(DATA), plain.predict_proba(DATA))


def test_each_tree_is_grown_from_its_own_bootstrap() -> None:
    plan = bagging("cart", trees=3)
    model = fit(DATA, plan)
    for number, tree in enumerate(model.trees):
        times = CaseSampling(plan, DATA).counts(number)
        assert tree.weight[0] == times.sum() == 120
        expected = fit(replace(DATA, weights=times.astype(np.float64)), CART()).tree
        assert tree.to_dict() == expected.to_dict()


def test_per_tree_only_the_attributes_sampled_are_tested() -> None:
    model = fit(DATA, forest(trees=20, per="tree", max_features=2))
    used = [set(tree.attribute[tree.attribute >= 0].tolist()) for tree in model.trees]
    assert all(len(one) <= 2 for one in used)
    assert len(set(map(frozenset, used))) > 2


def test_balanced_bootstraps_have_as_many_of_each_class() -> None:
    many = two_moons(300)
    assert many.target is not None
    rare = many.take(np.r_[np.flatnonzero(many.target == 0), np.flatnonzero(many.target)[:9]])
    model = fit(rare, bagging("cart", trees=4, balanced=True))
    for tree in model.trees:
        assert tree.counts[0].tolist() == [9, 9]
    weighed = fit(rare, bagging("cart", trees=4, balanced_weights=True))
    for tree in weighed.trees:
        assert tree.counts[0][0] == pytest.approx(tree.counts[0][1])


def test_class_weights_are_respected() -> None:
    plain = fit(DATA, forest(trees=10, max_features=None))
    heavy = fit(DATA, forest(CART(stopping=Stopping(max_depth=2)), trees=10), class_weights={"yes": 50.0})
    assert (heavy.predict(DATA) == "yes").sum() > (plain.predict(DATA) == "yes").sum()


def test_cases_of_no_weight_do_not_matter() -> None:
    weights = np.r_[np.ones(60), np.zeros(60)]
    model = fit(replace(DATA, weights=weights), forest(trees=5))
    assert all(tree.weight[0] <= 120 for tree in model.trees)
    only = np.zeros(120)
    only[3] = 1.0  # most bootstraps miss it: they take all cases then
    assert fit(replace(DATA, weights=only), forest(trees=5)).predict(DATA).tolist() == [DATA.y[3]] * 120


def test_a_forest_of_multiway_trees_with_missing_values() -> None:
    data = with_missing(two_moons(150), 0.3)
    model = fit(data, forest(c45(prune=False), trees=15))
    assert np.mean(model.predict_codes(data) == data.target) > 0.8
    assert any(3 in np.diff(tree.child_start) for tree in model.trees)


def test_numbers_are_averaged() -> None:
    data = wave(150)
    model = fit(data, forest(trees=20, max_features=None))
    actual = np.sin(data.columns[0])
    assert np.mean((model.predict(data) - actual) ** 2) < np.mean((fit(data, CART()).predict(data) - actual) ** 2)


def test_small_samples_grow_too() -> None:
    for name in ("play-tennis", "restaurant"):
        assert fit(sample(name), forest(trees=3)).n_trees == 3
    one = sample("play-tennis").take([0])
    assert fit(one, forest(trees=2)).predict(one).tolist() == ["No"]


def test_options_of_forests_are_refused_for_one_tree() -> None:
    with pytest.raises(ParameterError, match="are for forests"):
        fit(DATA, CART(), time_limit=2.0)


def test_progress_is_reported_for_each_tree() -> None:
    reported: list[tuple[int, int]] = []
    grow_forest(DATA, forest(trees=4), progress=lambda done, total: reported.append((done, total)))
    assert reported == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_cluster_grows_the_same_forest(backend: str) -> None:
    import joblib

    plan = forest(trees=6)
    here = fit(DATA, plan)
    if backend == "loky":
        with joblib.parallel_config(backend="loky", n_jobs=2):
            there = fit(DATA, plan)
    else:
        distributed = pytest.importorskip("distributed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the cluster, about this machine
            with (
                distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
                distributed.Client(cluster),
                joblib.parallel_config(backend="dask"),
            ):
                there = fit(DATA, plan)
    assert model_to_json(there) == model_to_json(here)
