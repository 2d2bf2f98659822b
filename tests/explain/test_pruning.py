"""Pruning decisions: the numbers that were compared, and that they lead to the tree that is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from learners.tables_for_growing import tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.language import LANGUAGES
from treewright.explain.pruning import PruningExplanation, expected_errors, explain_pruning, original_nodes, sum_of
from treewright.fitting.learn import fit
from treewright.learners.pessimistic_error import extra_errors
from treewright.plans import c45, cal3, cart, chaid, id3
from treewright.pruning.methods import Simplify, prune
from treewright.tree.tree import LEAF, Stop

LENSES, TENNIS, RESTAURANT = sample("contact-lenses"), sample("play-tennis"), sample("restaurant")


def noisy(seed: int = 0, rows: int = 200) -> Dataset:
    """Return a table in which two attributes matter, and one case in five is of the wrong class."""
    rng = np.random.default_rng(seed)
    columns = [Column(f"a{index}", Kind.NOMINAL, ("x", "y", "z")) for index in range(4)]
    cells = [rng.integers(0, 3, rows).astype(np.int32) for _ in columns]
    numbers = rng.random(rows).round(2)
    target = (cells[0] == cells[1]) | (numbers > 0.7)
    target = np.where(rng.random(rows) < 0.2, ~target, target).astype(np.int32)
    schema = Schema((*columns, Column("n", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    return Dataset(schema, (*cells, numbers), rows, target)


def values(result: PruningExplanation, stage: int = -1) -> dict[str, float]:
    return {one.kind: one.value for one in result.stages[stage].estimates}


PLANS: list[Any] = [
    c45(),
    c45(raising=False),
    c45(confidence=0.05),
    c45(dialect="r8"),
    c45(dialect="j48"),
    c45(prune="reduced_error"),
    c45(prune="chi_square"),
    id3(prune="chi_square", significance=0.01, bonferroni=True),
    id3(prune="mdl"),
    id3(prune="reduced_error"),
    cart(prune="cost_complexity", alpha=0.01),
    cart(cp=0.02),
    cart(choose="1se", cp=0.0),
    chaid(prune="mdl"),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.name}, {plan.describe()}")
def test_numbers_lead_to_the_tree_that_is_there(plan: Any) -> None:
    data = noisy()
    model = fit(data, plan)
    seen = set()
    for node in range(min(model.tree.n_nodes, 40)):
        result = explain_pruning(model, node, data)
        assert "other_tree" not in result.notes
        leaf, cut = model.tree.attribute[node] == LEAF, model.tree.node(node).stop is Stop.PRUNED
        if cut:
            assert result.decision == "pruned"
        if not leaf:
            assert result.decision in ("kept", "raised")
        for stage in result.stages:
            _check(stage.method, stage.decision, {one.kind: one.value for one in stage.estimates})
            seen.add(stage.method)
        for lang in LANGUAGES:
            assert result.to_text(lang)
            assert result.to_markdown(lang)
            assert result.to_html(lang)
        assert explain_pruning(model, node).to_text()
    assert seen


def _check(method: str, decision: str, found: dict[str, float]) -> None:
    """Check that the numbers are on the side of the decision, by the method's own rule."""
    slack = 0.1 + 1e-6
    if method == "error_based":
        raised = found.get("raised", np.inf)
        pruned = found["leaf"] <= min(found["tree"], raised) + slack
        assert decision == ("pruned" if pruned else "raised" if raised <= found["tree"] + slack else "kept")
    if method == "collapse":
        assert (decision == "pruned") == (found["tree"] >= found["leaf"] - 1e-3)
    if method in ("reduced_error", "mdl"):
        assert (decision == "pruned") == (found["leaf"] <= found["tree"] * (1 + 1e-9))
    if method == "chi_square" and decision == "pruned":
        assert found["p"] > found["limit"]
    if method in ("cost_complexity", "cp") and decision == "pruned":
        assert found["strength"] <= found["limit"] * (1 + 1e-9) + 1e-12
    if method in ("cost_complexity", "cp") and decision == "kept":
        assert found["strength"] > found["limit"] * (1 - 1e-9)


