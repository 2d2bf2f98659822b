"""rpart's cp table, pruning, cross-validation and importance: by hand, and against the original program."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from learners.r_random import RRandom, cross_validation_groups
from oracle_sets import load_json, load_set, set_names
from random_tables import datasets
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.learners.rpart.growing import grow_rpart, prepare
from treewright.learners.rpart.options import Rpart
from treewright.learners.rpart.pruning import CpTable, choose_cp, cp_table, cross_validated, importance, prune_to_cp
from treewright.tree.route import main_leaves
from treewright.tree.tree import LEAF

SMALL = Rpart(min_split=2, min_bucket=1, cp=0.0)


def numbered(y: list[int], x: list[float] | None = None) -> Dataset:
    """Make cases of two classes along one number."""
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    values = np.arange(float(len(y))) if x is None else np.array(x)
    return Dataset(schema, (values,), len(y), np.array(y, dtype=np.int32))


HAND = numbered([0, 0, 0, 0, 1, 1, 1, 0, 1, 1])
"""The root saves 4 of 5 errors; cutting out the 8th case takes two splits for one error."""


# -- the table and pruning ---------------------------------------------------------------------------------------------


def test_a_table_by_hand() -> None:
    growth = grow_rpart(HAND, SMALL)
    table = cp_table(growth)
    assert table.rows() == [(0.8, 0, 1.0), (0.1, 1, 0.2), (0.0, 3, 0.0)]
    assert len(table) == 3
    assert [prune_to_cp(growth, cp).n_leaves for cp in (1.0, 0.8, 0.5, 0.1, 0.05, 0.0)] == [1, 1, 2, 2, 4, 4]


def test_the_last_row_has_all_splits_whatever_the_leaves_are() -> None:
    growth = grow_rpart(HAND, replace(SMALL, cp=0.02))
    assert cp_table(growth).rows()[-1] == pytest.approx((0.02, 3, 0.0))


def test_a_root_alone_has_one_row() -> None:
    growth = grow_rpart(HAND, Rpart())
    assert cp_table(growth).rows() == [(0.01, 0, 1.0)]
    pure = grow_rpart(HAND.take([0, 1]), SMALL)
    assert cp_table(pure).rows() == [(0.0, 0, 1.0)]
    assert prune_to_cp(pure, 0.0).n_nodes == 1


@given(datasets(task=Task.CLASSIFICATION))
def test_rows_describe_the_pruned_trees(data: Dataset) -> None:
    try:
        growth = grow_rpart(data, SMALL)
    except DataError:
        return
    table = cp_table(growth)
    assert np.all(np.diff(table.cp) < 0)
    assert np.all(np.diff(table.nsplit) >= 0)
    for cp, nsplit, error in table.rows():
        tree = prune_to_cp(growth, cp)
        assert tree.n_leaves == nsplit + 1
        if growth.root_risk:
            assert tree.errors[tree.attribute == LEAF].sum() / growth.root_risk == pytest.approx(error)
    assert prune_to_cp(growth, 0.0).to_dict() == growth.tree.to_dict()


def test_surrogates_survive_pruning() -> None:
    x = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    schema = Schema(
        (Column("x", Kind.NUMERIC), Column("z", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y"
    )
    data = Dataset(schema, (np.array(x), np.array(x) * 2), 7, np.array([0, 0, 0, 1, 1, 1, 1], dtype=np.int32))
    tree = prune_to_cp(grow_rpart(data, SMALL), 0.1)
    assert [one.split.attribute for one in tree.surrogates[0]] == [1]


def test_bad_cps_are_refused() -> None:
    growth = grow_rpart(HAND, SMALL)
    for cp in (-0.1, math.nan, "0.1", True):
        with pytest.raises(ParameterError, match="at least 0"):
            prune_to_cp(growth, cp)  # type: ignore[arg-type]


# -- cross-validation --------------------------------------------------------------------------------------------------


def plain_cross_validation(data: Dataset, options: Rpart, groups: list[int]) -> list[float]:
    """Count errors the plain way: grow on the rest, prune at each cp point, ask about the group."""
    growth = grow_rpart(data, options)
    table = cp_table(growth)
    points = [10 * table.cp[0], *np.sqrt(table.cp[1:] * table.cp[:-1])]
    wrong = np.zeros(len(points))
    for group in set(groups):
        held = np.array(groups) == group
        rest = grow_rpart(data.take(~held), options)
        for index, point in enumerate(points):
            # Complexities are relative to the root's risk: of all cases in the table, of the rest in its growth.
            scaled = point * growth.root_risk * np.mean(~held) / rest.root_risk
            tree = prune_to_cp(rest, scaled)
            test = data.take(held)
            wrong[index] += np.count_nonzero(tree.outcome[main_leaves(tree, test)] != test.target)
    return [float(number) for number in wrong / growth.root_risk]


def test_cross_validation_is_the_documented_one() -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=60).round(2)
    y = (x + random.normal(size=60) > 0).astype(int)
    data = numbered(y.tolist(), x.tolist())
    groups = [index % 4 for index in range(60)]
    for faults in (False, True):
        options = replace(SMALL, faults=faults)
        table = cross_validated(data, options, grow_rpart(data, options), groups)
        assert table.xerror is not None
        assert table.xstd is not None
        assert table.xerror.tolist() == pytest.approx(plain_cross_validation(data, options, groups))
        # Each case is wrong or right: the sum of squares is the sum.
        risk = grow_rpart(data, options).root_risk
        wrong = table.xerror * risk
        assert table.xstd.tolist() == pytest.approx((np.sqrt(wrong - wrong**2 / 60) / risk).tolist())


def test_random_groups_depend_on_the_seed_alone() -> None:
    growth = grow_rpart(HAND, SMALL)
    one, again = (cross_validated(HAND, SMALL, growth, folds=3, seed=7).rows() for _ in range(2))
    assert one == again
    assert any(cross_validated(HAND, SMALL, growth, folds=3, seed=seed).rows() != one for seed in range(5))


def test_losses_are_transposed_only_with_the_fault() -> None:
    loss = ((0.0, 1.0), (5.0, 0.0))
    plain, odd = (replace(SMALL, loss=loss, faults=faults) for faults in (False, True))
    tables = [cross_validated(HAND, one, grow_rpart(HAND, one), [0, 1] * 5) for one in (plain, odd)]
    # Alone, the root predicts b and is wrong about five cases of a, each a loss of 1 - or, transposed, of 5.
    first = [float(table.xerror[0]) for table in tables if table.xerror is not None]
    assert first == pytest.approx([1.0, 5.0])


def test_a_root_alone_is_assessed_except_with_the_fault() -> None:
    # Each half has three of one class and two of the other: six of ten are wrong, where the root has five.
    for faults, error in ((False, 1.2), (True, 0.0)):
        options = Rpart(faults=faults)
        table = cross_validated(HAND, options, grow_rpart(HAND, options), [0, 1] * 5)
        assert table.xerror is not None
        assert table.xerror.tolist() == [error]


def test_cases_that_no_side_claims_go_right_only_with_the_fault() -> None:
    x = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    data = numbered([0, 0, 0, 1, 1, 1, 0, 0], [*x, math.nan, math.nan])
    data = replace(
        data,
        schema=Schema((Column("f", Kind.NOMINAL, ("u", "v")), *data.schema.columns), target="y"),
        columns=(np.zeros(8, dtype=np.int32), *data.columns),
    )
    errors = {}
    for faults in (False, True):
        options = replace(SMALL, faults=faults)
        table = cross_validated(data, options, grow_rpart(data, options), [0] * 6 + [1, 1])
        assert table.xerror is not None
        errors[faults] = table.xerror[-1] * 3
    # The last two are of class a: the root of the other six predicts a (the first of equals), its right side b.
    assert errors[True] == pytest.approx(errors[False] + 2)


def test_groups_must_fit() -> None:
    growth = grow_rpart(HAND, SMALL)
    with pytest.raises(ParameterError, match="10 whole numbers"):
        cross_validated(HAND, SMALL, growth, [0, 1])
    with pytest.raises(ParameterError, match="10 whole numbers"):
        cross_validated(HAND, SMALL, growth, [0.5] * 10)
    with pytest.raises(ParameterError, match="only one group"):
        cross_validated(HAND, SMALL, growth, [0] * 10)
    with pytest.raises(ParameterError, match="at least 2"):
        cross_validated(HAND, SMALL, growth, folds=1)


# -- the choice of cp --------------------------------------------------------------------------------------------------


def test_the_choice_of_cp() -> None:
    plain = CpTable(np.array([0.5, 0.2, 0.1, 0.0]), np.array([0, 1, 2, 4]), np.array([1.0, 0.5, 0.3, 0.1]))
    table = replace(plain, xerror=np.array([1.0, 0.6, 0.5, 0.5]), xstd=np.full(4, 0.2))
    assert (choose_cp(table), choose_cp(table, "1se")) == (0.1, 0.2)
    assert table.rows()[1] == (0.2, 1, 0.5, 0.6, 0.2)
    with pytest.raises(ParameterError, match="'min' or '1se'"):
        choose_cp(table, "2se")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no cross-validated errors"):
        choose_cp(plain)


# -- importance --------------------------------------------------------------------------------------------------------


def test_importance_counts_splits_and_stand_ins() -> None:
    growth = grow_rpart(sample("play-tennis"), SMALL)
    expected = np.zeros(4)
    for node in growth.nodes:
        if node.primary is not None:
            expected[node.primary.attribute] += node.primary.improve
            for one in node.surrogates:
                expected[one.attribute] += node.primary.improve * one.adjusted
    assert importance(growth).tolist() == expected.tolist()
    assert expected.min() > 0


# -- R's random numbers ------------------------------------------------------------------------------------------------


def test_the_random_numbers_are_those_of_r() -> None:
    """The well-known first numbers after set.seed(1): runif(3), and sample(10)."""
    random = RRandom(1)
    assert [round(random.uniform(), 7) for _ in range(3)] == [0.2655087, 0.3721239, 0.5728534]
    assert RRandom(1).sample(list(range(1, 11))) == [9, 4, 7, 1, 2, 5, 3, 10, 6, 8]


# -- the original program ----------------------------------------------------------------------------------------------

NO_EXTRAS = {"competitors": 0, "max_surrogates": 0}
RUNS: dict[str, dict[str, Any]] = {
    "default": {},
    "information": {"criterion": "information"},
    "full": {"min_split": 2, "min_bucket": 1, "cp": 0.0, **NO_EXTRAS},
    "cp0_minsplit20": {"cp": 0.0, **NO_EXTRAS},
}
BIG = 5000
"""Sets with more rows are slow."""


def recorded_sets() -> list[Any]:
    names = set_names(having="rpart.json")
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (load_json(name, "schema.json")["rows"] > BIG)) for name in names
    ]


def options_of(name: str, run: str) -> Rpart:
    options = Rpart(**RUNS[run], faults=True)
    return replace(options, criterion="variance") if load_set(name).schema.target_column.is_numeric else options


def close_to(numbers: Any) -> Any:
    return pytest.approx(np.array(numbers, dtype=np.float64), rel=1e-9, abs=1e-9)


@pytest.mark.oracle
@pytest.mark.parametrize("name", recorded_sets())
def test_the_same_tables_and_importance(name: str) -> None:
    cases = load_set(name)
    for run, recorded in load_json(name, "rpart.json")["runs"].items():
        growth = grow_rpart(cases, options_of(name, run))
        assert np.array(cp_table(growth).rows()) == close_to([row[:3] for row in recorded["cptable"]["rows"]])
        expected = np.zeros(len(cases.columns))
        for attribute, number in recorded.get("variable_importance", {}).items():
            expected[int(attribute[1:])] = number
        assert importance(growth) == close_to(expected)


@pytest.mark.oracle
@pytest.mark.parametrize("name", recorded_sets())
def test_the_same_cross_validation(name: str) -> None:
    cases = load_set(name)
    runs = load_json(name, "rpart.json")["runs"]
    for run in ("default", "cp0_minsplit20"):
        if run not in runs:
            continue
        options, recorded = options_of(name, run), runs[run]["cptable"]
        kept = prepare(cases, options).kept
        groups = np.zeros(len(cases), dtype=np.int64)
        groups[kept] = cross_validation_groups(len(kept))
        table = cross_validated(cases, options, grow_rpart(cases, options), groups)
        assert recorded["columns"][3:] == ["xerror", "xstd"]
        assert np.array(table.rows()) == close_to(recorded["rows"])
