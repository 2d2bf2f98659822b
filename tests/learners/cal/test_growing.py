"""CAL2 and CAL3: the two worked examples step by step, and what must hold for any cases."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError, SchemaError
from treewright.learners.cal.growing import CalLearner
from treewright.learners.cal.options import CAL2, CAL3, CaseByCaseLearner
from treewright.learners.cal.trace import Ended, Event, Run, Step
from treewright.tree.model import TreeModel
from treewright.tree.notation import parse_notation, to_notation
from treewright.tree.split import STAY
from treewright.tree.tree import Stop, Tree

PUT, NOTHING, SPLIT, COUNTED = Event.PUT, Event.NOTHING, Event.SPLIT, Event.COUNTED
CLOSED, EXHAUSTED, SKIPPED = Event.CLOSED, Event.EXHAUSTED, Event.SKIPPED


def schema_of(values: tuple[int, ...], classes: int = 2) -> Schema:
    columns = [Column(f"x{index}", Kind.NOMINAL, tuple(map(str, range(n)))) for index, n in enumerate(values, 1)]
    return Schema((*columns, Column("k", Kind.NOMINAL, tuple("ABCDEFGH"[:classes]))), target="k")


def cases_of(schema: Schema, rows: Sequence[tuple[int, ...]]) -> Dataset:
    """Encode rows of codes, the class last."""
    columns = np.array(rows, dtype=np.int32).T
    return Dataset(schema, tuple(columns[:-1]), len(rows), columns[-1])


def learned(dataset: Dataset, options: CaseByCaseLearner) -> tuple[CalLearner, Run]:
    learner = CalLearner(dataset.schema, options, keep_trace=True)
    return learner, learner.learn_all(dataset)


def events(learner: CalLearner) -> list[Event]:
    return [step.event for step in learner.trace]


def same_tree(one: Tree, other: Tree) -> bool:
    names = ("attribute", "children", "missing", "weight", "counts", "outcome", "stop")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def numbered(passes: list[list[tuple[dict[str, str], Event, dict[str, int], str]]]) -> list[Step]:
    """Make the steps of passes written by hand."""
    flat = [(case, *one) for cases in passes for case, one in enumerate(cases, 1)]
    return [
        Step(number, case, tuple(path.items()), event, tuple(counts.items()), notation)
        for number, (case, path, event, counts, notation) in enumerate(flat, 1)
    ]


# -- the worked examples ---------------------------------------------------------------------------------------------


def test_cal2_step_by_step() -> None:
    """Cases: 001 A, 100 A, 014 B, 112 B, 003 A."""
    done = "x1(x2(A,B),x2(A,B))"
    first = [
        ({}, PUT, {"A": 1}, "A"),
        ({}, NOTHING, {"A": 2}, "A"),
        ({}, SPLIT, {"A": 2, "B": 1}, "x1(B,*)"),
        ({"x1": "1"}, PUT, {"B": 1}, "x1(B,B)"),
        ({"x1": "0"}, SPLIT, {"A": 1, "B": 1}, "x1(x2(A,*),B)"),
    ]
    second = [
        ({"x1": "0", "x2": "0"}, NOTHING, {"A": 2}, "x1(x2(A,*),B)"),
        ({"x1": "1"}, SPLIT, {"A": 1, "B": 1}, "x1(x2(A,*),x2(A,*))"),
        ({"x1": "0", "x2": "1"}, PUT, {"B": 1}, "x1(x2(A,B),x2(A,*))"),
        ({"x1": "1", "x2": "1"}, PUT, {"B": 1}, done),
        ({"x1": "0", "x2": "0"}, NOTHING, {"A": 3}, done),
    ]
    third = [
        ({"x1": "0", "x2": "0"}, NOTHING, {"A": 4}, done),
        ({"x1": "1", "x2": "0"}, NOTHING, {"A": 2}, done),
        ({"x1": "0", "x2": "1"}, NOTHING, {"B": 2}, done),
        ({"x1": "1", "x2": "1"}, NOTHING, {"B": 2}, done),
        ({"x1": "0", "x2": "0"}, NOTHING, {"A": 5}, done),
    ]
    learner, run = learned(sample("cal2"), CAL2())
    assert learner.trace == numbered([first, second, third])
    assert run == Run(Ended.NO_ERROR, passes=3, steps=15, skipped=0)
    assert to_notation(learner.tree) == done
    assert TreeModel(learner.tree).predict(sample("cal2").X).tolist() == sample("cal2").y.tolist()


def test_cal3_step_by_step() -> None:
    """Cases: 00 A, 01 B, 01 A, 10 B, 11 A; four cases to decide, a share of 0.7 to close."""
    left, right = {"x1": "0"}, {"x1": "1"}
    right_0, right_1 = {"x1": "1", "x2": "0"}, {"x1": "1", "x2": "1"}
    nearly, last, done = "x1(A,x2(*,*))", "x1(A,x2(*,A))", "x1(A,x2(B,A))"
    closed_left = (left, NOTHING, {"A": 3, "B": 1})
    closed_right = (right_1, NOTHING, {"A": 4})
    passes = [
        [
            ({}, COUNTED, {"A": 1}, "*"),
            ({}, COUNTED, {"A": 1, "B": 1}, "*"),
            ({}, COUNTED, {"A": 2, "B": 1}, "*"),
            ({}, SPLIT, {"A": 2, "B": 2}, "x1(*,*)"),
            (right, COUNTED, {"A": 1, "B": 1}, "x1(*,*)"),
        ],
        [
            (left, COUNTED, {"A": 1}, "x1(*,*)"),
            (left, COUNTED, {"A": 1, "B": 1}, "x1(*,*)"),
            (left, COUNTED, {"A": 2, "B": 1}, "x1(*,*)"),
            (right, COUNTED, {"A": 1, "B": 2}, "x1(*,*)"),
            (right, SPLIT, {"A": 2, "B": 2}, "x1(*,x2(*,*))"),
        ],
        [
            (left, CLOSED, {"A": 3, "B": 1}, nearly),
            (*closed_left, nearly),
            (*closed_left, nearly),
            (right_0, COUNTED, {"B": 1}, nearly),
            (right_1, COUNTED, {"A": 2}, nearly),
        ],
        [
            *[(*closed_left, nearly)] * 3,
            (right_0, COUNTED, {"B": 2}, nearly),
            (right_1, COUNTED, {"A": 3}, nearly),
        ],
        [
            *[(*closed_left, nearly)] * 3,
            (right_0, COUNTED, {"B": 3}, nearly),
            (right_1, CLOSED, {"A": 4}, last),
        ],
        [
            *[(*closed_left, last)] * 3,
            (right_0, CLOSED, {"B": 4}, done),
            (*closed_right, done),
        ],
        [
            *[(*closed_left, done)] * 3,
            (right_0, NOTHING, {"B": 4}, done),
            (*closed_right, done),
        ],
    ]
    learner, run = learned(sample("cal3"), CAL3(s1=4, s2=0.7))
    assert learner.trace == numbered(passes)
    assert run == Run(Ended.NO_CHANGE, passes=7, steps=35, skipped=0)
    assert to_notation(learner.tree) == done
    wrong = TreeModel(learner.tree).predict(sample("cal3").X) != sample("cal3").y
    assert wrong.tolist() == [False, True, False, False, False]  # one of five


def test_cal3_counts_what_comes_to_every_node() -> None:
    learner, _ = learned(sample("cal3"), CAL3(s1=4, s2=0.7))
    tree = learner.tree
    # Root: seven passes of 3 A and 2 B. x1=1: since case 4 of the first pass, seven B and seven A.
    # x2: the branches began with case 5 of the second pass.
    assert tree.counts.tolist() == [[21, 14], [3, 1], [7, 7], [0, 4], [4, 0]]
    assert tree.weight.tolist() == [35, 4, 14, 4, 4]
    assert [node.stop for node in tree] == [None, Stop.CLOSED, None, Stop.CLOSED, Stop.CLOSED]


# -- trees in the making ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [CAL2(), CAL3()])
def test_before_the_first_case_the_tree_is_an_open_leaf(options: CaseByCaseLearner) -> None:
    tree = CalLearner(schema_of((2,)), options).tree
    assert to_notation(tree) == "*"
    assert (tree.weight[0], tree.outcome[0], tree.node(0).stop) == (0.0, 0, Stop.OPEN)


def test_an_open_leaf_without_cases_predicts_the_majority_above_it() -> None:
    learner = CalLearner(schema_of((2,)), CAL2())
    for class_code in (1, 1, 0):
        learner.learn((0,), class_code)
    root, own, open_leaf = learner.tree
    assert to_notation(learner.tree) == "x1(A,*)"
    assert (root.distribution, root.outcome) == ({"A": 1, "B": 2}, "B")
    assert (own.outcome, own.stop, own.distribution) == ("A", Stop.PURE, {"A": 1})
    assert (open_leaf.outcome, open_leaf.stop, open_leaf.weight) == ("B", Stop.OPEN, 0.0)


def test_an_open_leaf_with_cases_predicts_the_majority_of_its_counters() -> None:
    learner = CalLearner(schema_of((2,)), CAL3(s1=9))
    for class_code in (0, 1, 1):
        learner.learn((0,), class_code)
    assert to_notation(learner.tree) == "*"
    assert (learner.tree.node(0).outcome, learner.tree.node(0).stop) == ("B", Stop.OPEN)


def test_of_equal_counters_the_first_class_wins() -> None:
    learner = CalLearner(schema_of((2,)), CAL3(s1=9))
    learner.learn((0,), 1)
    learner.learn((0,), 0)
    assert learner.tree.node(0).outcome == "A"


def test_a_snapshot_does_not_change() -> None:
    learner = CalLearner(schema_of((2,)), CAL2())
    learner.learn((0,), 0)
    before = learner.tree
    learner.learn((0,), 1)
    assert (to_notation(before), before.counts.tolist()) == ("A", [[1, 0]])
    assert to_notation(learner.tree) == "x1(B,*)"


def test_the_trace_costs_nothing_unless_it_is_wanted() -> None:
    learner = CalLearner(sample("cal2").schema, CAL2())
    step = learner.learn((0, 0, 1), 0)
    learner.learn_all(sample("cal2"))
    assert step == Step(1, 1, (), PUT, (("A", 1),), None)
    assert str(step) == "1. case 1, at the root (A 1): put class"
    assert learner.trace == []
    assert learner.steps == 16


def test_attributes_with_one_value_are_left_out() -> None:
    schema = schema_of((1, 0, 2))
    learner, run = learned(cases_of(schema, [(0, -1, 0, 0), (0, -1, 1, 1)]), CAL2())
    assert to_notation(learner.tree) == "x3(A,B)"
    assert run.ended is Ended.NO_ERROR


def test_deep_trees_cost_no_stack() -> None:
    depth = 1050  # more than Python's own stack has
    schema = schema_of((2,) * depth)
    case, other = [0] * depth, [0] * (depth - 1) + [1]
    for options in (CAL2(), CAL3(s1=2, s2=1.0)):
        learner = CalLearner(schema, options)
        run = learner.learn_all(cases_of(schema, [(*case, 0), (*other, 1)]))
        assert learner.tree.depth == depth
        assert run.ended is options.ended
        again = pickle.loads(pickle.dumps(learner))  # noqa: S301 - our own
        assert same_tree(again.tree, learner.tree)
        assert to_notation(learner.tree).startswith("x1(x2(")


# -- order and limits ------------------------------------------------------------------------------------------------


def test_the_order_of_the_cases_matters() -> None:
    schema = schema_of((2, 2))
    rows = [(0, 0, 0), (0, 0, 0), (1, 0, 1), (1, 0, 1), (0, 1, 1)]
    there, _ = learned(cases_of(schema, rows), CAL3(s1=3, s2=0.6))
    back, _ = learned(cases_of(schema, rows[::-1]), CAL3(s1=3, s2=0.6))
    assert to_notation(there.tree) == "A"  # A A B: two of three
    assert to_notation(back.tree) == "B"


def test_the_order_of_the_columns_is_the_order_of_the_tests() -> None:
    schema = schema_of((2, 2))
    rows = [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1)]
    learner, _ = learned(cases_of(schema, rows), CAL2())
    assert to_notation(learner.tree) == "x1(x2(A,B),x2(A,B))"
    learner, _ = learned(cases_of(schema, [(b, a, k) for a, b, k in rows]), CAL2())
    assert to_notation(learner.tree) == "x1(A,B)"


@pytest.mark.parametrize(
    ("limit", "passes", "notation"), [(4, 0, "x1(B,B)"), (5, 1, "x1(x2(A,*),B)"), (7, 1, "x1(x2(A,*),x2(A,*))")]
)
def test_the_limit_counts_cases(limit: int, passes: int, notation: str) -> None:
    learner, run = learned(sample("cal2"), CAL2(max_steps=limit))
    assert run == Run(Ended.LIMIT, passes, limit, 0)
    assert to_notation(learner.tree) == notation


def test_an_end_at_the_limit_is_an_end() -> None:
    _, run = learned(sample("cal2"), CAL2(max_steps=15))
    assert run.ended is Ended.NO_ERROR


def test_learning_goes_on_where_it_was() -> None:
    data = sample("cal2")
    whole, _ = learned(data, CAL2())
    parts = CalLearner(data.schema, CAL2(max_steps=5), keep_trace=True)
    runs = [parts.learn_all(data) for _ in range(3)]
    assert [run.ended for run in runs] == [Ended.LIMIT, Ended.LIMIT, Ended.NO_ERROR]
    assert parts.trace == whole.trace


# -- overlapping classes, exhausted attributes -----------------------------------------------------------------------


def test_cal2_on_overlapping_classes_ends_when_attributes_are_exhausted() -> None:
    data = cases_of(schema_of((2,)), [(0, 0), (0, 1), (0, 1), (1, 0)])
    learner, run = learned(data, CAL2())
    first = [PUT, SPLIT, NOTHING, PUT]
    second = [EXHAUSTED, EXHAUSTED, EXHAUSTED, NOTHING]  # an exhausted leaf only counts, whatever the class
    assert events(learner) == first + second
    assert run == Run(Ended.EXHAUSTED, passes=2, steps=8, skipped=0)
    exhausted = learner.tree.node(1)
    assert (exhausted.outcome, exhausted.stop, exhausted.distribution) == ("B", Stop.NO_ATTRIBUTES, {"A": 1, "B": 4})
    assert to_notation(learner.tree) == "x1(B,A)"


def test_cal2_on_overlapping_classes_ends_by_the_limit() -> None:
    data = cases_of(schema_of((2,)), [(0, 0), (0, 1), (0, 1), (1, 0)])
    learner, run = learned(data, CAL2(max_steps=2))
    assert run.ended is Ended.LIMIT
    assert to_notation(learner.tree) == "x1(B,*)"
    assert TreeModel(learner.tree).predict(data.X).tolist() == ["B", "B", "B", "A"]  # of equals, A is the first


def test_without_attributes_there_is_only_the_majority() -> None:
    schema = schema_of(())
    data = Dataset(schema, (), 3, np.array([1, 0, 1], dtype=np.int32))
    learner, run = learned(data, CAL2())
    assert events(learner) == [PUT, EXHAUSTED, EXHAUSTED]
    assert (run.ended, to_notation(learner.tree)) == (Ended.EXHAUSTED, "B")
    learner, run = learned(data, CAL3(s1=3, s2=0.9))
    assert (run.ended, to_notation(learner.tree)) == (Ended.EXHAUSTED, "B")


def test_cal3_closes_an_exhausted_leaf_when_later_cases_decide_it() -> None:
    learner = CalLearner(schema_of(()), CAL3(s1=2, s2=0.75))
    assert [learner.learn((), code).event for code in (0, 1, 0, 0, 1)] == [
        COUNTED,
        EXHAUSTED,
        EXHAUSTED,
        CLOSED,
        NOTHING,
    ]
    assert learner.tree.counts.tolist() == [[3, 1]]


# -- CAL3's two numbers ----------------------------------------------------------------------------------------------


def test_a_share_of_exactly_s2_closes() -> None:
    for tenths in (6, 7, 8, 9):
        learner = CalLearner(schema_of((2,)), CAL3(s1=10, s2=tenths / 10))
        steps = [learner.learn((0,), code).event for code in [0] * tenths + [1] * (10 - tenths)]
        assert steps == [COUNTED] * 9 + [CLOSED]
        assert to_notation(learner.tree) == "A"


def test_one_case_is_enough_if_s1_allows_it() -> None:
    learner = CalLearner(schema_of((2,)), CAL3(s1=1))
    assert [learner.learn((0,), code).event for code in (1, 0, 0)] == [CLOSED, NOTHING, NOTHING]
    assert to_notation(learner.tree) == "B"


def test_a_closed_leaf_never_changes_and_the_nodes_above_count_on() -> None:
    learner = CalLearner(schema_of((2,)), CAL3(s1=2, s2=1.0))
    for value, code in ((0, 0), (0, 1), (0, 1), (1, 0)):
        learner.learn((value,), code)
    assert to_notation(learner.tree) == "x1(B,*)"
    closed = learner.tree.counts[1].tolist()
    assert [learner.learn((0,), 0).event for _ in range(20)] == [NOTHING] * 20
    assert learner.tree.counts[1].tolist() == closed == [0, 2]
    assert learner.tree.counts[0].tolist() == [22, 2]


# -- missing values --------------------------------------------------------------------------------------------------


def test_a_case_without_a_needed_value_is_skipped_and_counted_once() -> None:
    data = cases_of(schema_of((2, 2)), [(0, 0, 0), (-1, 0, 1), (1, 0, 1), (-1, 0, 0), (0, -1, 0)])
    learner, run = learned(data, CAL2())
    # Case 2 could not be the case of a new branch, case 4 came to the test of x1; case 5 needs no x2.
    assert events(learner)[:5] == [PUT, SKIPPED, SPLIT, SKIPPED, PUT]
    assert run == Run(Ended.NO_ERROR, passes=2, steps=10, skipped=2)
    assert learner.trace[1].counts == (("A", 1),)
    assert learner.trace[3].counts == (("A", 1), ("B", 1))
    assert learner.trace[3].path == ()
    assert to_notation(learner.tree) == "x1(A,B)"


def test_undeclared_values_are_missing() -> None:
    learner = CalLearner(schema_of((2, 2)), CAL2())
    learner.learn((0, 0), 0)
    before = learner.tree
    assert [learner.learn((code, 0), 1).event for code in (2, -1, -7, 10**30)] == [SKIPPED] * 4
    assert same_tree(before, learner.tree)


def test_missing_values_that_are_not_needed_do_not_matter() -> None:
    learner = CalLearner(schema_of((2, 2)), CAL3(s1=2))
    assert learner.learn((-1, -1), 0).event is COUNTED
    assert learner.learn((-1, -1), 0).event is CLOSED


def test_cal3_ends_if_the_only_cases_of_a_leaf_have_no_next_value() -> None:
    data = cases_of(schema_of((2,)), [(-1, 0), (-1, 1)])
    learner, run = learned(data, CAL3(s1=2))
    assert events(learner) == [COUNTED, SKIPPED, CLOSED, NOTHING, NOTHING, NOTHING]
    assert run == Run(Ended.NO_CHANGE, passes=3, steps=6, skipped=1)


def test_cal3_ends_if_no_case_can_split_a_leaf() -> None:
    data = cases_of(schema_of((2,)), [(-1, 0), (-1, 0), (-1, 1), (-1, 1), (-1, 0)])
    learner, run = learned(data, CAL3(s1=4, s2=1.0))
    # Three cases are counted; from then on each one would split the leaf, and none has a value to do it with.
    assert events(learner) == [COUNTED] * 3 + [SKIPPED] * 7
    assert run == Run(Ended.NO_CHANGE, passes=2, steps=10, skipped=5)
    assert (to_notation(learner.tree), learner.tree.node(0).outcome) == ("*", "A")


def test_a_prediction_without_a_value_is_the_majority_of_the_path() -> None:
    data = cases_of(schema_of((2, 2)), [(0, 0, 0), (1, 0, 1), (1, 1, 1)])
    learner, _ = learned(data, CAL2())
    tree = learner.tree
    assert int(tree.missing[0]) == STAY
    assert tree.counts[0].tolist() == [2, 4]
    asked = Dataset(data.schema, (np.array([-1], dtype=np.int32), np.array([0], dtype=np.int32)), 1)
    assert TreeModel(tree).predict(asked).tolist() == ["B"]


# -- any cases -------------------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn, *, missing: bool = True) -> Dataset:
    values = draw(st.lists(st.integers(1, 3), min_size=0, max_size=3).map(tuple))
    classes = draw(st.integers(1, 3))
    least = -1 if missing else 0
    row = st.tuples(*(st.integers(least, n - 1) for n in values), st.integers(0, classes - 1))
    return cases_of(schema_of(values, classes), draw(st.lists(row, min_size=1, max_size=12)))


OPTIONS = st.just(CAL2()) | st.builds(CAL3, st.integers(1, 5), st.sampled_from((0.51, 0.7, 0.9, 1.0)))


@given(tables(), OPTIONS)
def test_one_case_at_a_time_is_one_pass(data: Dataset, options: CAL2 | CAL3) -> None:
    whole = CalLearner(data.schema, replace(options, max_steps=data.n_rows), keep_trace=True)
    run = whole.learn_all(data)
    single = CalLearner(data.schema, options, keep_trace=True)
    assert data.target is not None
    for row in range(data.n_rows):
        step = single.learn([int(column[row]) for column in data.columns], int(data.target[row]))
        assert step == single.trace[-1]
    assert run.steps == data.n_rows
    assert single.trace == whole.trace
    assert same_tree(single.tree, whole.tree)


@given(tables(), OPTIONS)
def test_learning_always_ends_with_a_tree_that_keeps_the_rules(data: Dataset, options: CaseByCaseLearner) -> None:
    learner, run = learned(data, options)
    assert run.ended in {options.ended, Ended.EXHAUSTED}
    assert run.steps == run.passes * data.n_rows
    tree = learner.tree
    for node in tree:
        attributes = [int(tree.attribute[above]) for above, _ in node.path]
        assert attributes == sorted(set(attributes))
        if not node.is_leaf:
            assert np.all(tree.counts[tree.children_of(node.index)].sum(axis=0) <= tree.counts[node.index])
    assert to_notation(parse_notation(to_notation(tree), data.schema)) == to_notation(tree)


@given(tables(), OPTIONS)
def test_learning_again_changes_no_form(data: Dataset, options: CaseByCaseLearner) -> None:
    learner, run = learned(data, options)
    before = to_notation(learner.tree)
    if run.ended is not Ended.EXHAUSTED:
        assert learner.learn_all(data).passes == 1
        assert to_notation(learner.tree) == before


@given(tables(missing=False))
def test_cal2_learns_classes_that_do_not_overlap(data: Dataset) -> None:
    learner, run = learned(data, CAL2())
    right = TreeModel(learner.tree).predict(data.X) == data.y
    cells = {tuple(int(column[row]) for column in data.columns): data.y[row] for row in range(data.n_rows)}
    overlap = any(
        cells[tuple(int(column[row]) for column in data.columns)] != data.y[row] for row in range(data.n_rows)
    )
    assert (run.ended is Ended.EXHAUSTED) == overlap
    assert right.all() == (not overlap)


@given(tables(), st.integers(1, 4), st.sampled_from((0.6, 0.75, 1.0)))
def test_closed_leaves_stay_as_they_were(data: Dataset, s1: int, s2: float) -> None:
    learner, _ = learned(data, CAL3(s1, s2))
    closed: dict[tuple[tuple[str, str], ...], Step] = {}
    for step in learner.trace:
        if step.path in closed and step.event is not SKIPPED:
            assert (step.event, step.counts) == (NOTHING, closed[step.path].counts)
        if step.event is CLOSED:
            total, most = sum(count for _, count in step.counts), max(count for _, count in step.counts)
            assert total >= s1
            assert most / total >= s2
            closed[step.path] = step


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.5, 0, 1.01, float("nan"), "0.7", True, None])
def test_s2_must_be_a_share_above_one_half(value: float) -> None:
    with pytest.raises(ParameterError, match=r"s2 must be a number above 0\.5 and at most 1, not "):
        CAL3(s2=value)


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "4"])
def test_numbers_of_cases_must_be_whole(value: int) -> None:
    with pytest.raises(ParameterError, match="s1 must be a whole number of at least 1, not "):
        CAL3(s1=value)
    for options in (CAL2, CAL3):
        with pytest.raises(ParameterError, match="max_steps must be None or a whole number of at least 1, not "):
            options(max_steps=value)


def test_s1_cannot_be_none() -> None:
    with pytest.raises(ParameterError, match="s1 must be a whole number"):
        CAL3(s1=None)  # type: ignore[arg-type]


def test_attributes_must_be_nominal_and_the_target_a_class() -> None:
    numeric, nominal = Column("size", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("A", "B"))
    with pytest.raises(SchemaError, match=r"CAL2 tests nominal attributes only; .*'size'"):
        CalLearner(Schema((numeric, nominal), target="k"), CAL2())
    with pytest.raises(SchemaError, match="CAL3 learns classes"):
        CalLearner(Schema((nominal, numeric), target="size"), CAL3())
    with pytest.raises(SchemaError, match="declares no classes"):
        CalLearner(Schema((Column("k", Kind.NOMINAL),), target="k"), CAL3())


def test_data_must_fit() -> None:
    data = sample("cal2")
    learner = CalLearner(data.schema, CAL2())
    with pytest.raises(DataError, match="no rows"):
        learner.learn_all(data.take(slice(0, 0)))
    with pytest.raises(DataError, match="no target"):
        learner.learn_all(data.X)
    with pytest.raises(DataError, match="weights must be 1"):
        learner.learn_all(replace(data, weights=np.array([1.0, 2.0, 1.0, 1.0, 1.0])))
    with pytest.raises(SchemaError, match="another schema than that of CAL2"):
        learner.learn_all(sample("cal3"))
    assert learner.steps == 0
    assert learner.learn_all(replace(data, weights=np.ones(5))).passes == 3


def test_a_case_must_fit() -> None:
    learner = CalLearner(sample("cal2").schema, CAL2())
    with pytest.raises(ParameterError, match="a case has 3 values, one for each attribute, not 2"):
        learner.learn((0, 0), 0)
    with pytest.raises(ParameterError, match="class code 2 must be one of 0 to 1"):
        learner.learn((0, 0, 0), 2)
    with pytest.raises(ParameterError, match="a case is given by whole numbers"):
        learner.learn((0, 0.5, 0), 0)  # type: ignore[arg-type]
    assert learner.learn(np.array([0, 0, 0]), np.int32(1)).event is PUT  # type: ignore[arg-type]
