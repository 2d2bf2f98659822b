"""Growth as a sequence of states, for every learner: each state follows from the list, forward and back."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from explain.test_pruning import noisy
from learners.tables_for_growing import tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.explain.growth_steps import CaseStep, Growth, GrowthStep, case_steps, growth_steps
from treewright.explain.language import LANGUAGES, words
from treewright.fitting.learn import fit
from treewright.learners.cal.trace import Event
from treewright.learners.recipe import Stopping
from treewright.plans import c45, cal2, cal3, cart, chaid, id3

TENNIS = sample("play-tennis")


def grown(growth: Growth) -> list[GrowthStep]:
    return [step for step in growth.steps if isinstance(step, GrowthStep) and step.event in ("split", "leaf")]


def play(growth: Growth) -> None:
    """Play all states: only opened nodes are decided, each once, and a step has the numbers of its state."""
    opened, decided, leaves = {0}, set[int](), 1
    for number, step in enumerate(grown(growth), start=1):
        assert step.number == number
        assert step.node in opened - decided
        decided.add(step.node)
        opened |= set(step.children)
        leaves += len(step.children) - 1 if step.children else 0
        assert (step.open, step.leaves) == (len(opened - decided), leaves)
    assert opened == decided


PLANS: list[Any] = [
    id3(),
    id3(max_leaves=3),
    c45(),
    c45(dialect="r8"),
    c45(dialect="j48"),
    c45(prune="reduced_error"),
    cart(),
    cart(stopping=Stopping(max_leaves=6)),
    cart(prune="cost_complexity", alpha=0.02),
    cart(missing="surrogate", cp=0.01),
    cart(choose="min", cp=0.0),
    chaid(),
    chaid(prune="mdl"),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.name}, {plan.describe()}")
def test_states_follow_from_the_steps(plan: Any) -> None:
    data = noisy()
    model = fit(data, plan)
    finished = growth_steps(model)
    play(finished)
    assert {step.node for step in grown(finished)} == set(range(model.tree.n_nodes))
    whole = growth_steps(model, data)
    play(whole)
    prunings = [step for step in whole.steps if isinstance(step, GrowthStep) and step.event in ("prune", "raise")]
    if prunings:
        assert prunings[-1].leaves == model.tree.n_leaves
    else:
        assert len(grown(whole)) == model.tree.n_nodes
    for growth in (finished, whole):
        json.dumps(growth.to_dict(), allow_nan=False)
        for lang in LANGUAGES:
            assert growth.to_text(lang)


@settings(max_examples=25)
@given(tables(missing=True))
def test_states_of_random_tables(data: Dataset) -> None:
    for plan in (id3(), c45(min_objects=1), cart()):
        model = fit(data, plan)
        play(growth_steps(model))
        play(growth_steps(model, data))


def test_levels_come_one_after_the_other() -> None:
    growth = growth_steps(fit(TENNIS, id3()))
    assert growth.order == "levels"
    assert [step.node for step in grown(growth)] == [0, 1, 4, 5, 2, 3, 6, 7]


def test_branches_are_finished_one_by_one_in_the_programs_that_recurse() -> None:
    growth = growth_steps(fit(TENNIS, c45(dialect="r8")))
    assert growth.order == "depth"
    assert [step.node for step in grown(growth)] == list(range(8))


def test_best_node_goes_first_under_a_limit_of_leaves() -> None:
    data = noisy()
    growth = growth_steps(fit(data, id3(max_leaves=9)))
    assert growth.order == "best"
    reasons = [step.stop_code for step in grown(growth)]
    first = reasons.index("leaves")
    assert reasons[first:] == ["leaves"] * len(reasons[first:])
    assert "Best split first:" in growth.to_text()


def test_step_shows_the_tables_of_its_choice() -> None:
    text = growth_steps(fit(TENNIS, c45())).to_text()
    first = text.split("Step 2:")[0]
    assert "Outlook      0.247       1.577       0.156" in first
    assert "Outlook is chosen" in first
    assert "The model was pruned; these are the steps that lead to the remaining tree." in first


def test_pruned_tree_is_explained_from_before_its_pruning_on() -> None:
    lenses = sample("contact-lenses")
    model = fit(lenses, id3(prune="mdl"))
    growth = growth_steps(model, lenses)
    assert (growth.tree, growth.pruned) == ("grown", True)
    assert len(grown(growth)) == 15
    last = growth.steps[-1]
    assert isinstance(last, GrowthStep)
    assert (last.event, last.leaves) == ("prune", model.tree.n_leaves)
    assert "conditions" in growth.to_dict()["steps"][-1]
    assert "conditions" not in growth_steps(model).to_dict()["steps"][-1]


def test_raising_is_a_step() -> None:
    for seed in range(12):
        data = noisy(seed, 120)
        growth = growth_steps(fit(data, c45()), data)
        if any(step.event == "raise" for step in growth.steps if isinstance(step, GrowthStep)):
            assert "Raised: the largest branch replaces the split on" in growth.to_text()
            return
    raise AssertionError("no tree with a raised branch was found")


@pytest.mark.parametrize(("name", "plan"), [("cal2", cal2()), ("cal3", cal3())])
def test_cal_is_explained_case_by_case(name: str, plan: Any) -> None:
    data = sample(name)
    model = fit(data, plan)
    growth = growth_steps(model, data)
    assert growth.order == "cases"
    assert all(isinstance(step, CaseStep) for step in growth.steps)
    lines = growth.to_text().splitlines()
    texts = {str(event): words("en")(f"cal.{event.name.lower()}") for event in Event}
    recorded = [str(step) for step in case_steps(model, data)]
    assert lines == [re.sub(r"(?<=\): )[a-z ]+?(?= ->|$)", lambda event: texts[event[0]], line) for line in recorded]
    german = growth.to_text("de")
    assert german.startswith("1. Beispiel 1, an der Wurzel")
    play(growth_steps(model))
    assert growth_steps(model).notes == ("cases_need_data",)


def test_other_data_give_no_prunings_of_this_model() -> None:
    growth = growth_steps(fit(noisy(1), c45()), noisy(2))
    assert all(step.event in ("split", "leaf") for step in growth.steps if isinstance(step, GrowthStep))
    assert growth.notes == ("other_counts",)
    assert "these data do not reproduce the counts of the model" in growth.to_text()


def test_cases_are_not_presented_to_other_learners() -> None:
    with pytest.raises(ParameterError, match="to CAL2 and CAL3, not to ID3"):
        case_steps(fit(TENNIS, id3()), TENNIS)


def test_numeric_target_grows_step_by_step() -> None:
    data = noisy()
    target = data.columns[-1] * 2.0
    schema = Schema((*data.schema.attributes, Column("y", Kind.NUMERIC)), target="y")
    numbers = Dataset(schema, data.columns, data.n_rows, np.asarray(target))
    growth = growth_steps(fit(numbers, cart(prune="cost_complexity", alpha=0.001)), numbers)
    play(growth)
    assert "Split on n" in growth.to_text()
