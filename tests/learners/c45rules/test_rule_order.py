import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from small_trees import SCHEMA, random_cases, table
from treewright.learners.c45rules.cases import RuleCases
from treewright.learners.c45rules.generalise import Candidate
from treewright.learners.c45rules.induce import default_class, firing_order, first_two, without_harmful
from treewright.tree.formula import Condition

RED = Condition.equals(0, 0)


def cases_of(classes: str) -> RuleCases:
    return RuleCases(table(SCHEMA, [("red", 1.0, "no", 0.0, name) for name in classes]))


def covers(*rows: str) -> np.ndarray:
    return np.array([[mark == "x" for mark in row] for row in rows])


def candidate(outcome: int, error: float) -> Candidate:
    return Candidate((RED,), outcome, error)


def test_the_class_that_does_least_harm_comes_first() -> None:
    cases = cases_of("aabbcc")
    rules = [candidate(0, 0.3), candidate(0, 0.1), candidate(1, 0.2), candidate(2, 0.5)]
    masks = covers("x.x...", "xx.x..", "..xx..", "...xxx")
    # a covers two cases of others, b none, c one; after b has spoken, c covers none and a none.
    assert firing_order(rules, masks, cases) == [2, 1, 0, 3]


def test_equal_errors_keep_the_order_of_generation() -> None:
    rules = [candidate(0, 0.2), candidate(0, 0.1), candidate(0, 0.1)]
    assert firing_order(rules, covers("..", "..", ".."), cases_of("ab")) == [1, 2, 0]
    assert firing_order([], np.zeros((0, 2), dtype=bool), cases_of("ab")) == []


def test_the_default_is_the_most_frequent_uncovered_class() -> None:
    assert default_class(covers("xx..."), cases_of("aabbc")) == 1
    assert default_class(covers("xxx.."), cases_of("abbbc")) == 1  # a tie goes to the more frequent class
    assert default_class(covers("...."), cases_of("bbcc")) == 1  # then to the first
    assert default_class(covers("xxx"), cases_of("bcc")) == 2  # nothing is uncovered: the most frequent
    assert default_class(np.zeros((0, 3), dtype=bool), cases_of("ccb")) == 2


def test_harmful_rules_go_one_at_a_time() -> None:
    cases = cases_of("aabb")
    outcomes = np.array([1, 0, 1])
    masks = covers("xx..", "xxx.", "..xx")
    # The first rule is wrong twice where the second would be right; without it the second does no harm.
    assert without_harmful(outcomes, masks, 1, cases) == [1, 2]


def test_a_rule_that_changes_nothing_stays() -> None:
    cases = cases_of("aa")
    assert without_harmful(np.array([0, 0]), covers("xx", "xx"), 0, cases) == [0, 1]
    assert without_harmful(np.array([1]), covers("xx"), 2, cases) == [0]  # wrong, but so is the default
    assert without_harmful(np.array([1]), covers("xx"), 0, cases) == []


@given(st.integers(0, 2**32 - 1), st.integers(0, 6))
def test_cleaning_never_costs_accuracy_and_ends_with_harmless_rules(seed: int, rules: int) -> None:
    rng = np.random.default_rng(seed)
    cases = RuleCases(random_cases(rng, 30))
    masks = rng.random((rules, 30)) < 0.4
    outcomes = rng.integers(0, 3, rules)
    kept = without_harmful(outcomes, masks, 0, cases)
    assert _errors(outcomes[kept], masks[kept], cases) <= _errors(outcomes, masks, cases)
    assert without_harmful(outcomes[kept], masks[kept], 0, cases) == list(range(len(kept)))
    for index in range(len(kept)):
        rest = kept[:index] + kept[index + 1 :]
        assert _errors(outcomes[kept], masks[kept], cases) <= _errors(outcomes[rest], masks[rest], cases)


def _errors(outcomes: np.ndarray, masks: np.ndarray, cases: RuleCases) -> int:
    first, _ = first_two(masks)
    return int((np.append(outcomes, 0)[first] != cases.classes).sum())
