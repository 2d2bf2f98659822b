"""The competitors: each grows what it is asked for, and its classes are in the order of their numbers."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases import SETS, Case, Growth
from benchmarks.made_data import RECIPES, Table, continuous, letters, mixed, nominal
from benchmarks.peers import PEERS, Competitor, Treewright, by_class, competitor_named

from treewright.errors import ParameterError

EVERYONE = [
    pytest.param(name, marks=pytest.mark.skipif(find_spec(package) is None, reason=f"{package} is not installed"))
    for name, package in [("treewright", "treewright"), *((name, peer.package) for name, peer in PEERS.items())]
]


def grown(competitor: Competitor, table: Table, growth: Growth) -> tuple[object, float]:
    model = competitor.grow(competitor.form(table), table, growth, 1)
    shares = by_class(competitor.shares(model, competitor.questions(table)), table.classes)
    if not table.classes:
        assert shares.shape == (table.n_rows,)
        return model, float(np.corrcoef(shares, table.labels)[0, 1])
    assert shares.shape == (table.n_rows, table.classes)
    return model, float((shares.argmax(axis=1) == table.labels).mean())


@pytest.mark.parametrize("name", EVERYONE)
def test_depth_is_the_number_of_tests_on_a_path(name: str) -> None:
    competitor = competitor_named(name)
    table = continuous(2_000, columns=6)
    model, _ = grown(competitor, table, Growth(max_depth=3))
    assert competitor.size(model) == 15
    assert competitor.version[0].isdigit()


@pytest.mark.parametrize("name", EVERYONE)
def test_without_a_limit_numbers_are_learned_by_heart(name: str) -> None:
    competitor = competitor_named(name)
    model, right = grown(competitor, continuous(400, columns=6), Growth())
    assert right == 1.0
    assert competitor.size(model) > 100


@pytest.mark.parametrize("name", EVERYONE)
def test_nominal_and_missing_values_are_welcome(name: str) -> None:
    competitor = competitor_named(name)
    for table in (nominal(500, columns=5, values=4, classes=3), mixed(500)):
        model, right = grown(competitor, table, Growth("c45", min_leaf=2))
        assert right > np.bincount(table.labels).max() / table.n_rows + 0.05
        assert competitor.size(model) > 10


@pytest.mark.parametrize("name", EVERYONE)
def test_classes_come_in_the_order_of_their_numbers(name: str) -> None:
    _, right = grown(competitor_named(name), letters(600, classes=12), Growth(max_depth=7))
    assert right > 0.7


@pytest.mark.parametrize("name", EVERYONE)
def test_forests_have_as_many_trees_as_asked_for(name: str) -> None:
    competitor = competitor_named(name)
    table = continuous(300, columns=9)
    one, _ = grown(competitor, table, Growth("forest", trees=1))
    several, right = grown(competitor, table, Growth("forest", trees=10))
    assert 6 < competitor.size(several) / competitor.size(one) < 14
    assert right > 0.8


def test_scikit_learn_grows_stumps_and_stores_them(tmp_path: Path) -> None:
    competitor = competitor_named("scikit-learn")
    table = continuous(400, columns=6)
    model, _ = grown(competitor, table, Growth("adaboost", max_depth=1, trees=7))
    assert competitor.size(model) == 21
    competitor.save(model, tmp_path / "model")
    again = competitor.load(tmp_path / "model")
    assert np.array_equal(competitor.shares(again, table.numbers), competitor.shares(model, table.numbers))


def test_treewright_prunes_and_stores(tmp_path: Path) -> None:
    competitor = Treewright()
    table = nominal(500, columns=5, values=4, classes=3)
    whole, _ = grown(competitor, table, Growth("c45", min_leaf=2))
    pruned, _ = grown(competitor, table, Growth("c45", min_leaf=2, pruned=True))
    assert competitor.size(pruned) < competitor.size(whole)
    competitor.save(pruned, tmp_path / "model.json")
    form = competitor.questions(table)
    again = competitor.load(tmp_path / "model.json")
    assert np.array_equal(competitor.shares(again, form), competitor.shares(pruned, form))


def test_what_is_not_asked_of_a_peer_is_refused(tmp_path: Path) -> None:
    peer = competitor_named("ydf")
    with pytest.raises(ParameterError, match="not asked to save"):
        peer.save(None, tmp_path / "x")
    with pytest.raises(ParameterError, match="not asked to load"):
        peer.load(tmp_path / "x")


def test_an_unknown_competitor_gets_the_nearest() -> None:
    with pytest.raises(ParameterError, match="did you mean 'lightgbm'"):
        competitor_named("lihgtgbm")


@pytest.mark.parametrize("name", EVERYONE)
@pytest.mark.parametrize("kind", ["cart", "forest"])
def test_numbers_are_predicted_in_regression(name: str, kind: str) -> None:
    _, right = grown(competitor_named(name), continuous(500, columns=6, classes=0), Growth(kind, trees=10))
    assert right > 0.8


@pytest.mark.full
@pytest.mark.parametrize("name", EVERYONE)
@pytest.mark.parametrize("case", SETS["tables"], ids=lambda case: case.name)
def test_every_kind_of_table_is_grown_by_everyone_who_is_asked(name: str, case: Case) -> None:
    if name in (*case.peers, "treewright"):
        table = RECIPES["skewed"][case.maker](300, **case.shape)
        model, _ = grown(competitor_named(name), table, replace(case.growth, trees=min(case.growth.trees, 3)))
        assert competitor_named(name).size(model) >= 3


def test_the_criterion_changes_the_tree() -> None:
    table = continuous(600, columns=6)
    for kind in ("cart", "forest", "adaboost"):
        for name in ("treewright", "scikit-learn"):
            competitor, growth = competitor_named(name), Growth(kind, max_depth=4, trees=3)
            models = [grown(competitor, table, replace(growth, criterion=one))[0] for one in ("gini", "entropy")]
            by_gini, by_entropy = (competitor.shares(model, table.numbers) for model in models)
            assert not np.array_equal(by_gini, by_entropy)


def test_forests_and_series_by_the_gain_ratio_have_trees_of_c45() -> None:
    table = continuous(300, columns=6)
    for kind in ("forest", "adaboost"):
        model = Treewright().grow(table.numbers, table, Growth(kind, trees=2, criterion="gain_ratio"), 1)
        assert model.model_.recipe["tree"]["criterion"] == "gain_ratio"


def test_one_tree_of_scikit_learn_knows_one_thread_only() -> None:
    known = {name: competitor_named(name).uses_threads(Growth(), "fit") for name in PEERS}
    assert known == {"scikit-learn": False, "lightgbm": True, "xgboost": True, "ydf": True}
    assert competitor_named("scikit-learn").uses_threads(Growth("forest"), "fit")
