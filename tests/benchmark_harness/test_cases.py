"""The cases: each can be made, is selectable, and the quick form is a part of the full one."""

from __future__ import annotations

import pytest
from benchmarks.cases import BASE, CASES, KINDS, LEARNERS, SETS, chosen_cases
from benchmarks.made_data import RECIPES
from benchmarks.peers import PEERS

from treewright.errors import ParameterError

ACTIONS = {"fit", "predict", "latency", "start", "command", "cold", "compile", "rows", "columns"}


def test_cases_are_made_of_what_there_is() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    for case in CASES:
        assert case.maker in RECIPES["plain"]
        assert case.action in ACTIONS
        assert set(case.peers) <= set(PEERS)
        assert all(case.growth.kind in PEERS[peer].grows for peer in case.peers)


def test_the_quick_form_is_a_part_of_the_full_one() -> None:
    quick, full = chosen_cases([], full=False), chosen_cases([], full=True)
    assert full == CASES
    assert 0 < len(quick) < len(full)
    assert {case.name for case in quick} <= {case.name for case in full}
    assert all(case.quick_rows <= 50_000 for case in quick if case.action != "command")


def test_a_case_is_found_by_its_name_in_either_form() -> None:
    assert [case.name for case in chosen_cases(["wide"], full=False)] == ["wide"]
    with pytest.raises(ParameterError, match="did you mean 'predict'"):
        chosen_cases(["predcit"], full=True)


def test_predicting_learns_from_a_fifth() -> None:
    (case,) = chosen_cases(["predict"], full=True)
    assert (case.training_rows(1_000_000), case.test_rows(1_000_000)) == (200_000, 1_000_000)
    (case,) = chosen_cases(["small"], full=True)
    assert (case.training_rows(150), case.test_rows(150)) == (150, 0)


def test_every_kind_of_table_is_under_every_learner_that_can_have_it() -> None:
    names = {case.name for case in SETS["tables"]}
    assert {f"{learner}-{kind}" for learner in LEARNERS for kind in KINDS} - names == {"boosted-regression"}
    for case in SETS["tables"]:
        assert case.kind in KINDS
        assert case.recipes == tuple(RECIPES)
        assert case.rows == (1_000_000 if case.growth.trees == 1 else 100_000)


def test_boosting_has_no_peer_that_takes_missing_values() -> None:
    (case,) = chosen_cases(["boosted-missing"], full=True)
    assert case.peers == ()


def test_a_set_is_chosen_by_its_name() -> None:
    kernels = chosen_cases([], full=False, sets=["kernels"])
    assert kernels == SETS["kernels"]
    assert f"forest-{BASE}" in {case.name for case in kernels}
    assert all(case.peers == () for case in kernels)
    assert chosen_cases(["predict"], full=False, sets=["kernels"])[-1].name == "predict"
    with pytest.raises(ParameterError, match="did you mean 'kernels'"):
        chosen_cases([], full=False, sets=["kernel"])


def test_what_has_no_data_or_one_form_of_them_has_one_recipe() -> None:
    recipes = {case.name: case.recipes for case in CASES}
    assert recipes["start-help"] == recipes["small"] == ("plain",)
    assert recipes["start-cold"] == tuple(RECIPES)