@settings(max_examples=30)
@given(tables(missing=True, max_rows=20))
def test_every_pruning_of_random_tables_is_explained(data: Dataset) -> None:
    for plan in (c45(), c45(confidence=0.05), id3(prune="mdl"), id3(prune="chi_square")):
        model = fit(data, plan)
        for node in range(model.tree.n_nodes):
            result = explain_pruning(model, node, data)
            if "other_tree" not in result.notes:
                for stage in result.stages:
                    _check(stage.method, stage.decision, {one.kind: one.value for one in stage.estimates})


def test_three_estimates_of_error_based_pruning() -> None:
    result = explain_pruning(fit(TENNIS, c45()), 0, TENNIS)
    assert [stage.method for stage in result.stages] == ["collapse", "error_based"]
    assert values(result) == pytest.approx(
        {"leaf": 5 + extra_errors(14, 5), "tree": 5.3918, "raised": 7.7393}, abs=1e-4
    )
    assert "as a subtree = 2.110 + 1.172 + 2.110 = 5.392" in result.to_text()
    assert r"\sqrt{z^2" in result.to_markdown()


def test_leaf_that_was_pruned_shows_what_it_lost() -> None:
    model = fit(TENNIS, c45(confidence=0.01))
    assert model.tree.n_nodes == 1
    result = explain_pruning(model, 0, TENNIS)
    assert result.decision == "pruned"
    found = values(result)
    assert found["leaf"] <= found["tree"] + 0.1
    assert "The node becomes a leaf: a leaf adds at most 0.1 expected errors" in result.to_text()
    assert "predicts Yes." in result.to_text()


def test_without_data_it_reports_what_is_missing() -> None:
    model = fit(TENNIS, c45(confidence=0.01))
    result = explain_pruning(model)
    assert (result.decision, result.notes) == ("pruned", ("pruned_needs_data",))
    assert list(values(result)) == ["leaf"]
    kept = explain_pruning(fit(TENNIS, c45()))
    assert list(values(kept)) == ["leaf", "tree"]
    assert kept.notes == ("raising_needs_data",)
    held_out = explain_pruning(fit(noisy(), id3(prune="reduced_error")))
    assert held_out.notes[-1] in ("held_out_needs_data", "pruned_needs_data")


def test_estimates_without_data_are_those_with_data() -> None:
    for plan in (c45(raising=False), id3(prune="mdl"), cart(prune="cost_complexity", alpha=0.01)):
        data = noisy(3)
        model = fit(data, plan)
        inner = np.flatnonzero(model.tree.attribute != LEAF).tolist()
        for node in inner:
            with_data, without = explain_pruning(model, node, data), explain_pruning(model, node)
            assert values(with_data).keys() >= values(without).keys()
            assert values(without)["tree" if "tree" in values(without) else "strength"] == pytest.approx(
                values(with_data)["tree" if "tree" in values(without) else "strength"]
            )


def test_model_without_pruning_reports_it() -> None:
    result = explain_pruning(fit(TENNIS, id3()))
    assert (result.decision, result.stages, result.notes) == ("never", (), ("not_pruned",))
    assert "The model was not pruned." in result.to_text()


def test_other_data_are_noticed() -> None:
    model = fit(noisy(1), c45())
    result = explain_pruning(model, 0, noisy(2))
    assert "other_tree" in result.notes
    assert "gives a different tree" in result.to_text()


@pytest.mark.full
def test_rpart_by_squares_and_by_losses() -> None:
    data = noisy()
    schema = Schema((*data.schema.attributes, Column("y", Kind.NUMERIC)), target="y")
    numbers = Dataset(schema, data.columns, data.n_rows, data.columns[-1] * 3.0 + np.asarray(data.target))
    for model, cases in (
        (fit(numbers, cart(choose="1se", cp=0.0)), numbers),
        (fit(data, cart(loss=((0.0, 1.0), (2.0, 0.0)), choose="1se", cp=0.0)), data),
        (fit(data, cart(loss=((0.0, 1.0), (1.5, 0.0)), cp=0.01)), data),
    ):
        for node in range(min(model.tree.n_nodes, 10)):
            result = explain_pruning(model, node, cases)
            assert "other_tree" not in result.notes
            for stage in result.stages:
                assert stage.method == "cp"
                _check("cp", stage.decision, {one.kind: one.value for one in stage.estimates})
        assert "risks relative to the root" in explain_pruning(model, 0, cases).to_text()
        if model.tree.n_nodes > 1:
            assert values(explain_pruning(model, 0))["strength"] > values(explain_pruning(model, 0))["limit"]


