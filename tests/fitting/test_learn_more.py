"""CHAID, CAL2 and CAL3 by the one way in; columns that name the cases; and trees of pure chance."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright
from learners.tables_for_growing import numeric_table
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.ensembles.plan import forest
from treewright.errors import DataError, DataWarning, ParameterError
from treewright.explain.node import explain_node
from treewright.fitting.case_by_case import begin_case_by_case, fit_case_by_case, model_so_far
from treewright.fitting.learn import fit
from treewright.learners.cal.options import CAL2, CAL3
from treewright.learners.chaid.options import CHAID
from treewright.learners.recipe import CART, Choice, MissingPolicy, NominalTest, recipe_from_dict
from treewright.plans import Plan, cal2, cal3, cart, chaid, id3
from treewright.pruning.methods import MDL, ChiSquare
from treewright.tree.model import Voting
from treewright.tree.split import Test

PLANS = [chaid(min_samples_split=5, min_samples_leaf=2), chaid(exhaustive=True), cal2(), cal3()]


def numbers() -> Dataset:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    x = np.arange(40.0)
    return Dataset(schema, (x,), 40, np.where(x < 20, 1.0, 5.0) + x % 2 / 10)


# -- plans -----------------------------------------------------------------------------------------------------------


def test_a_plan_has_a_name_and_lists_its_options() -> None:
    assert [plan.name for plan in PLANS] == ["CHAID", "exhaustive CHAID", "CAL2", "CAL3"]
    assert [plan.describe() for plan in PLANS] == [
        "groups merged at 5 %, tests significant at 5 %",
        "tests significant at 5 %",
        "one case at a time",
        "s1 4, s2 0.7",
    ]
    assert chaid(max_depth=3, resplit=True).describe().endswith("resplit, depth at most 3")
    assert chaid(prune="mdl").describe().endswith("pruned by description length")
    assert cal2(max_steps=9).describe() == "one case at a time, steps at most 9"


@pytest.mark.parametrize("criterion", ["entropy", "chi2"])
def test_a_criterion_for_classes_is_refused_for_a_number(criterion: str) -> None:
    for plan in (cart(criterion=criterion), forest(CART(criterion=criterion), trees=2)):
        with pytest.raises(ParameterError, match=f"the criterion '{criterion}' is for classes, and the target 'y'"):
            fit(numbers(), plan)


def test_a_plan_answers_for_its_learner() -> None:
    for plan in PLANS:
        assert plan.learner.nominal_limit == 10
        assert plan.voting is Voting.SHARES
    assert [plan.criterion for plan in PLANS] == ["chi2", "chi2", "", ""]
    reference = chaid().reference
    assert (reference.criterion, reference.nominal) == ("chi2", NominalTest.MULTIWAY)
    assert reference.missing is MissingPolicy.MAJORITY
    by_variance = replace(chaid(), task=Task.REGRESSION)
    assert (by_variance.criterion, by_variance.reference.criterion) == ("variance", "variance")
    assert by_variance.reference.missing is MissingPolicy.MAJORITY
    assert (cal3().reference.criterion, cal3().reference.choice) == ("gain", Choice.HIGHEST)


def test_options_of_chaid_and_of_pruning_are_distinguished() -> None:
    plan = chaid(alpha_merge=0.1, prune="chi_square", significance=0.01, bonferroni=True)
    assert plan == Plan(CHAID(alpha_merge=0.1), (ChiSquare(0.01, True),))
    assert plan.unpruned() == Plan(CHAID(alpha_merge=0.1))
    assert cal2().unpruned() == cal2()
    with pytest.raises(TypeError, match="alpha_merg"):
        chaid(alpha_merg=0.1)


# -- the one way in --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("name", ["contact-lenses", "play-tennis", "restaurant"])
def test_every_learner_makes_a_model_that_saves_loads_and_explains_itself(
    plan: Plan, name: str, tmp_path: Path
) -> None:
    data = sample(name)
    model = fit(data, plan)
    model.save(tmp_path / "model.json")
    loaded = treewright.load(tmp_path / "model.json")
    assert loaded.predict(data).tolist() == model.predict(data).tolist()
    assert isinstance(loaded, treewright.TreeModel)
    assert loaded.recipe["name"] == plan.name
    assert loaded.recipe["options"]["learner"] == type(plan.learner).__name__
    assert recipe_from_dict(loaded.recipe).nominal_limit == 10
    for node in range(model.tree.n_nodes):
        explain_node(loaded, node)


def test_bare_options_are_a_plan() -> None:
    data = sample("cal3")
    assert fit(data, CAL3()).tree.to_dict() == fit(data, cal3()).tree.to_dict()
    assert fit(data, CHAID()).tree.n_nodes == 1


def test_chaid_predicts_numbers_and_cal_does_not() -> None:
    model = fit(numbers(), chaid())
    assert model.recipe["criterion"] == "variance"
    assert model.predict(numbers()) == pytest.approx(np.asarray(numbers().target), abs=0.11)
    for plan in (cal2(), cal3(), id3()):
        with pytest.raises(ParameterError, match="use CART or CHAID"):
            fit(numbers(), plan)


def test_cal_takes_numbers_by_interval() -> None:
    data = numeric_table({"x": [float(x) for x in range(20)]}, ["a"] * 10 + ["b"] * 10, ("a", "b"))
    model = fit(data, cal2())
    split = model.tree.split(0)
    assert split is not None
    assert (split.test, split.bounds) == (Test.INTERVALS, (9.5,))
    assert model.predict(data).tolist() == data.y.tolist()


def test_weights_are_taken_by_chaid_and_refused_by_cal() -> None:
    data = replace(sample("contact-lenses"), weights=np.full(24, 2.0))
    assert fit(data, chaid()).tree.weight[0] == 48.0
    assert fit(sample("contact-lenses"), chaid(), class_weights={"none": 2.0}).tree.weight[0] == 39.0
    with pytest.raises(DataError, match="weights must be 1"):
        fit(data, cal2())


def test_a_tree_of_cal_can_be_pruned() -> None:
    data = sample("restaurant")
    assert fit(data, Plan(CAL2(), (MDL(),))).tree.n_leaves <= fit(data, cal2()).tree.n_leaves


# -- case by case ----------------------------------------------------------------------------------------------------


def test_learning_can_go_on_from_a_model() -> None:
    data = sample("cal2")
    model, learner = fit_case_by_case(data, cal2(), keep_trace=True)
    steps = len(learner.trace)
    learner.learn_once(data.take([0]))
    later = model_so_far(learner, cal2())
    assert later.provenance["rows"] == steps + 1
    assert later.tree.weight[0] == model.tree.weight[0] + 1
    assert later.trace == {}


def test_only_cal_learns_case_by_case() -> None:
    with pytest.raises(ParameterError, match="CHAID learns from all cases at once"):
        begin_case_by_case(sample("cal2"), chaid())
    with pytest.raises(DataError, match="no rows"):
        begin_case_by_case(sample("cal2").take([]), cal2())


# -- columns that name the cases -------------------------------------------------------------------------------------


def named(values: int, rows: int, kind: Kind = Kind.NOMINAL) -> Dataset:
    schema = Schema(
        (Column("id", kind, tuple(f"v{value}" for value in range(values))), Column("y", Kind.NOMINAL, ("a", "b"))),
        target="y",
    )
    codes = (np.arange(rows) % values).astype(np.int32)
    return Dataset(schema, (codes,), rows, (codes % 2).astype(np.int32))


@pytest.mark.parametrize("plan", [id3(), cal2(), pytest.param(chaid(), marks=pytest.mark.full), treewright.c45_rules()])
def test_a_column_that_seems_to_name_the_cases_is_reported(plan: Any) -> None:
    with pytest.warns(DataWarning, match=r"column 'id' has 1,000 values in 1,200 rows: if it names the cases, leave"):
        fit(named(1000, 1200), plan)


def test_the_warning_points_at_the_caller() -> None:
    with pytest.warns(DataWarning) as caught:
        fit(named(100, 100), id3())
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(DataWarning, match="'x1' has 200 values"):
        treewright.CAL2Classifier().fit([[f"n{case}"] for case in range(200)], [0, 1] * 100)


@pytest.mark.parametrize(
    "data", [named(99, 99), named(100, 500), named(200, 1200), named(200, 300, Kind.ORDINAL)], ids=str
)
def test_a_column_with_few_values_for_its_rows_is_not_suspected(data: Dataset) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(data, id3(max_depth=1))


# -- chance ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_dice_have_nothing_to_teach() -> None:
    """A thousand seeds give 87 %, single hundreds of them from 81 to 93: a hundred would be too few."""
    names = [Column(f"x{index}", Kind.NOMINAL, tuple("0123")) for index in range(4)]
    schema = Schema((*names, Column("die", Kind.NOMINAL, tuple("123456"))), target="die")
    plan = id3(prune="chi_square", significance=0.01)
    single = 0
    for seed in range(500):
        random = np.random.default_rng(seed)
        columns = tuple(random.integers(0, 4, size=(200, 4)).astype(np.int32).T)
        data = Dataset(schema, columns, 200, random.integers(0, 6, size=200).astype(np.int32))
        single += fit(data, plan, keep_trace=False, engine="compiled").tree.n_leaves == 1
    assert single >= 0.85 * 500
