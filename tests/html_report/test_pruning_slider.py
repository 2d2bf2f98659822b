"""The slider of pruning against pruning itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from small_trees import random_cases
from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.fitting.learn import fit
from treewright.html_report.pruning_slider import between, losses_along, pruning_data, pruning_steps, training_errors
from treewright.pruning.collapse import cut_at
from treewright.pruning.cost_complexity import Risk, prune_cost_complexity
from treewright.tree.model import TreeModel


def classes(seed: int, missing: float = 0.0) -> tuple[TreeModel, Dataset]:
    data = random_cases(np.random.default_rng(seed), 120, missing)
    return fit(data, plans.cart()), random_cases(np.random.default_rng(seed + 1), 150, missing)


def numbers() -> tuple[TreeModel, Dataset]:
    rng = np.random.default_rng(5)
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    x = rng.random(200)
    data = Dataset(schema, (x,), 200, np.sin(6 * x) + rng.normal(0, 0.2, 200))
    return fit(data.take(slice(0, 120)), plans.cart()), data.take(slice(120, 200))


@pytest.mark.parametrize("case", ["classes", "missing", "numbers"])
def test_the_steps_are_the_trees_of_cost_complexity_with_their_losses(case: str) -> None:
    model, unseen = {"classes": lambda: classes(1), "missing": lambda: classes(2, 0.2), "numbers": numbers}[case]()
    tree = model.tree
    risk: Risk = "impurity" if tree.is_regression else "errors"
    steps = pruning_steps(tree)
    assert steps.leaves[-1] == 1
    assert list(steps.leaves) == sorted(set(steps.leaves), reverse=True)
    found = losses_along(model, unseen, steps.alphas)
    training = training_errors(tree, steps)
    cut: list[int] = []
    for index, (alpha, nodes) in enumerate(zip(steps.alphas, steps.cuts, strict=True)):
        cut += nodes
        pruned = prune_cost_complexity(tree, alpha, risk)
        assert pruned.n_leaves == steps.leaves[index] == cut_at(tree, cut).n_leaves
        small = replace(model, tree=pruned, trace={})
        assert found[index + 1] == pytest.approx(loss(small, unseen))
        below = pruned.sse if pruned.sse is not None else pruned.errors
        own = float(below[pruned.attribute < 0].sum()) / float(tree.weight[0])
        assert training[index + 1] == pytest.approx(own)
    assert found[0] == pytest.approx(loss(model, unseen))


def loss(model: TreeModel, cases: Dataset) -> float:
    """Return the mean loss by the model's own predictions."""
    if model.tree.is_regression:
        return float(np.mean((model.predict(cases) - cases.target) ** 2))
    return float(np.mean(model.predict_codes(cases) != cases.target))


def test_weights_count() -> None:
    model, unseen = classes(3)
    heavy = replace(unseen, weights=np.where(np.arange(unseen.n_rows) < 10, 5.0, 0.0))
    few = unseen.take(slice(0, 10))
    alphas = pruning_steps(model.tree).alphas
    assert losses_along(model, heavy, alphas) == pytest.approx(losses_along(model, few, alphas))


def test_a_long_sequence_is_thinned_to_nested_trees() -> None:
    model, _ = classes(4)
    all_steps, few = pruning_steps(model.tree), pruning_steps(model.tree, most=3)
    assert len(few.leaves) <= 3 < len(all_steps.leaves)
    assert few.leaves[-1] == 1
    assert {node for cut in few.cuts for node in cut} == {node for cut in all_steps.cuts for node in cut}
    done: list[int] = []
    for nodes, leaves in zip(few.cuts, few.leaves, strict=True):
        done += nodes
        assert cut_at(model.tree, done).n_leaves == leaves


def test_prices_between_the_steps_prune_the_same() -> None:
    model, _ = classes(6)
    steps = pruning_steps(model.tree)
    for alpha, leaves in zip(between(steps.alphas), steps.leaves, strict=True):
        assert prune_cost_complexity(model.tree, alpha, "errors").n_leaves == leaves
    assert between([]) == []


def test_the_smallest_of_equally_good_trees_is_the_best() -> None:
    model, _ = classes(7)
    steps = pruning_steps(model.tree)
    even = np.full(len(steps.leaves) + 1, 0.25)
    assert pruning_data(model.tree, steps, even)["best"] == len(steps.leaves)
    assert "best" not in pruning_data(model.tree, steps)
