"""Numbers in bins: borders as cuts, the same tree from both engines, and a model that records it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from made_tables import difference, is_exact, made_table
from treewright import C45Classifier, CARTClassifier, CARTRegressor, load
from treewright.cart_plan import cart_learner
from treewright.cli.main import run
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.ensembles.plan import bagging
from treewright.errors import ParameterError
from treewright.explain.node import explain_node, retrace_node
from treewright.fitting.learn import fit
from treewright.learners.discretise import bin_tops, in_bins
from treewright.learners.grower import grow_tree
from treewright.learners.recipe import (
    C45,
    CART,
    AttributeSampling,
    MissingPolicy,
    Recipe,
    for_regression,
    recipe_from_dict,
)
from treewright.plans import Plan, c45, cart
from treewright.tree.model import TreeModel
from treewright.tree.split import KNOWN
from treewright.tree.tree import Tree


def two_numbers(rows: int = 150) -> Dataset:
    """Return cases of three classes that hang on two numbers."""
    rng = np.random.default_rng(5)
    numbers = np.round(rng.normal(size=(2, rows)), 2)
    classes = ((numbers[0] > 0.2) + (numbers[1] > -0.4) * (rng.random(rows) < 0.8)).astype(np.int32)
    columns = (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("p", "q", "r")))
    return Dataset(Schema(columns, "y"), tuple(numbers), rows, classes)


def cuts_of(tree: Tree, attribute: int) -> set[float]:
    cuts = tree.cut[(tree.attribute == attribute) & ~np.isnan(tree.cut)]
    return set(cuts[cuts != KNOWN].tolist())


def test_a_number_becomes_the_highest_of_its_bin() -> None:
    column = np.array([5.0, 1.0, 1.0, np.nan, 2.0, 9.0, 7.0, 1.0, -0.0])
    assert bin_tops(column, 4)[~np.isnan(column)].tolist() == [5.0, 1.0, 1.0, 5.0, 9.0, 9.0, 1.0, 1.0]
    assert np.isnan(bin_tops(column, 4)[3])
    assert bin_tops(column, 6) is column
    nothing = np.full(3, np.nan)
    assert bin_tops(nothing, 2) is nothing


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "recipe",
    [CART(bins=4), CART(bins=9, missing=MissingPolicy.MAJORITY), C45(bins=4)],
    ids=["learned", "majority", "c45"],
)
def test_both_engines_grow_the_same_tree_with_cuts_at_borders_only(seed: int, recipe: Recipe) -> None:
    regression = seed % 4 == 3 and recipe.name == "CART"
    table = made_table(seed + (100 if regression else 0), regression=regression)
    recipe = for_regression(recipe) if regression else recipe
    interpreted = grow_tree(table, recipe, engine="interpreted")
    exact = is_exact(table, recipe, regression=table.schema.task is Task.REGRESSION)
    assert difference(interpreted, grow_tree(table, recipe, engine="compiled", n_jobs=2), exact=exact) is None
    binned = in_bins(table, recipe)
    for attribute, column in enumerate(table.schema.attributes):
        if column.is_numeric:
            tops = {float(number) for number in binned.columns[attribute] if not np.isnan(number)}
            assert len(tops) <= (recipe.numeric_bins or 0)
            assert cuts_of(interpreted, attribute) <= tops


def test_the_numbers_themselves_go_where_the_bins_went() -> None:
    data = two_numbers()
    model = fit(data, cart(bins=6))
    ends = np.bincount(model.apply(data.X), minlength=model.tree.n_nodes)
    leaves = np.flatnonzero(model.tree.attribute < 0)
    assert ends[leaves].tolist() == model.tree.weight[leaves].tolist()
    assert fit(data, cart()).tree.n_nodes != model.tree.n_nodes


def test_the_model_records_that_numbers_were_in_bins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.json"
    fit(two_numbers(), c45(bins=7)).save(path)
    again = load(path)
    assert isinstance(again, TreeModel)
    assert again.recipe["numeric"]["bins"] == 7
    assert recipe_from_dict(again.recipe).numeric == C45(bins=7).numeric
    assert "bins" not in fit(two_numbers(), c45()).recipe["numeric"]
    assert "bins" in explain_node(again).notes
    assert run(["show", str(path)]) == 0
    assert "cuts at the borders of 7 bins" in capsys.readouterr().out
    assert run(["explain", str(path)]) == 0
    assert "Only bin borders were tried as thresholds" in " ".join(capsys.readouterr().out.split())
    assert "cuts at the borders of 7 bins" in c45(bins=7).describe()


@pytest.mark.parametrize("plan", [cart(bins=5), c45(bins=5, prune=False)])
def test_what_a_node_compared_are_borders_too_also_counted_again(plan: Plan) -> None:
    data = two_numbers()
    model = fit(data, plan)
    tops = [set(column.tolist()) for column in in_bins(data, plan.learner).columns]
    recounted, _ = retrace_node(model, plan.reference, 0, data)
    for evaluated in (model.trace[0], recounted or ()):
        assert len(evaluated) == 2
        for one in evaluated:
            assert one.split is not None
            assert one.split.cut in tops[one.attribute]


def test_estimators_and_the_command_line_take_bins(tmp_path: Path) -> None:
    data = two_numbers()
    for estimator in (CARTClassifier(bins=3), C45Classifier(bins=3)):
        tree = estimator.fit(data.X, data.y).tree_
        assert 1 <= len(cuts_of(tree, 0)) <= 2
        assert 1 <= len(cuts_of(tree, 1)) <= 2
    numbers = np.stack(data.columns, axis=1)
    regressor = CARTRegressor(bins=3).fit(numbers, numbers[:, 0])
    assert len(cuts_of(regressor.tree_, 0)) == 2
    source, path = tmp_path / "data.csv", tmp_path / "model.json"
    rows = zip(*(column.tolist() for column in data.columns), np.asarray(data.y).tolist(), strict=True)
    source.write_text("a,b,y\n" + "\n".join(f"{a},{b},{y}" for a, b, y in rows))
    assert run(["train", str(source), "--target", "y", "-a", "cart", "--bins", "3", "-o", str(path)]) == 0
    assert load(path).recipe["numeric"]["bins"] == 3


def test_trees_of_a_forest_cut_at_the_borders_of_all_cases() -> None:
    data = two_numbers()
    model = fit(data, bagging(cart(bins=4), trees=3))
    tops = [set(column.tolist()) for column in in_bins(data, CART(bins=4)).columns]
    for tree in model.trees:
        assert cuts_of(tree, 0) <= tops[0]
        assert cuts_of(tree, 1) <= tops[1]


def test_bins_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="bins must be a whole number of at least 2"):
        CART(bins=1)
    with pytest.raises(ParameterError, match="random_cuts"):
        CART(bins=4, draw=AttributeSampling(1, 0, random_cuts=True))
    with pytest.raises(ParameterError, match="bins"):
        cart_learner(cp=0.01, bins=4)
    with pytest.raises(ParameterError, match="bins=4 is not an option of dialect 'r8'"):
        c45(dialect="r8", bins=4)
