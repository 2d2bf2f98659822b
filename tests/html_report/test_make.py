"""From a model to the page: what is in the file, for every kind of model and whatever data there are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright
from drawn_trees import chain
from small_trees import random_cases
from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.html_report.make import FIRST_WIDTH, ReportPage, first_view, plan_of, report, typical_values
from treewright.tree.model import TreeModel

DATA = random_cases(np.random.default_rng(31), 120, 0.05)


def payload(page: ReportPage) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.html.split('id="data-block">')[1].split("</script>")[0])
    return found


def test_a_report_is_a_text_that_saves_itself(tmp_path: Path) -> None:
    weather = sample("play-tennis")
    page = treewright.report(treewright.fit(weather, treewright.c45()), weather)
    assert str(page) == page.html
    assert "bytes" in repr(page)
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.html


def test_the_same_model_and_data_give_the_same_bytes() -> None:
    model = fit(DATA, plans.c45())
    pages = [report(model, DATA, folds=3, curve=False).html for _ in range(2)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    "plan",
    [
        plans.c45(),
        plans.id3(),
        plans.cart(),
        plans.cart(missing="surrogate"),
        plans.chaid(),
        plans.cal3(),
        plans.c45(dialect="r8"),
        plans.c45(dialect="j48"),
        plans.id3(prune="reduced_error"),
        plans.c45_rules(),
    ],
)
def test_every_learner_has_its_report(plan: Any) -> None:
    result = payload(report(fit(DATA, plan), DATA, plan=plan, folds=3, curve=False))
    assert result["quality"]["method"]["kind"] == "folds"
    assert ("ruleset" in result) == isinstance(plan, plans.RulePlan)
    assert result["profile"]["rows"] == 120


def test_a_model_reports_its_own_plan_where_it_can() -> None:
    for plan in (
        plans.c45(confidence=0.1),
        plans.id3(),
        plans.cart(),
        plans.chaid(),
        plans.c45(dialect="j48"),
        plans.cal2(),
    ):
        assert plan_of(fit(DATA, plan)) == plan
    assert plan_of(fit(DATA, plans.cart(missing="surrogate"))) is None
    assert plan_of(fit(DATA, plans.c45_rules())) is None
    assert plan_of(replace(fit(DATA, plans.id3()), recipe={})) is None


def test_without_data_there_is_the_tree_and_its_split_trace() -> None:
    result = payload(report(fit(DATA, plans.c45())))
    assert not {"quality", "learning", "profile"} & set(result)
    assert result["explain"]["0"]["attributes"]
    assert "validation" not in result["pruning"]


def test_without_a_plan_or_folds_the_training_cases_are_measured_and_it_is_reported() -> None:
    surrogates = fit(DATA, plans.cart(missing="surrogate"))
    for page in (report(surrogates, DATA), report(fit(DATA, plans.id3()), DATA, folds=0)):
        assert payload(page)["quality"]["method"]["kind"] == "training"
    few = DATA.take(slice(0, 6))
    assert payload(report(fit(few, plans.id3()), few))["quality"]["method"]["kind"] == "training"


def test_test_cases_are_measured_instead_of_folds() -> None:
    model = fit(DATA, plans.cart())
    other = random_cases(np.random.default_rng(32), 50)
    result = payload(report(model, test=other))
    assert result["quality"]["method"] == {"kind": "test", "tested": 50, "of": 50}
    assert len(result["pruning"]["validation"]) == len(result["pruning"]["leaves"])
    assert result["profile"]["rows"] == 50
    assert "learning" not in result


def test_progress_is_reported_by_parts() -> None:
    done: list[tuple[str, int, int]] = []
    report(fit(DATA, plans.id3()), DATA, folds=3, progress=lambda *part: done.append(part))
    assert ("cross-validating", 3, 3) in done
    assert done[-1][0] == "learning curve"
    assert done[-1][1] == done[-1][2]


def test_the_title_and_the_line_below_describe_the_report() -> None:
    result = payload(report(fit(DATA, plans.c45()), DATA, folds=0, curve=False))["about"]
    assert result["title"] == "Decision tree for y"
    assert result["subtitle"] == "C4.5 · gain ratio, pruned at confidence 25 %"
    own = payload(report(fit(DATA, plans.c45()), title="Mine", lang="de", folds=0))["about"]
    assert own["title"] == "Mine"
    weather = sample("play-tennis")
    assert (
        "trainiert mit sample:play-tennis" in payload(report(fit(weather, plans.id3()), lang="de"))["about"]["subtitle"]
    )
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    numbers = Dataset(schema, (np.arange(30.0),), 30, np.arange(30.0) ** 2)
    assert "variance" in payload(report(fit(numbers, plans.cart()), numbers, folds=0))["about"]["subtitle"]


def test_growth_in_another_order_is_reported() -> None:
    assert "growth" not in payload(report(fit(DATA, plans.id3())))
    limited = payload(report(fit(DATA, plans.id3(max_leaves=6))))
    assert sorted(limited["growth"]) == list(range(len(limited["tree"]["branches"])))


def test_the_first_view_fits_and_begins_with_the_root() -> None:
    tree = fit(random_cases(np.random.default_rng(33), 2_000), plans.cart()).tree
    assert tree.n_nodes > 200
    view = first_view(tree)["view"]
    assert view["open"][0] == 0
    assert max(view["x"]) + 70 <= FIRST_WIDTH
    assert 9 <= len(view["x"]) <= 60
    small = fit(sample("play-tennis"), plans.id3()).tree
    assert first_view(small)["view"]["open"] == [0, 1, 5]
    assert first_view(fit(DATA.take(slice(0, 1)), plans.id3()).tree)["view"] == {"open": [], "x": [70.0]}


def test_usual_values_are_medians_and_most_frequent_values() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("a", "b")), Column("e", Kind.NUMERIC)))
    data = Dataset(schema, (np.array([1.0, 5.0, np.nan]), np.array([1, 1, -1], dtype=np.int32), np.full(3, np.nan)), 3)
    assert typical_values(data, {0, 1, 2}) == {"0": 5, "1": 1, "2": None}
    assert typical_values(data.take([2]), {1}) == {"1": None}


def test_a_tree_of_depth_2_999_has_a_report() -> None:
    model = TreeModel(chain(2_999), plans.cart().to_dict())
    result = payload(report(model))
    assert result["about"]["depth"] == 2_999
    assert result["pruning"]["leaves"][-1] == 1


@pytest.mark.parametrize("folds", [1, -1, 2.5, True])
def test_wrong_folds_are_refused(folds: Any) -> None:
    with pytest.raises(ParameterError, match="folds must be 0 or a whole number of at least 2"):
        report(fit(DATA, plans.id3()), DATA, folds=folds)


def test_data_of_another_kind_are_refused() -> None:
    model: TreeModel = fit(DATA, plans.id3())
    with pytest.raises(ParameterError, match="the training data are not of the model's schema"):
        report(model, sample("play-tennis"))
    with pytest.raises(ParameterError, match="the test data"):
        report(model, DATA, test=replace(DATA, target=None))
    with pytest.raises(ParameterError, match="fr"):
        report(model, lang="fr")


def test_an_estimator_is_as_good_as_its_model() -> None:
    weather = sample("play-tennis")
    fitted = treewright.C45Classifier().fit(weather.X, weather.y)
    assert payload(report(fitted))["tree"] == payload(report(fitted.model_))["tree"]


def test_other_things_are_refused() -> None:
    with pytest.raises(ParameterError, match="of one tree or of rules, not str"):
        report("model.json")
    with pytest.raises(ParameterError, match=r"the training data must be a Dataset \(see treewright.read\), not dict"):
        report(fit(DATA, plans.id3()), {"x": [1]})  # type: ignore[arg-type]


def test_costs_and_smoothing_go_into_the_folds() -> None:
    costs = ((0.0, 5.0, 5.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))
    model = fit(DATA, plans.c45(), smoothing="laplace", costs=costs)
    result = payload(report(model, DATA, folds=3, curve=False))
    assert result["smoothing"] == "laplace"
    assert result["costs"] == [list(row) for row in costs]
