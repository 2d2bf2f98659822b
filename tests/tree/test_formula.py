import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_trees import SCHEMA, random_cases, random_tree
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError, SchemaError
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.formula import Condition, Formula, Op, branch_conditions, disjunction, tree_paths, tree_to_formula
from treewright.tree.route import main_leaves
from treewright.tree.split import Split
from treewright.tree.tree import Stop

RED, GREEN, BLUE = (Condition.equals(0, value) for value in range(3))


def leaf(outcome: int, weight: float = 1.0) -> NodeRecord:
    counts = np.zeros(len(SCHEMA.classes))
    counts[outcome] = weight
    return NodeRecord(weight, counts, outcome, stop=Stop.PURE)


def inner(split: Split, *children: int) -> NodeRecord:
    return NodeRecord(9.0, np.array([3.0, 3.0, 3.0]), 0, split, list(children))


def test_the_tree_of_the_lecture() -> None:
    schema = sample("restaurant").schema
    patrons, hungry = (schema.attribute_names.index(name) for name in ("Patrons", "Hungry"))
    wait, leave = (NodeRecord(1.0, np.eye(2)[outcome], outcome, stop=Stop.PURE) for outcome in (0, 1))
    root = NodeRecord(4.0, np.array([2.0, 2.0]), 0, Split.multiway(patrons, 3), [1, 2, 3])
    full = NodeRecord(2.0, np.ones(2), 0, Split.multiway(hungry, 2), [4, 5])
    tree, _ = build_tree(schema, [root, leave, wait, full, wait, leave])
    assert str(tree_to_formula(tree, "T")) == "(Patrons = Some) ∨ (Patrons = Full ∧ Hungry = T)"
    assert str(tree_to_formula(tree, "F")) == "(Patrons = None) ∨ (Patrons = Full ∧ Hungry = F)"


def test_thresholds_are_reduced_to_the_tightest() -> None:
    records = [
        inner(Split.threshold(1, 5.0), 1, 6),
        inner(Split.threshold(3, 1.0), 2, 5),
        inner(Split.threshold(1, 2.0), 4, 3),
        leaf(0),
        leaf(1),
        leaf(1),
        leaf(1),
    ]
    formula = tree_to_formula(build_tree(SCHEMA, records)[0], "a")
    assert str(formula) == "(size > 2 ∧ size <= 5 ∧ age <= 1)"


def test_contradictory_paths_and_values_are_dropped() -> None:
    records = [
        inner(Split.multiway(0, 3), 1, 2, 3),
        inner(Split.subsets(0, (0, 1, 0)), 4, 5),
        leaf(1),
        leaf(1),
        leaf(0),
        leaf(0, weight=0.0),
    ]
    tree = build_tree(SCHEMA, records)[0]
    assert str(tree_to_formula(tree, "a")) == "(colour = red)"
    assert len([1 for leaf_number, _ in tree_paths(tree) if tree.outcome[leaf_number] == 0]) == 2


def test_an_empty_leaf_counts() -> None:
    tree, _ = build_tree(SCHEMA, [inner(Split.multiway(2, 2), 1, 2), leaf(0, weight=0.0), leaf(1)])
    assert str(tree_to_formula(tree, "a")) == "(flag = no)"


def test_a_leaf_alone_is_true_or_false() -> None:
    tree, _ = build_tree(SCHEMA, [leaf(1)])
    cases = random_cases(np.random.default_rng(0), 5)
    always, never = tree_to_formula(tree, "b"), tree_to_formula(tree, "a")
    assert str(always) == "true"
    assert always.conjunctions == ((),)
    assert always.evaluate(cases).all()
    assert str(never) == "false"
    assert never.conjunctions == ()
    assert not never.evaluate(cases).any()
    assert always.class_name == "b"