def test_j48_above_one_half_adds_no_errors_and_has_no_z() -> None:
    data = noisy()
    result = explain_pruning(fit(data, c45(dialect="j48", confidence=0.6)), 0, data)
    assert "z" not in result.stages[-1].parameters
    assert "Error-based pruning with confidence factor 0.6; expected errors:" in result.to_text()


def test_cal_that_was_pruned_is_presented_its_cases_again() -> None:
    data = sample("cal3")
    model = fit(data, cal3(prune="mdl"))
    result = explain_pruning(model, 0, data)
    assert result.stages[0].method == "mdl"


def test_other_data_of_rpart_are_noticed_too() -> None:
    model = fit(noisy(1), cart(cp=0.01))
    assert "other_tree" in explain_pruning(model, model.tree.n_nodes - 1, noisy(2)).notes


def test_simplified_tree_has_no_numbers_to_compare() -> None:
    data = noisy()
    model = fit(data, c45(prune=False))
    simple = replace(
        model,
        tree=prune(model.tree, Simplify()),
        recipe={**model.recipe, "pruning": [*model.recipe["pruning"], Simplify().to_dict()]},
    )
    result = explain_pruning(simple, 0, data)
    assert result.stages[-1].method == "simplify"
    assert "Simplification removes splits" in result.to_text()


def test_raised_branch_is_reported() -> None:
    """Look for a tree in which raising happened, and see its three numbers."""
    for seed in range(12):
        data = noisy(seed, 120)
        model = fit(data, c45())
        for node in range(model.tree.n_nodes):
            result = explain_pruning(model, node, data)
            if any(stage.decision == "raised" for stage in result.stages):
                assert "The largest branch replaces the node" in result.to_text()
                return
    raise AssertionError("no tree with a raised branch was found")


@pytest.mark.parametrize(
    ("weight", "errors", "formula"),
    [
        (6, 0, "6 (1 - 0.25^(1/6)) = 1.238"),
        (4, 0.5, "1.172 + 0.5 (2.189 - 1.172) = 1.680"),
        (4, 3.6, "3.6 + 0.67 (4 - 3.6) = 3.868"),
        (0, 0, "0.000"),
    ],
)
def test_formula_of_every_case(weight: float, errors: float, formula: str) -> None:
    found = expected_errors(weight, errors, 0.25)
    assert found.plain == formula
    assert found.value == pytest.approx(errors + extra_errors(weight, errors, 0.25))


def test_formula_comes_to_the_number_it_states() -> None:
    z = 0.6925  # of C4.5's table at 0.25
    result = expected_errors(16, 1, 0.25)
    half = 1.5
    root = (z**2 * (half * (1 - half / 16) + z**2 / 4)) ** 0.5
    assert result.value == pytest.approx(16 * (half + z**2 / 2 + root) / (16 + z**2), abs=1e-4)
    assert expected_errors(16, 1, 0.25, j48=True).value == pytest.approx(1 + 1.4757, abs=1e-4)
    assert expected_errors(4, 3.6, 0.25, j48=True).plain == "3.6 + (4 - 3.6) = 4.000"
    assert expected_errors(4, 1, 0.6, j48=True).plain == "1.000"


def test_long_sums_are_cut_short() -> None:
    assert sum_of(["1"] * 40, "40").plain.endswith("1 + ... = 40")
    assert sum_of(["5"], "5").plain == "5"


def test_nodes_of_another_tree_are_not_found() -> None:
    tree = fit(TENNIS, id3()).tree
    other = fit(TENNIS, cart()).tree
    assert original_nodes(tree, other)[1:] == [-1] * (other.n_nodes - 1)
