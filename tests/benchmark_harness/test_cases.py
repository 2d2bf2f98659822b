"""The cases: each can be made, is selectable, and the quick form is a part of the full one."""

from __future__ import annotations

import pytest
from benchmarks.cases import CASES, chosen_cases
from benchmarks.made_data import MAKERS
from benchmarks.peers import PEERS

from treewright.errors import ParameterError

ACTIONS = {"fit", "predict", "latency", "start", "command", "compile", "rows", "columns"}


def test_cases_are_made_of_what_there_is() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    for case in CASES:
        assert case.maker in MAKERS
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


def test_predicting_learns_from_a_tenth() -> None:
    (case,) = chosen_cases(["predict"], full=True)
    assert (case.training_rows(1_000_000), case.test_rows(1_000_000)) == (100_000, 1_000_000)
    (case,) = chosen_cases(["small"], full=True)
    assert (case.training_rows(150), case.test_rows(150)) == (150, 0)
