import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_trees import SCHEMA, random_cases, random_tree, table
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError, SchemaError
from treewright.learners.c45rules.arithmetic import Precision
from treewright.learners.c45rules.cases import PathRule, RuleCases, cases_for, extract_rules
from treewright.learners.c45rules.generalise import (
    Candidate,
    ErrorEstimates,
    ShrinkingRule,
    generalise,
    generalise_one,
    sorted_conditions,
    without_duplicates,
)
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.formula import Condition
from treewright.tree.tree import Stop

RED, YES = Condition.equals(0, 0), Condition.equals(2, 1)
LOW, HIGH = Condition.at_most(1, 3.0), Condition.above(1, 1.0)


def estimates(precision: Precision = Precision.SINGLE) -> ErrorEstimates:
    return ErrorEstimates(0.25, precision)


def test_error_estimates() -> None:
    actual, pessimistic = estimates()(4, 0)
    assert actual == 0
    assert f"{pessimistic:.6g}" == "0.292893"
    actual, pessimistic = estimates(Precision.DOUBLE)(48, 1)
    assert actual == 1 / 48
    assert f"{pessimistic:.5g}" == "0.053802"


def test_ignorance_is_laplace_estimate_of_the_other_classes() -> None:
    cases = RuleCases(table(SCHEMA, [("red", 1.0, "no", 1.0, "a")] * 3))
    assert estimates(Precision.DOUBLE).ignorance(cases, 0) == pytest.approx(1 - 4 / 5)
    assert estimates(Precision.DOUBLE).ignorance(cases, 2) == pytest.approx(1 - 1 / 5)


def many(colour: str, size: float, flag: str, outcome: str, times: int) -> list[tuple[object, ...]]:
    return [(colour, size, flag, 0.0, outcome)] * times


def test_a_useless_condition_goes_and_a_useful_one_stays() -> None:
    rows = many("red", 1.0, "yes", "a", 6) + many("red", 1.0, "no", "a", 6) + many("blue", 1.0, "no", "b", 12)
    cases = RuleCases(table(SCHEMA, rows))
    found = generalise_one(PathRule((YES, RED), 0), cases, estimates())
    assert found is not None
    assert found.conditions == (RED,)
    assert found.error == estimates()(12, 0)[1]


def test_of_equal_conditions_the_last_goes() -> None:
    cases = RuleCases(table(SCHEMA, many("red", 2.0, "yes", "a", 6) + many("blue", 9.0, "no", "b", 6)))
    found = generalise_one(PathRule((RED, YES, LOW), 0), cases, estimates())
    assert found is not None
    assert found.conditions == (RED,)


@pytest.mark.parametrize(
    "rule",
    [
        PathRule((), 0),  # no condition to begin with
        PathRule((LOW,), 0),  # holds for all, so it is dropped
        PathRule((Condition.equals(0, 1),), 0),  # covers nothing
        PathRule((RED,), 1),  # worse than knowing nothing
    ],
)
def test_hopeless_rules_are_rejected(rule: PathRule) -> None:
    rows = many("red", 2.0, "yes", "a", 6) + many("blue", 2.0, "no", "b", 6)
    assert generalise_one(rule, RuleCases(table(SCHEMA, rows)), estimates()) is None


def test_the_order_of_conditions_follows_the_procedure() -> None:
    """The conditions of a rule of the credit data: attribute numbers 16, 9, 1 (numeric) and 2."""
    job, parties, months = Condition.equals(16, 2), Condition.equals(9, 0), Condition.at_most(1, 30.0)
    history, early = Condition.equals(2, 4), Condition.above(1, 11.0)
    first = (Condition.equals(0, 0), Condition.equals(19, 0), early)
    path = (*first, job, parties, months, Condition.equals(5, 0), history)
    assert sorted_conditions(path, {3, 4, 5, 7}) == (history, months, parties, job)
    # Without the dropped conditions in their positions the exchanges go another way.
    assert sorted_conditions((job, parties, months, history), range(4)) == (history, job, parties, months)


