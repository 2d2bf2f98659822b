from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_trees import SCHEMA, random_cases, random_tree
from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.learners.c45rules.arithmetic import Precision
from treewright.learners.c45rules.induce import induce_rules
from treewright.learners.c45rules.options import RuleOptions, Search
from treewright.tree.rules import RuleSet


def test_options_take_words() -> None:
    options = RuleOptions(search="release8", precision="single")  # type: ignore[arg-type]
    assert options == RuleOptions.release8()
    assert options.search is Search.RELEASE8
    assert options.precision is Precision.SINGLE


@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence": 0},
        {"confidence": 1.01},
        {"confidence": float("nan")},
        {"confidence": True},
        {"confidence": "0.25"},
        {"search": "random"},
        {"search": None},
        {"seed": -1},
        {"seed": 1.0},
        {"precision": "half"},
    ],
)
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        RuleOptions(**wrong)


def test_a_leaf_alone_gives_the_majority() -> None:
    cases = random_cases(np.random.default_rng(1), 30)
    rules = induce_rules(random_tree(np.random.default_rng(1), cases, 0), cases)
    assert rules.rules == ()
    assert rules.default == int(np.argmax(np.bincount(np.asarray(cases.target))))


def test_weights_play_no_part() -> None:
    rng = np.random.default_rng(5)
    cases = random_cases(rng, 80)
    tree = random_tree(rng, cases, 6)
    weighted = Dataset(SCHEMA, cases.columns, 80, cases.target, weights=rng.random(80))
    assert induce_rules(tree, weighted) == induce_rules(tree, cases)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 25), st.sampled_from(Precision), st.sampled_from(Search))
def test_rules_are_measured_honestly(seed: int, tests: int, precision: Precision, search: Search) -> None:
    rng = np.random.default_rng(seed)
    cases = random_cases(rng, 120, missing=0.05)
    tree = random_tree(rng, cases, tests)
    options = RuleOptions(search=search, precision=precision)
    rules = induce_rules(tree, cases, options)
    first = rules.first_match(cases)
    for index, rule in enumerate(rules.rules):
        mask = rule.matches(cases)
        assert rule.covers == mask.sum()
        assert rule.used == (first == index).sum()
        assert rule.wrong == ((first == index) & (cases.target != rule.outcome)).sum()
    assert induce_rules(tree, cases, options) == rules
    assert RuleSet.from_dict(cases.schema, rules.to_dict()) == rules


def test_a_seed_can_matter_and_is_kept_to() -> None:
    rng = np.random.default_rng(11)
    cases = random_cases(rng, 400)
    tree = random_tree(rng, cases, 60)
    assert induce_rules(tree, cases, RuleOptions(seed=1)) == induce_rules(tree, cases, RuleOptions(seed=1))
