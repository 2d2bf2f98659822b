"""Cells of a notebook: at most 50 kB, no script, the first levels of what is large."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

import treewright
from drawn_trees import HOSTILE, chain, named_tree, regression, wide
from treewright.drawing.notebook import LARGEST, WIDEST, notebook_html, rules_table
from treewright.tree.formula import Condition
from treewright.tree.rules import Rule, RuleSet

WEATHER = treewright.sample("play-tennis")


class Cell(HTMLParser):
    """Reads a cell and checks that every element is closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "br":
            self.open.append(tag)
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def cell(thing: Any) -> Cell:
    html = thing._repr_html_()
    assert len(html.encode()) <= LARGEST
    read = Cell(html)
    assert not read.tags & {"script", "link", "img", "a"}
    return read


@pytest.mark.parametrize("part", ["model", "tree"])
def test_small_tree_is_shown_whole(part: str) -> None:
    model = treewright.fit(WEATHER, treewright.ID3())
    words = cell(model if part == "model" else model.tree).words
    assert {"Outlook", "Humidity", "Wind", "Overcast", "8 nodes, 5 leaves, depth 2."} <= set(words)
    assert not any("more nodes" in word for word in words)


@pytest.mark.parametrize(
    "tree", [chain(2999), wide(5000, 30), regression()[0], wide(8, 8)], ids=["deep", "wide", "numbers", "eight"]
)
def test_large_trees_show_the_first_levels(tree: Any) -> None:
    read = cell(tree)
    width = float(tree._repr_html_().split(' width="')[1].split('"')[0])
    assert width <= WIDEST
    assert any("more node" in word for word in read.words) == (tree.n_nodes > 10)


@pytest.mark.parametrize("name", [*HOSTILE, "&" * 5000, "<" * 200, "😀" * 4000])
def test_any_names_stay_small_and_inert(name: str) -> None:
    tree = named_tree(name)
    cell(tree)
    cell(tree.to_rules())


def test_rules_are_a_table() -> None:
    rules = treewright.fit(WEATHER, treewright.c45_rules())
    for thing in (rules, rules.rules):
        read = cell(thing)
        assert "Outlook = Sunny and Humidity = High" in read.words
        assert read.words[-2:] == ["Otherwise ", "Yes"]


def test_many_and_long_rules_are_counted_not_shown() -> None:
    rule = Rule((Condition.equals(0, 0),), 0, 2, 1, 0, 0.1)
    read = cell(RuleSet(WEATHER.schema, (rule,) * 1000, 0))
    assert "… 950 more rules" in read.words
    names = tuple(f"{'<' * 400}{index}" for index in range(60))
    tree = wide(60)
    schema = treewright.Schema(
        (treewright.Column("x", treewright.Kind.NOMINAL, names), tree.schema.target_column), target="y"
    )
    long = RuleSet(
        schema, tuple(Rule((Condition.one_of(0, range(index + 1)),), 0, 2, 1, 0, 0.9) for index in range(51)), 0
    )
    read = cell(long)
    assert any(word.startswith("… ") and word.endswith(" more rules") for word in read.words)
    assert any("(never fires)" in word for word in read.words)
    assert rules_table(long).count("<tr>") == 52


def test_rule_without_conditions_always_holds() -> None:
    assert "always" in cell(RuleSet(WEATHER.schema, (Rule((), 0, 1, 1, 0, 0.1),), 0)).words


@pytest.mark.parametrize(
    "name", ["ID3Classifier", "C45Classifier", "CARTClassifier", "C45RulesClassifier", "CHAIDClassifier"]
)
def test_fitted_estimator_shows_what_it_learned_and_its_parameters(name: str) -> None:
    estimator = getattr(treewright, name)()
    plain = estimator._repr_html_()
    assert "treewright-cell" not in plain
    estimator.fit(WEATHER.X, WEATHER.y)
    read = cell(estimator)
    assert any(word.startswith(f"{name}(") for word in read.words)
    assert set(estimator.get_params()) <= set(read.words)
    bundle = estimator._repr_mimebundle_()
    assert bundle["text/plain"] == repr(estimator)
    assert bundle["text/html"] == estimator._repr_html_()


def test_regressor_is_shown_too() -> None:
    regressor = treewright.CARTRegressor(max_depth=2).fit(
        [[float(x)] for x in range(20)], [float(x * x) for x in range(20)]
    )
    assert "CARTRegressor(max_depth=2)" in cell(regressor).words


def test_text_display_of_scikit_learn_is_honoured() -> None:
    from sklearn._config import config_context

    estimator = treewright.ID3Classifier().fit(WEATHER.X, WEATHER.y)
    with config_context(display="text"):
        assert not hasattr(estimator, "_repr_html_")
        assert set(estimator._repr_mimebundle_()) == {"text/plain"}


def test_pipeline_keeps_the_diagram_of_scikit_learn() -> None:
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(treewright.ID3Classifier()).fit(WEATHER.X, WEATHER.y)
    assert "sk-estimator" in pipeline._repr_html_()


def test_parameters_are_cut_and_inert() -> None:
    html = notebook_html(treewright.fit(WEATHER, treewright.ID3()), {"p": "<script>" + "x" * 9999})
    assert "<script>" not in html
    assert len(html) < 20_000


# -- results of evaluations ------------------------------------------------------------------------------------------


def hostile_table(rows: int = 60) -> treewright.Dataset:
    """Return cases whose classes have the worst names there are."""
    import numpy as np

    names = tuple(name for name in HOSTILE if name)
    columns = (treewright.Column("x", treewright.Kind.NUMERIC), treewright.Column("y", treewright.Kind.NOMINAL, names))
    schema = treewright.Schema(columns, target="y")
    codes = (np.arange(rows) % len(names)).astype(np.int32)
    return treewright.Dataset(schema, (np.arange(float(rows)),), rows, codes)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["report", "estimate", "comparison", "ranks", "learning", "complexity", "tuned"])
def test_results_of_evaluations_are_small_and_inert(name: str) -> None:
    data = hostile_table()
    make: dict[str, Any] = {
        "report": lambda: treewright.evaluate_model(treewright.fit(data, treewright.ID3()), data),
        "estimate": lambda: treewright.estimate(data, "id3", n_jobs=1),
        "comparison": lambda: treewright.compare(data, {"<b>": treewright.ID3(), "c": treewright.CART()}, n_jobs=1),
        "ranks": lambda: treewright.compare_over({"<t>": {"<b>": 1.0, "c": 0.5}, "u": {"<b>": 1.0, "c": 0.7}}),
        "learning": lambda: treewright.learning_curve(data, "id3"),
        "complexity": lambda: treewright.complexity_curve(data, "cart"),
        "tuned": lambda: treewright.tune(data, "id3", inner=2, outer=2),
    }
    assert cell(make[name]()).words
