import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_trees import SCHEMA, random_cases, table
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ModelFormatError, ParameterError, SchemaError
from treewright.tree.formula import Condition
from treewright.tree.rules import Rule, RuleSet

RED, BIG = Condition.equals(0, 0), Condition.above(1, 3.5)
NOT_RED = Condition.one_of(0, (2, 1))

CASES = table(
    SCHEMA,
    [
        ("red", 4.0, "no", 1.0, "a"),
        ("red", 3.5, "no", 1.0, "b"),
        ("blue", None, "no", 1.0, "b"),
        (None, 9.0, "no", 1.0, "c"),
    ],
)


def rule(*conditions: Condition, outcome: int = 0, error: float = 0.1) -> Rule:
    return Rule(conditions, outcome, covers=3, used=2, wrong=1, error=error)


def example() -> RuleSet:
    return RuleSet(SCHEMA, (rule(RED, BIG), rule(NOT_RED, outcome=1, error=0.25)), default=2)


@pytest.mark.parametrize(
    ("counts", "error"),
    [
        ((1, 2, 0), 0.1),
        ((3, 1, 2), 0.1),
        ((3, 1, -1), 0.1),
        ((2**53, 0, 0), 0.1),
        ((1, 1, 1), 1.5),
        ((1, 1, 1), float("nan")),
    ],
)
def test_impossible_rules_are_refused(counts: tuple[int, int, int], error: float) -> None:
    with pytest.raises(ParameterError):
        Rule((RED,), 0, *counts, error=error)


@pytest.mark.parametrize(
    ("rules", "default", "limit"),
    [
        ((rule(Condition.equals(4, 0)),), 0, 0.7),
        ((rule(Condition.equals(1, 0)),), 0, 0.7),
        ((rule(Condition.at_most(0, 1.0)),), 0, 0.7),
        ((rule(Condition.equals(0, 3)),), 0, 0.7),
        ((rule(RED, outcome=3),), 0, 0.7),
        ((), 3, 0.7),
        ((), -1, 0.7),
        ((), 0, 1.1),
    ],
)
def test_a_rule_set_must_fit_its_schema(rules: tuple[Rule, ...], default: int, limit: float) -> None:
    with pytest.raises(ParameterError):
        RuleSet(SCHEMA, rules, default, limit)


def test_rules_need_classes() -> None:
    numeric = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    with pytest.raises(ParameterError, match="numeric"):
        RuleSet(numeric, (), 0)


def test_the_first_rule_that_fires_decides() -> None:
    rules = RuleSet(SCHEMA, (rule(BIG, outcome=1), rule(RED, outcome=0)), default=2)
    assert rules.first_match(CASES).tolist() == [0, 1, -1, 0]
    assert rules.predict_codes(CASES).tolist() == [1, 0, 2, 1]


def test_a_rule_above_the_error_limit_never_fires() -> None:
    bad, just = rule(BIG, outcome=1, error=0.71), rule(BIG, outcome=1, error=0.7)
    assert RuleSet(SCHEMA, (bad,), 0).predict_codes(CASES).tolist() == [0, 0, 0, 0]
    assert RuleSet(SCHEMA, (just,), 0).predict_codes(CASES).tolist() == [1, 0, 0, 1]
    assert RuleSet(SCHEMA, (bad,), 0, error_limit=1.0).predict_codes(CASES).tolist() == [1, 0, 0, 1]
    assert "never fires" in str(RuleSet(SCHEMA, (bad,), 0))


def test_no_rules_predict_the_default() -> None:
    empty = RuleSet(SCHEMA, (), 1)
    assert len(empty) == 0
    assert str(empty) == "DEFAULT b"
    assert empty.predict_codes(CASES).tolist() == [1, 1, 1, 1]
    assert empty.predict_codes(CASES.take([])).tolist() == []


def test_other_cases_are_refused() -> None:
    with pytest.raises(SchemaError):
        example().predict_codes(sample("play-tennis"))


def test_text() -> None:
    assert str(example()).splitlines() == [
        "1  IF colour = red AND size > 3.5 THEN a  [covers 3, used 2, wrong 1, estimated accuracy 90.0 %]",
        "2  IF colour in {green, blue} THEN b  [covers 3, used 2, wrong 1, estimated accuracy 75.0 %]",
        "DEFAULT c",
    ]
    assert str(RuleSet(SCHEMA, (rule(),), 0)).startswith("1  IF true THEN a")


def test_hostile_names_are_printed_safely() -> None:
    schema = Schema(
        (Column("a\n", Kind.NOMINAL, ("\x1b[31m", "x")), Column("y", Kind.NOMINAL, ("n\r", "m"))), target="y"
    )
    text = str(RuleSet(schema, (rule(Condition.equals(0, 0)),), 0))
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


def test_many_cases_are_classified_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = random_cases(np.random.default_rng(0), 100, missing=0.2)
    whole = example().first_match(cases)
    monkeypatch.setattr("treewright.tree.rules.BATCH", 7)
    assert example().first_match(cases).tolist() == whole.tolist()