def test_cuts_ascend_within_an_attribute() -> None:
    assert sorted_conditions((LOW, HIGH), range(2)) == (HIGH, LOW)
    assert sorted_conditions((), ()) == ()


def test_duplicates_keep_the_first_position_and_the_greatest_error() -> None:
    one, two = Candidate((RED, LOW), 0, 0.1), Candidate((RED, LOW), 0, 0.3)
    assert without_duplicates([one, two]) == [Candidate((RED, LOW), 0, 0.3)]
    assert without_duplicates([two, one]) == [Candidate((RED, LOW), 0, 0.3)]
    assert len(without_duplicates([one, Candidate((RED, LOW), 1, 0.1)])) == 2
    assert len(without_duplicates([one, Candidate((RED,), 0, 0.1)])) == 2


def test_the_direction_of_a_comparison_is_not_compared() -> None:
    below, above = Condition.at_most(1, 3.0), Condition.above(1, 3.0)
    assert without_duplicates([Candidate((below,), 0, 0.1), Candidate((above,), 0, 0.2)]) == [
        Candidate((below,), 0, 0.2)
    ]
    single = Condition.one_of(0, (0,))
    assert len(without_duplicates([Candidate((RED,), 0, 0.1), Candidate((single,), 0, 0.1)])) == 2


@given(st.integers(0, 2**32 - 1))
def test_counts_equal_asking_each_set_of_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dataset = random_cases(rng, 40, missing=0.1)
    cases = RuleCases(dataset)
    for rule in extract_rules(random_tree(rng, random_cases(rng, 30), 4)):
        shrinking = ShrinkingRule(rule, cases)
        while shrinking.remaining:
            counts = shrinking.counts()
            left = [rule.conditions[index] for index in shrinking.remaining]
            assert counts == _counts(cases, left, rule.outcome)
            without = [_counts(cases, left[:i] + left[i + 1 :], rule.outcome) for i in range(len(left))]
            assert shrinking.counts_without_each(*counts) == without
            shrinking.drop(int(rng.integers(0, len(left))))


def _counts(cases: RuleCases, conditions: list[Condition], outcome: int) -> tuple[int, int]:
    mask = cases.masks.all_of(conditions)
    return int(mask.sum()), int((mask & (cases.classes != outcome)).sum())


@given(st.integers(0, 2**32 - 1), st.sampled_from(Precision))
def test_generalised_rules_are_no_worse_and_better_than_ignorance(seed: int, precision: Precision) -> None:
    rng = np.random.default_rng(seed)
    dataset = random_cases(rng, 50, missing=0.1)
    cases, errors = RuleCases(dataset), ErrorEstimates(0.25, precision)
    rules = extract_rules(random_tree(rng, random_cases(rng, 40), 5))
    for rule in rules:
        found = generalise_one(rule, cases, errors)
        if found is None:
            continue
        assert set(found.conditions) <= set(rule.conditions)
        assert found.error == errors(*_counts(cases, list(found.conditions), rule.outcome))[1]
        assert found.error < errors.ignorance(cases, rule.outcome)
    assert len(generalise(rules, cases, errors)) <= len(rules)


def test_data_that_do_not_fit_are_refused() -> None:
    cases = random_cases(np.random.default_rng(0), 10)
    tree = random_tree(np.random.default_rng(0), cases, 1)
    with pytest.raises(DataError, match="classes"):
        cases_for(tree, cases.X)
    with pytest.raises(DataError, match="at least one"):
        cases_for(tree, cases.take([]))
    with pytest.raises(SchemaError, match="attributes and classes"):
        cases_for(tree, sample("play-tennis"))
    numeric = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    regression, _ = build_tree(numeric, [NodeRecord(1.0, np.zeros(0), 2.5, stop=Stop.PURE, sse=0.0)])
    with pytest.raises(ParameterError, match="regression"):
        cases_for(regression, cases)
