import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from small_trees import SCHEMA, random_cases, random_tree, tree_of
from treewright.learners.c45rules.cases import PathRule, extract_rules
from treewright.tree.formula import Condition, ConditionMasks


def test_leaves_in_order_and_conditions_from_the_root() -> None:
    def leaf(name: str, n: float) -> dict[str, object]:
        return {"class": name, "n": n, "dist": {name: n}}

    small = {
        "class": "a",
        "n": 3,
        "dist": {"a": 3},
        "attr": "flag",
        "children": [["no", leaf("a", 2.0)], ["yes", leaf("c", 1.0)]],
    }
    root = {
        "class": "a",
        "n": 4.5,
        "dist": {"a": 4.5},
        "attr": "size",
        "cut": 2.5,
        "children": [["<=", small], [">", leaf("b", 1.5)]],
    }
    below = Condition.at_most(1, 2.5)
    assert extract_rules(tree_of(SCHEMA, root)) == [
        PathRule((below, Condition.equals(2, 0)), 0),
        PathRule((below, Condition.equals(2, 1)), 2),
        PathRule((Condition.above(1, 2.5),), 1),
    ]
    small["children"] = [["no", leaf("a", 0.0)], ["yes", leaf("c", 0.9999)]]
    assert [rule.outcome for rule in extract_rules(tree_of(SCHEMA, root))] == [1]


@given(st.integers(0, 2**32 - 1), st.integers(0, 6))
def test_each_case_of_the_tree_is_covered_by_one_path_rule(seed: int, tests: int) -> None:
    rng = np.random.default_rng(seed)
    cases = random_cases(rng, 25)
    masks = ConditionMasks(cases)
    rules = extract_rules(random_tree(rng, cases, tests))
    covers = np.array([masks.all_of(rule.conditions) for rule in rules])
    assert covers.sum(axis=0).tolist() == [1] * 25