def test_plain_data_and_back() -> None:
    plain = example().to_dict()
    assert plain["rules"][0]["conditions"] == [
        {"attr": "colour", "op": "=", "value": "red"},
        {"attr": "size", "op": ">", "value": 3.5},
    ]
    assert plain["rules"][1]["conditions"] == [{"attr": "colour", "op": "in", "value": ["green", "blue"]}]
    assert plain["default_class"] == "c"
    assert RuleSet.from_dict(SCHEMA, plain) == example()


HOSTILE: list[tuple[str, Any]] = [
    ("rules", None),
    ("rules", {}),
    ("rules", [None]),
    ("rules", [[]]),
    ("default_class", "d"),
    ("default_class", None),
    ("default_class", ["a"]),
    ("default_class", 0),
    ("error_limit", "0.7"),
    ("error_limit", True),
    ("error_limit", -0.1),
    ("error_limit", float("nan")),
    ("rules.0.conditions", None),
    ("rules.0.conditions", [None]),
    ("rules.0.class", "d"),
    ("rules.0.class", {}),
    ("rules.0.covers", -1),
    ("rules.0.covers", 10**400),
    ("rules.0.covers", 3.0),
    ("rules.0.covers", True),
    ("rules.0.covers", None),
    ("rules.0.used", 4),
    ("rules.0.wrong", 3),
    ("rules.0.error_estimate", 1.01),
    ("rules.0.error_estimate", float("inf")),
    ("rules.0.error_estimate", 10**400),
    ("rules.0.error_estimate", None),
    ("rules.0.conditions.0.attr", "y"),
    ("rules.0.conditions.0.attr", []),
    ("rules.0.conditions.0.attr", "size"),
    ("rules.0.conditions.0.op", "!="),
    ("rules.0.conditions.0.op", []),
    ("rules.0.conditions.0.op", "<="),
    ("rules.0.conditions.0.value", "pink"),
    ("rules.0.conditions.0.value", 0),
    ("rules.0.conditions.0.value", ["red"]),
    ("rules.0.conditions.1.value", float("nan")),
    ("rules.0.conditions.1.value", 10**400),
    ("rules.0.conditions.1.value", "3"),
    ("rules.0.conditions.1.value", False),
    ("rules.1.conditions.0.value", []),
    ("rules.1.conditions.0.value", "green"),
    ("rules.1.conditions.0.value", ["green", "green"]),
    ("rules.1.conditions.0.value", [["green"]]),
]


@pytest.mark.parametrize(("path", "value"), HOSTILE)
def test_damaged_plain_data_are_refused(path: str, value: Any) -> None:
    plain = copy.deepcopy(example().to_dict())
    part: Any = plain
    *way, last = path.split(".")
    for step in way:
        part = part[int(step)] if step.isdigit() else part[step]
    part[last] = value
    with pytest.raises(ModelFormatError):
        RuleSet.from_dict(SCHEMA, plain)


@pytest.mark.parametrize("missing", ["rules", "default_class"])
def test_missing_parts_are_refused(missing: str) -> None:
    plain = example().to_dict()
    del plain[missing]
    with pytest.raises(ModelFormatError):
        RuleSet.from_dict(SCHEMA, plain)


def test_a_schema_without_classes_is_refused() -> None:
    with pytest.raises(ModelFormatError):
        RuleSet.from_dict(Schema(SCHEMA.columns), example().to_dict())


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["rules", "conditions", "class", "attr", "op", "value"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(anything)
def test_arbitrary_data_are_refused_in_one_way(data: Any) -> None:
    with pytest.raises(ModelFormatError):
        RuleSet.from_dict(SCHEMA, data)


def condition_lists() -> st.SearchStrategy[list[Condition]]:
    nominal = st.builds(Condition.equals, st.just(0), st.integers(0, 2))
    subset = st.builds(Condition.one_of, st.just(0), st.sets(st.integers(0, 2), min_size=1))
    low = st.builds(Condition.at_most, st.sampled_from([1, 3]), st.integers(0, 5))
    high = st.builds(Condition.above, st.sampled_from([1, 3]), st.integers(0, 5))
    return st.lists(st.one_of(nominal, subset, low, high), max_size=4)


@given(st.lists(condition_lists(), max_size=5), st.integers(0, 2**32 - 1))
def test_classification_equals_asking_each_case_in_turn(lists: list[list[Condition]], seed: int) -> None:
    cases = random_cases(np.random.default_rng(seed), 20, missing=0.2)
    rules = RuleSet(SCHEMA, tuple(rule(*conditions, outcome=i % 3) for i, conditions in enumerate(lists)), default=1)
    expected = []
    for row in range(len(cases)):
        one = cases.take([row])
        firing = [r.outcome for r in rules.rules if all(bool(c.matches(one)[0]) for c in r.conditions)]
        expected.append(firing[0] if firing else 1)
    assert rules.predict_codes(cases).tolist() == expected
    assert RuleSet.from_dict(SCHEMA, rules.to_dict()) == rules