def test_every_form_of_test_has_its_conditions() -> None:
    assert branch_conditions(Split.equals(0, 1, 3), 0) == (GREEN,)
    assert branch_conditions(Split.equals(0, 1, 3), 1) == (Condition.one_of(0, (0, 2)),)
    assert branch_conditions(Split.equals(2, 1, 2), 1) == (Condition.equals(2, 0),)
    assert branch_conditions(Split.subsets(0, (0, 1, 1)), 0) == (Condition(0, Op.IN, values=(0,)),)
    intervals = Split.intervals(1, (1.0, 2.0))
    assert branch_conditions(intervals, 0) == (Condition.at_most(1, 1.0),)
    assert branch_conditions(intervals, 1) == (Condition.above(1, 1.0), Condition.at_most(1, 2.0))
    assert branch_conditions(intervals, 2) == (Condition.above(1, 2.0),)


def test_absorption() -> None:
    small, tiny = Condition.at_most(1, 5), Condition.at_most(1, 2)
    formula = disjunction(
        SCHEMA,
        "a",
        [
            (RED, small),
            (tiny, RED),  # implied by the first
            (RED, small, small),  # a duplicate of it
            (RED, GREEN),  # contradictory
            (Condition.one_of(0, (0, 1)), Condition.one_of(0, (1, 2))),
            (GREEN, Condition.above(3, 1)),  # implied by the one before
            (Condition.one_of(0, (0, 1, 2)), Condition.equals(2, 1)),  # the first condition always holds
        ],
    )
    assert str(formula) == "(colour = red ∧ size <= 5) ∨ (colour = green) ∨ (flag = yes)"
    assert str(disjunction(SCHEMA, "a", [(RED,), ()])) == "true"
    assert str(disjunction(SCHEMA, "a", [])) == "false"


def test_unknown_classes_and_regression_are_refused() -> None:
    tree, _ = build_tree(SCHEMA, [leaf(1)])
    with pytest.raises(ParameterError, match="class"):
        tree_to_formula(tree, "B")
    with pytest.raises(ParameterError, match="class"):
        disjunction(SCHEMA, "B", [])
    with pytest.raises(ParameterError):
        disjunction(SCHEMA, "a", [(Condition.equals(1, 0),)])
    numeric = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    regression, _ = build_tree(numeric, [NodeRecord(1.0, np.zeros(0), 2.5, stop=Stop.PURE, sse=0.0)])
    with pytest.raises(ParameterError, match="regression"):
        tree_to_formula(regression, "a")


def test_other_cases_are_refused() -> None:
    with pytest.raises(SchemaError):
        Formula(SCHEMA, 0, ()).evaluate(sample("play-tennis"))


@given(st.integers(0, 2**32 - 1), st.integers(0, 8))
def test_the_formula_holds_where_the_tree_predicts_the_class(seed: int, tests: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, random_cases(rng, 30), tests)
    new = random_cases(rng, 60)
    predicted = tree.outcome[main_leaves(tree, new)]
    for code, name in enumerate(SCHEMA.classes):
        formula = tree_to_formula(tree, name)
        assert formula.evaluate(new).tolist() == (predicted == code).tolist()
        # The paths of a tree exclude one another: there is nothing to absorb.
        assert disjunction(SCHEMA, name, formula.conjunctions) == formula


@given(st.integers(0, 2**32 - 1))
def test_simplifying_keeps_the_meaning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cases = random_cases(rng, 40)
    trees = [random_tree(rng, cases, int(rng.integers(0, 4))) for _ in range(2)]
    paths = [path for tree in trees for _, path in tree_paths(tree) if rng.random() < 0.7]
    simple = disjunction(SCHEMA, "a", paths)
    assert simple.evaluate(cases).tolist() == Formula(SCHEMA, 0, tuple(paths)).evaluate(cases).tolist()
    assert len(simple.conjunctions) <= len(paths)
    assert disjunction(SCHEMA, "a", simple.conjunctions) == simple


def test_a_very_deep_tree_needs_no_recursion() -> None:
    depth = 3_000
    records = []
    for level in range(depth):
        records += [inner(Split.threshold(1, float(level)), 2 * level + 1, 2 * level + 2), leaf(level % 2)]
    records.append(leaf(2))
    formula = tree_to_formula(build_tree(SCHEMA, records)[0], "c")
    assert str(formula) == f"(size > {depth - 1})"
