"""Plans: options become a learner with its pruning, and combinations that make no sense are refused."""

from __future__ import annotations

from typing import Any

import pytest

from treewright.data.samples import sample
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.c45r8.options import Release8
from treewright.learners.j48.options import J48
from treewright.learners.recipe import C45, ID3, Recipe
from treewright.plans import Plan, as_plan, c45, c45_rules, cart, costs_from, id3
from treewright.pruning.methods import MDL, ChiSquare, Collapse, CostComplexity, ErrorBased, ReducedError, pruning_from
from treewright.tree.model import Voting


def test_c45_by_default_collapses_and_prunes_at_a_quarter() -> None:
    plan = c45()
    assert plan == Plan(C45(), (Collapse(), ErrorBased(0.25, True)))
    assert plan.describe() == "gain ratio, pruned at confidence 25 %"


def test_each_dialect_has_its_own_learner_and_way_of_voting() -> None:
    assert isinstance(c45().learner, Recipe)
    assert isinstance(c45(dialect="r8").learner, Release8)
    assert isinstance(c45(dialect="j48").learner, J48)
    voting = [c45(dialect=dialect).voting for dialect in ("c45", "r8", "j48")]
    assert voting == [Voting.SHARES, Voting.RELEASE8, Voting.J48]


def test_reduced_error_replaces_the_pruning_of_the_program() -> None:
    for dialect in ("c45", "r8", "j48"):
        plan = c45(dialect=dialect, prune="reduced_error")
        assert plan.pruning[-1] == ReducedError()
        assert not any(isinstance(method, ErrorBased) for method in plan.pruning)
        if isinstance(plan.learner, (Release8, J48)):
            assert plan.learner.prune is False


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"dialect": "c50"}, "dialect"),
        ({"dialect": "r8", "binary": True}, "binary"),
        ({"dialect": "j48", "subset": True}, "subset"),
        ({"dialect": "r8", "raising": False}, "raising"),
        ({"dialect": "r8", "max_depth": 3}, "max_depth"),
        ({"dialect": "j48", "criterion": "gain"}, "criterion"),
        ({"dialect": "j48", "min_objects": 2.5}, "min_objects"),
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": 25}, "confidence"),
        ({"confidence": 2, "prune": False}, "confidence"),
        ({"prune": "reducederror"}, "reduced_error"),
        ({"prune": 3}, "prune"),
        ({"criterion": "gini"}, "criterion"),
        ({"min_objects": 0}, "min_objects"),
    ],
)
def test_options_that_do_not_go_together_are_named(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        c45(**options)


def test_pruning_by_name_takes_the_parameters_that_belong_to_it() -> None:
    assert pruning_from("chi-square", significance=0.01, bonferroni=True) == (ChiSquare(0.01, True),)
    assert pruning_from("cost_complexity", alpha=0.1, criterion="entropy") == (
        CostComplexity(0.1, criterion="entropy"),
    )
    assert pruning_from(MDL()) == (MDL(),)
    assert pruning_from(None) == pruning_from(False) == ()


def test_an_option_of_pruning_implies_its_method_or_is_refused() -> None:
    assert pruning_from(None, alpha=0.1) == (CostComplexity(0.1),)
    assert pruning_from(None, bonferroni=True) == (ChiSquare(bonferroni=True),)
    assert cart(alpha=0.01).pruning == (CostComplexity(0.01),)
    for refused in (
        lambda: pruning_from("mdl", alpha=0.1),
        lambda: pruning_from(False, significance=0.0001),
        lambda: pruning_from(MDL(), confidence=0.1),
        lambda: c45(alpha=0.5),
        lambda: c45(significance=0.0001),
        lambda: c45(bonferroni=True),
        lambda: c45(prune="mdl", confidence=0.1),
    ):
        with pytest.raises(ParameterError, match="has an effect only on prune="):
            refused()
    with pytest.raises(ParameterError, match="needs alpha"):
        cart(prune="cost_complexity")
    with pytest.raises(ParameterError, match="different pruning methods"):
        cart(alpha=0.1, significance=0.01)


def test_a_bare_recipe_is_a_plan_without_pruning() -> None:
    assert as_plan(ID3()) == Plan(ID3()) == id3()
    assert cart(prune="mdl").pruning == (MDL(),)
    with pytest.raises(ParameterError, match="best_side"):
        cart(missing="surogate")


def test_a_plan_is_recorded_in_the_model_with_its_pruning() -> None:
    plain = fit(sample("play-tennis"), c45(dialect="j48", confidence=0.1)).recipe
    assert plain["name"] == "J48"
    assert plain["options"]["confidence"] == 0.1
    assert fit(sample("play-tennis"), c45()).recipe["pruning"][1] == {
        "method": "error_based",
        "confidence": 0.25,
        "raising": True,
    }


def test_rules_take_their_tree_unpruned() -> None:
    plan = c45_rules(dialect="r8", confidence=0.1)
    assert isinstance(plan.tree.learner, Release8)
    assert plan.tree.learner.prune is False
    assert "10 %" in plan.describe()
    with pytest.raises(ParameterError, match="validation"):
        c45_rules(validation=1.5)


def test_costs_are_read_as_table_or_by_pairs() -> None:
    assert costs_from(None, ["a", "b"]) is None
    assert costs_from([[0, 2], [1, 0]], ["a", "b"]) == ((0.0, 2.0), (1.0, 0.0))
    assert costs_from({(1, 2): 7}, ["1", "2"]) == ((0.0, 7.0), (1.0, 0.0))
    with pytest.raises(ParameterError, match="pairs"):
        costs_from({"a": 3}, ["a", "b"])
    with pytest.raises(ParameterError, match="numbers"):
        costs_from([["x"]], ["a"])
