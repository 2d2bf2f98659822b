import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from small_trees import SCHEMA, random_cases, random_tree, table, tree_of
from treewright.data.samples import sample
from treewright.learners.c45rules.cases import extract_rules
from treewright.learners.c45rules.induce import induce_rules_on_validation
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.formula import Condition
from treewright.tree.split import Split
from treewright.tree.tree import Stop


def test_the_rule_of_the_lecture_loses_patrons_or_hungry_by_its_accuracy() -> None:
    """Patrons = Full and Hungry = No predicts No: which of the two conditions goes?"""
    data = sample("restaurant")
    schema = data.schema
    patrons, hungry = (schema.attribute_names.index(name) for name in ("Patrons", "Hungry"))
    wait, leave = (NodeRecord(2.0, 2 * np.eye(2)[outcome], outcome, stop=Stop.PURE) for outcome in (0, 1))
    root = NodeRecord(8.0, np.array([4.0, 4.0]), 0, Split.multiway(patrons, 3), [1, 2, 3])
    full = NodeRecord(4.0, np.array([2.0, 2.0]), 0, Split.multiway(hungry, 2), [4, 5])
    tree, _ = build_tree(schema, [root, leave, wait, full, wait, leave])
    rules = induce_rules_on_validation(tree, data)
    texts = [rule.describe(schema) for rule in rules.rules]
    # Among those not hungry one waits (Patrons = Some), so both conditions stay: two cases, both right. Of those
    # who are hungry more wait than of those who find it full and are hungry, so that rule loses Patrons.
    assert "IF Patrons = Full AND Hungry = F THEN F" in texts
    assert "IF Hungry = T THEN T" in texts
    assert "IF Patrons = Full AND Hungry = T THEN T" not in texts
    assert rules.default == 0
    assert texts[0] == "IF Patrons = Some THEN T"


def leaf(name: str, n: float = 2.0) -> dict[str, object]:
    return {"class": name, "n": n, "dist": {name: n}}


def test_rules_are_sorted_by_accuracy_then_by_cover() -> None:
    root = {"class": "b", "n": 6, "dist": {"b": 6}, "attr": "colour"}
    root["children"] = [["red", leaf("a")], ["green", leaf("b")], ["blue", leaf("c")]]
    rows = [("red", 1.0, "no", 0.0, "a"), ("green", 1.0, "no", 0.0, "b"), ("green", 1.0, "no", 0.0, "b")]
    rows += [("blue", 1.0, "no", 0.0, "c")] * 3 + [("blue", 1.0, "no", 0.0, "a")]
    rules = induce_rules_on_validation(tree_of(SCHEMA, root), table(SCHEMA, rows))
    assert [rule.conditions[0].values[0] for rule in rules.rules] == [1, 0, 2]
    assert [rule.accuracy for rule in rules.rules] == [1.0, 1.0, 0.75]
    assert rules.default == 1


def test_a_rule_that_no_case_tests_is_widened_and_an_empty_one_left_out() -> None:
    root = {"class": "a", "n": 4, "dist": {"a": 4}, "attr": "flag"}
    root["children"] = [["no", leaf("a")], ["yes", leaf("b")]]
    rows = [("red", 1.0, "no", 0.0, "a"), ("red", 1.0, "no", 0.0, "b")]
    rules = induce_rules_on_validation(tree_of(SCHEMA, root), table(SCHEMA, rows))
    assert rules.rules == ()  # both conditions go: the first does not help, the second was never tested
    assert rules.predict_codes(table(SCHEMA, rows)).tolist() == [0, 0]


def test_inaccurate_rules_still_fire() -> None:
    root = {"class": "a", "n": 4, "dist": {"a": 4}, "attr": "flag"}
    root["children"] = [["no", leaf("a")], ["yes", leaf("b")]]
    rows = [("red", 1.0, "yes", 0.0, "b")] + [("red", 1.0, "yes", 0.0, "c")] * 4
    rows += [("red", 1.0, "no", 0.0, "c")] * 5
    rules = induce_rules_on_validation(tree_of(SCHEMA, root), table(SCHEMA, rows))
    bad = next(rule for rule in rules.rules if rule.conditions == (Condition.equals(2, 1),))
    assert bad.accuracy < 0.3
    assert bad.used == 5


@given(st.integers(0, 2**32 - 1), st.integers(0, 8))
def test_no_rule_gets_less_accurate_than_its_path(seed: int, tests: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, random_cases(rng, 60), tests)
    validation = random_cases(rng, 40, missing=0.1)
    rules = induce_rules_on_validation(tree, validation)
    assert [rule.error for rule in rules.rules] == sorted(rule.error for rule in rules.rules)
    target = np.asarray(validation.target)
    for rule in rules.rules:
        mask = rule.matches(validation)
        assert rule.accuracy == 1 - (mask & (target != rule.outcome)).sum() / mask.sum()
        parents = [one for one in extract_rules(tree) if set(rule.conditions) <= set(one.conditions)]
        assert any(one.outcome == rule.outcome for one in parents)
