"""CART by rpart's defaults, through the estimators: trees, answers and tables as the original program has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from learners.r_random import cross_validation_groups
from oracle_sets import folds, load_json, load_set, set_names
from treewright import CARTClassifier, CARTRegressor
from treewright.data.dataset import Dataset

pytestmark = pytest.mark.oracle

BIG = 5000
"""Sets with more rows are slow."""

RUNS: dict[str, dict[str, Any]] = {"default": {}, "information": {"criterion": "entropy"}}


def recorded_sets() -> list[Any]:
    names = set_names(having="rpart.json")
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (load_json(name, "schema.json")["rows"] > BIG)) for name in names
    ]


def column(values: Any) -> list[Any]:
    """Return a recorded column; one of a single entry was recorded without its list."""
    return values if isinstance(values, list) else [values]


def estimator(data: Dataset, run: str = "default", xval: Any = 0) -> Any:
    made = CARTClassifier if data.schema.classes else CARTRegressor
    return made.like_rpart(xval=xval, **RUNS[run])


def recorded_tests(recorded: dict[str, Any]) -> dict[int, tuple[float, float, Any]]:
    """Return the side of low numbers and the cut, or the sides of the values, of each inner node by its number."""
    frame, tests, row = recorded["frame"], {}, 0
    columns = zip(*(column(frame[key]) for key in ("node", "var", "ncompete", "nsurrogate")), strict=True)
    for node, variable, competitors, surrogates in columns:
        if variable == "<leaf>":
            continue
        _, ncat, _, index, _ = recorded["splits"]["rows"][row]
        sides = tuple(recorded["csplit"][index - 1][:ncat]) if abs(ncat) > 1 else None
        tests[node] = (ncat, index, sides)
        row += 1 + competitors + surrogates
    return tests


def check_tree(fitted: Any, recorded: dict[str, Any]) -> None:
    """Walk both trees: attributes, cuts, numbers of cases, surrogates and outcomes."""
    tree, frame = fitted.tree_, recorded["frame"]
    index_of = {number: index for index, number in enumerate(column(frame["node"]))}
    tests = recorded_tests(recorded)
    assert tree.n_nodes == len(index_of)
    waiting = [(0, 1)]
    while waiting:
        here, number = waiting.pop()
        there = index_of[number]
        assert tree.weight[here] == column(frame["n"])[there]
        predicted, expected = tree.node(here).outcome, column(frame["yval"])[there]
        assert predicted == (pytest.approx(expected, rel=1e-9) if tree.is_regression else expected)
        variable = column(frame["var"])[there]
        if variable == "<leaf>":
            assert tree.node(here).is_leaf
            continue
        split = tree.split(here)
        assert f"A{split.attribute}" == variable
        assert len(tree.surrogates.get(here, ())) == column(frame["nsurrogate"])[there]
        ncat, cut, sides = tests[number]
        low, high = tree.children_of(here).tolist()
        if sides is None:
            assert split.cut == pytest.approx(cut, rel=1e-9)
            left, right = (low, high) if ncat < 0 else (high, low)
        else:
            assert split.branch_of == tuple({1: 0, 2: -1, 3: 1}[side] for side in sides)
            left, right = low, high
        waiting += [(left, 2 * number), (right, 2 * number + 1)]


@pytest.mark.parametrize("name", recorded_sets())
def test_the_same_trees_and_training_errors(name: str) -> None:
    data = load_set(name)
    for run in RUNS:
        recorded = load_json(name, "rpart.json")["runs"].get(run)
        if recorded is None:
            continue
        fitted = estimator(data, run).fit(data.X, data.y)
        check_tree(fitted, recorded)
        predicted = fitted.predict(data.X)
        if data.schema.classes:
            assert np.count_nonzero(predicted != data.y) == recorded["train_errors"]
        else:
            assert np.mean((predicted - data.y) ** 2) == pytest.approx(recorded["train_mse"], rel=1e-9, abs=1e-9)
        rows = [row[:3] for row in recorded["cptable"]["rows"]]
        assert np.array(fitted.cp_table_.rows()) == pytest.approx(np.array(rows), rel=1e-9, abs=1e-9)
        amounts = np.zeros(len(data.columns))
        for attribute, amount in recorded.get("variable_importance", {}).items():
            amounts[int(attribute[1:])] = amount
        shares = amounts / (amounts.sum() or 1.0)
        assert fitted.feature_importances_ == pytest.approx(shares, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in ("iris", "wine", "diabetes", "housing") if name in recorded_sets()])
def test_the_same_cross_validated_errors_given_the_groups_of_r(name: str) -> None:
    data = load_set(name)
    table = estimator(data, xval=cross_validation_groups(len(data))).fit(data.X, data.y).cp_table_
    recorded = np.array(load_json(name, "rpart.json")["runs"]["default"]["cptable"]["rows"])
    assert np.array(table.rows()) == pytest.approx(recorded, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", recorded_sets())
def test_the_same_answers_for_left_out_folds(name: str) -> None:
    recorded = load_json(name, "fold_results.json")["results"]["rpart"]["per_fold"]
    data, fold = load_set(name), folds(name)
    for number, expected in enumerate(recorded):
        train, test = data.take(fold != number), data.take(fold == number)
        predicted = clone(estimator(data)).fit(train.X, train.y).predict(test.X)
        if data.schema.classes:
            assert np.mean(predicted == test.y) == pytest.approx(expected, abs=1e-6)
        else:
            assert math.sqrt(np.mean((predicted - test.y) ** 2)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.skipif(not set_names(), reason="the recorded results are not here; set TREEWRIGHT_ORACLE to their folder")
def test_all_runs_are_here() -> None:
    recorded = [load_json(name, "rpart.json")["runs"] for name in set_names(having="rpart.json")]
    assert sum(run in runs for runs in recorded for run in RUNS) == 81
