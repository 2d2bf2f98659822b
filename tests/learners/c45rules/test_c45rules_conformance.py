"""The lists of the original program, rule by rule, from its own recorded trees."""

from typing import Any

import numpy as np
import pytest

from oracle_sets import load_json, load_set, set_names
from small_trees import tree_of
from treewright.learners.c45rules.induce import induce_rules
from treewright.learners.c45rules.options import RuleOptions
from treewright.tree.rules import RuleSet

pytestmark = pytest.mark.oracle

NAMES = set_names(task="classification", having="c45rules.json")


def recorded_tree(name: str) -> dict[str, Any]:
    run = load_json(name, "c45.json")["runs"]["default"]["unpruned"]
    if "tree" not in run:
        pytest.skip(f"the grown tree of {name} was not recorded")
    tree: dict[str, Any] = run["tree"]
    return tree


def significant(number: float) -> float:
    """Round to the digits that were recorded."""
    return float(f"{number:.6g}")


def as_recorded(rules: RuleSet) -> list[dict[str, Any]]:
    plain = rules.to_dict()["rules"]
    for entry, rule in zip(plain, rules.rules, strict=True):
        entry["error_estimate"] = significant(rule.error)
        entry["accuracy_estimate"] = significant(rule.accuracy)
    result: list[dict[str, Any]] = plain
    return result


@pytest.mark.skipif(not NAMES, reason="the recorded results are not here; set TREEWRIGHT_ORACLE to their folder")
def test_all_sets_are_here() -> None:
    assert len(NAMES) == 38


@pytest.mark.parametrize("name", NAMES)
def test_the_same_rules(name: str) -> None:
    cases, recorded = load_set(name), load_json(name, "c45rules.json")
    rules = induce_rules(tree_of(cases.schema, recorded_tree(name)), cases, RuleOptions.release8())
    assert as_recorded(rules) == recorded["rules"]
    assert cases.schema.classes[rules.default] == recorded["default_class"]
    assert np.count_nonzero(rules.predict_codes(cases) != cases.target) == recorded["train_errors"]
    if "test" in recorded:
        test = load_set(name, "test.csv")
        assert np.count_nonzero(rules.predict_codes(test) != test.target) == recorded["test"]["errors"]


@pytest.mark.parametrize("name", NAMES)
def test_double_precision_is_as_accurate(name: str) -> None:
    """Other rounding and other random numbers may choose other rules, but hardly worse ones."""
    cases, recorded = load_set(name), load_json(name, "c45rules.json")
    rules = induce_rules(tree_of(cases.schema, recorded_tree(name)), cases)
    errors = np.count_nonzero(rules.predict_codes(cases) != cases.target)
    assert errors <= recorded["train_errors"] + 2 + 0.01 * len(cases)
