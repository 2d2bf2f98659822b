"""Recorded sets with missing values and raised branches: pruning again gives the same tree, the last step as well."""

from __future__ import annotations

from typing import Any

import pytest

from oracle_sets import load_set
from treewright.explain.counterfactual import smallest_change
from treewright.explain.growth_steps import GrowthStep, growth_steps
from treewright.explain.pruning import passes_again
from treewright.fitting.learn import fit
from treewright.plans import c45, id3

pytestmark = pytest.mark.oracle

PLANS: list[Any] = [c45(), c45(dialect="r8"), c45(dialect="j48"), id3(prune="reduced_error")]


@pytest.mark.parametrize("name", ["breast-cancer", "vote", "colic", "glass", "heart-c"])
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_pruning_again_gives_the_tree_and_its_steps_end_with_it(name: str, plan: Any) -> None:
    data = load_set(name)
    model = fit(data, plan)
    _, notes = passes_again(model, data)
    assert notes == ()
    last = growth_steps(model, data).steps[-1]
    assert isinstance(last, GrowthStep)
    assert last.leaves == model.tree.n_leaves


@pytest.mark.parametrize("name", ["breast-cancer", "vote", "colic"])
def test_smallest_change_alters_the_class_of_real_cases(name: str) -> None:
    data = load_set(name)
    model = fit(data, c45())
    for row in range(0, data.n_rows, 40):
        found = smallest_change(model, data.take([row]), data)
        assert found is not None
        assert found.outcome != model.predict(data.take([row]))[0]
