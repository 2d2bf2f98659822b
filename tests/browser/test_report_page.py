"""The report in a real browser, opened from a file: what a person sees, clicks and types."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.language import words
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.html_report.make import report
from treewright.tree.model import TreeModel

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]
Keep = Callable[["Page", str], Path]


def credit(n: int = 400, seed: int = 3) -> Dataset:
    """Return cases of two classes with numbers, words and missing values."""
    rng = np.random.default_rng(seed)
    schema = Schema(
        (
            Column("income", Kind.NUMERIC),
            Column("housing", Kind.NOMINAL, ("own", "rent", "free")),
            Column("age", Kind.NUMERIC),
            Column("purpose", Kind.NOMINAL, ("car", "tv", "study", "repairs")),
            Column("good", Kind.NOMINAL, ("no", "yes")),
        ),
        target="good",
    )
    income = rng.gamma(4, 10, n).round(1)
    housing = rng.integers(0, 3, n).astype(np.int32)
    age = rng.integers(19, 75, n).astype(np.float64)
    purpose = rng.integers(0, 4, n).astype(np.int32)
    score = 1.0 * (income > 35) + 1.0 * (housing == 0) + 1.0 * (age > 40) + rng.normal(0, 0.5, n)
    income[rng.random(n) < 0.08] = np.nan
    purpose[rng.random(n) < 0.05] = -1
    return Dataset(schema, (income, housing, age, purpose), n, (score > 1.5).astype(np.int32), source="credit.csv")


@pytest.fixture(scope="module")
def tennis(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TreeModel]:
    weather = sample("play-tennis")
    model = fit(weather, plans.c45())
    path = tmp_path_factory.mktemp("report") / "tennis.html"
    report(model, weather).save(path)
    return path, model


@pytest.fixture(scope="module")
def credit_page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TreeModel]:
    data = credit()
    model = fit(data, plans.c45(prune=False))
    path = tmp_path_factory.mktemp("report") / "credit.html"
    report(model, data, plan=plans.c45(prune=False), folds=5).save(path)
    return path, model


def text(page: Page, selector: str) -> str:
    return page.inner_text(selector).strip()


def test_a_clicked_node_shows_the_same_gains_as_explain(open_page: Open, tennis: tuple[Path, TreeModel]) -> None:
    path, model = tennis
    page = open_page(path)
    for node in (0, 1, 5):
        page.click(f"#node-{node} .frame")
        result = explain_node(model, node)
        rows = page.locator("#node-panel table.compared tbody tr")
        assert rows.count() == len(result.attributes)
        for index, one in enumerate(result.attributes):
            cells = rows.nth(index).locator("th, td").all_inner_texts()
            assert cells[0].startswith(one.name)
            assert words("en")(f"status.{one.verdict_code}") in cells[0] or one.verdict.name == "CONSIDERED"
            if one.decrease is not None:
                wanted = [one.decrease, one.split_information, one.ratio, one.gini_decrease]
                assert cells[1:5] == ["–" if value is None else f"{value:.3f}" for value in wanted]
    page.click("#node-0 .frame")
    panel = text(page, "#node-panel")
    assert "H(PlayTennis) = − 9/14 log₂ 9/14 − 5/14 log₂ 5/14 = 0.940" in panel
    assert "remainder = 5/14 · 0.971 + 4/14 · 0.000 + 5/14 · 0.971 = 0.694" in panel
    assert "gain = 0.940 − 0.694 = 0.247" in panel
    assert "ratio = 0.247 / 1.577 = 0.156" in panel
    assert "0.119" in panel  # the average gain that the others did not reach
    assert "5.392" in panel  # the pruning decision


def test_a_leaf_explains_why_it_is_one(open_page: Open, tennis: tuple[Path, TreeModel]) -> None:
    page = open_page(tennis[0])
    page.click("#node-4 .frame")
    assert "Overcast" in text(page, "#node-panel .path")
    assert "Why this is a leaf: pure" in text(page, "#node-panel")


def test_the_slider_prunes_the_tree_and_moves_the_errors(open_page: Open, credit_page: tuple[Path, TreeModel]) -> None:
    path, model = credit_page
    page = open_page(path)
    before = page.locator("#tree-drawing .node").count()
    assert text(page, "#prune-leaves") == str(model.tree.n_leaves)
    training = text(page, "#prune-training")
    seen = [int(text(page, "#prune-leaves"))]
    page.focus("#prune-range")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        seen.append(int(text(page, "#prune-leaves")))
    assert seen == sorted(set(seen), reverse=True)
    page.keyboard.press("End")
    assert text(page, "#prune-leaves") == "1"
    assert text(page, "#prune-training") != training
    assert text(page, "#prune-validation") != "–"
    assert page.locator("#tree-drawing .node").count() == 1
    page.click("#prune-best")
    best = int(text(page, "#prune-leaves"))
    assert 1 < best < model.tree.n_leaves
    page.click("#prune-reset")
    assert text(page, "#prune-leaves") == str(model.tree.n_leaves)
    assert page.locator("#tree-drawing .node").count() == before


def test_growth_is_played_forward_and_back(open_page: Open, tennis: tuple[Path, TreeModel]) -> None:
    page = open_page(tennis[0])
    page.click("#step-first")
    assert page.locator("#tree-drawing .node").count() == 1
    assert page.locator("#node-0.waiting.turn").count() == 1
    page.click("#step-next")
    assert "Node 0 was split on Outlook" in text(page, "#step-text")
    assert page.locator("#tree-drawing .node").count() == 4
    assert page.locator(".node.waiting").count() == 3
    page.click("#step-next")
    assert page.locator("#tree-drawing .node").count() == 6
    page.click("#step-back")
    assert page.locator("#tree-drawing .node").count() == 4
    page.focus("#step-range")
    page.keyboard.press("End")
    assert "the tree is complete" in text(page, "#step-text")
    page.click("#step-end")
    assert page.locator("#tree-drawing .node").count() == 8
    assert page.locator(".node.waiting").count() == 0
    page.click("#step-play")
    page.locator("#tree-drawing .node").nth(3).wait_for(timeout=20_000)
    page.click("#step-play")
    assert text(page, "#step-play") == "Play"


def test_search_finds_opens_and_shows(open_page: Open, credit_page: tuple[Path, TreeModel]) -> None:
    path, model = credit_page
    page = open_page(path)
    page.click("#close-all")
    assert page.locator("#tree-drawing .node").count() == 1
    page.keyboard.press("/")
    page.keyboard.type("purpose")
    tested = [node.index for node in model.tree if not node.is_leaf and node.attribute.name == "purpose"]
    assert text(page, "#tree-status") == f"{len(tested)} found"
    page.keyboard.press("Enter")
    assert page.locator(f"#node-{tested[0]}.current.found").count() == 1
    assert f"Node {tested[0]} " in text(page, "#node-panel")
    page.keyboard.press("Enter")
    assert text(page, "#tree-status") == f"2 of {len(tested)}"
    page.keyboard.press("Escape")
    assert page.locator(".node.found").count() == 0
    page.fill("#search", "#3")
    page.keyboard.press("Enter")
    assert "3 " in text(page, "#node-panel .eyebrow")


def test_the_keyboard_alone_goes_everywhere(open_page: Open, tennis: tuple[Path, TreeModel]) -> None:
    page = open_page(tennis[0])
    page.focus("#tree-drawing")

    def current() -> str:
        chosen = page.get_attribute("#tree-drawing", "aria-activedescendant")
        assert page.get_attribute(f"#{chosen}", "aria-selected") == "true"
        return str(chosen)

    assert current() == "node-0"
    page.keyboard.press("ArrowDown")
    assert current() == "node-1"
    page.keyboard.press("ArrowRight")
    assert current() == "node-4"
    page.keyboard.press("ArrowRight")
    assert current() == "node-5"
    page.keyboard.press("Enter")
    assert page.get_attribute("#node-5", "aria-expanded") == "false"
    assert page.locator("#node-6").count() == 0
    page.keyboard.press("Space")
    assert page.get_attribute("#node-5", "aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    assert current() == "node-6"
    assert page.get_attribute("#node-6", "aria-level") == "3"
    assert "Wind = Weak" in str(page.get_attribute("#node-6", "aria-label"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    assert current() == "node-0"
    page.keyboard.press("End")
    assert current() == "node-7"
    page.keyboard.press("ArrowLeft")
    assert current() == "node-6"
    scale = page.evaluate("document.querySelector('#tree-drawing > g').getAttribute('transform')")
    page.keyboard.press("+")
    assert page.evaluate("document.querySelector('#tree-drawing > g').getAttribute('transform')") != scale
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "tree-drawing"
    page.focus("#tab-node")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-whatif"
    assert page.is_visible("#whatif-form")


def test_the_tree_is_folded_moved_and_zoomed_by_pointer(open_page: Open, credit_page: tuple[Path, TreeModel]) -> None:
    page = open_page(credit_page[0])
    page.click("#close-all")
    page.click("#node-0 .more")
    assert page.locator("#tree-drawing .node").count() > 1
    page.dblclick("#node-0 .frame")
    assert page.locator("#tree-drawing .node").count() == 1
    page.click("#open-all")
    assert page.locator("#tree-drawing .node").count() > 50
    transform = "document.querySelector('#tree-drawing > g').getAttribute('transform')"
    before = page.evaluate(transform)
    box = page.locator("#tree-drawing").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 340, steps=4)
    page.mouse.up()
    moved = page.evaluate(transform)
    assert moved != before
    page.click("#zoom-in")
    assert page.evaluate(transform) != moved
    page.click("#zoom-fit")
    assert page.evaluate(transform) == before


def test_a_node_that_tests_a_number_shows_its_histogram(open_page: Open, credit_page: tuple[Path, TreeModel]) -> None:
    path, model = credit_page
    page = open_page(path)
    numeric = next(node.index for node in model.tree if not node.is_leaf and node.attribute.is_numeric)
    nominal = next(node.index for node in model.tree if not node.is_leaf and not node.attribute.is_numeric)
    page.fill("#search", f"#{numeric}")
    page.press("#search", "Enter")
    assert page.locator("#node-panel .plot rect").count() > 5
    assert page.locator("#node-panel .plot line").count() == 1
    page.fill("#search", f"#{nominal}")
    page.press("#search", "Enter")
    assert page.locator("#node-panel .plot").count() == 0


def test_what_if_routes_a_case_and_lights_its_path(open_page: Open, credit_page: tuple[Path, TreeModel]) -> None:
    path, model = credit_page
    page = open_page(path)
    page.click("#tab-whatif")
    names = model.schema.attribute_names
    cases: list[dict[str, Any]] = [
        {"income": 12.0, "housing": "rent", "age": 22.0, "purpose": "tv"},
        {"income": 80.0, "housing": "own", "age": 60.0, "purpose": "car"},
        {"income": None, "housing": "own", "age": 60.0, "purpose": None},
    ]
    for case in cases:
        for index, name in enumerate(names):
            field = page.locator(f"#case-{index}")
            if model.schema.attributes[index].is_numeric:
                field.fill("" if case[name] is None else str(case[name]))
            else:
                field.select_option(label="(missing)" if case[name] is None else case[name])
        [predicted] = model.predict({name: [value] for name, value in case.items()})
        assert text(page, "#whatif-prediction .prediction") == f"good: {predicted}"
        share = float(model.predict_proba({name: [value] for name, value in case.items()}).max())
        shown = float(text(page, "#whatif-prediction .bars li:first-child .num").removesuffix(" %").strip("<> "))
        assert shown == pytest.approx(100 * share, abs=0.06)
    assert page.locator("#tree-drawing .node.lit").count() > 1
    page.click("#tab-node")
    assert page.locator("#tree-drawing .node.lit").count() == 0


def test_the_threshold_moves_the_confusion_matrix(open_page: Open, credit_page: tuple[Path, TreeModel]) -> None:
    page = open_page(credit_page[0])
    before = page.locator("#roc-matrix .cell").all_inner_texts()
    page.focus("#roc-range")
    page.keyboard.press("Home")
    assert "never" in text(page, "#roc-threshold")
    cells = [int(cell.replace(",", "")) for cell in page.locator("#roc-matrix .cell").all_inner_texts()]
    assert cells[0] == cells[2] == 0
    assert sum(cells) == 400
    page.keyboard.press("End")
    cells = [int(cell.replace(",", "")) for cell in page.locator("#roc-matrix .cell").all_inner_texts()]
    assert cells[1] == cells[3] == 0
    chart = page.locator("#roc-chart svg").bounding_box()
    assert chart is not None
    page.mouse.click(chart["x"] + chart["width"] * 0.3, chart["y"] + chart["height"] * 0.3)
    assert page.locator("#roc-matrix .cell").all_inner_texts() != before
    assert "probability" in text(page, "#roc-threshold")


def test_dark_light_narrow_and_printed(
    open_page: Open, credit_page: tuple[Path, TreeModel], keep_picture: Keep
) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = open_page(credit_page[0], color_scheme="light")
    assert light.evaluate(ground) == "rgb(247, 247, 245)"
    keep_picture(light, "credit-light")
    light.click("#theme")
    assert light.evaluate(ground) == "rgb(20, 23, 27)"
    dark = open_page(credit_page[0], color_scheme="dark")
    assert dark.evaluate(ground) == "rgb(20, 23, 27)"
    assert text(dark, "#theme") == "Light"
    keep_picture(dark, "credit-dark")
    dark.emulate_media(media="print")
    assert dark.evaluate(ground) == "rgb(255, 255, 255)"
    assert not dark.is_visible("#theme")
    keep_picture(dark, "credit-print")
    narrow = open_page(credit_page[0], width=360, height=720)
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 360
    keep_picture(narrow, "credit-narrow")


def test_rules_are_listed_and_filtered(open_page: Open, credit_page: tuple[Path, TreeModel]) -> None:
    page = open_page(credit_page[0])
    first = page.locator("#rules-list li").first.inner_text()
    assert re.match(r"1\s+if ", first)
    shown = page.locator("#rules-list li").count()
    page.fill("#rules-search", "purpose = study")
    assert 0 < page.locator("#rules-list li").count() < shown


def test_hostile_names_are_inert_and_legible(open_page: Open, tmp_path: Path, keep_picture: Keep) -> None:
    script = "</script><script>alert(1)</script>"
    names = (script, "quotes \" and ' and `", "emoji 🌦️ sky", "two\nlines", "שלום עולם")
    values = ("<img src=x onerror=alert(2)>", "a\u2028b", "\u202eturned", "&lt;b&gt;", "{{word.tree}}")
    rng = np.random.default_rng(0)
    columns = tuple(Column(name, Kind.NOMINAL, values) for name in names)
    schema = Schema((*columns, Column("--><h1>t", Kind.NOMINAL, ("]]>yes", "<!--no"))), target="--><h1>t")
    cells = tuple(rng.integers(0, 5, 200).astype(np.int32) for _ in names)
    target = ((cells[0] + cells[3] + rng.integers(0, 2, 200)) % 2).astype(np.int32)
    data = Dataset(schema, cells, 200, target, source="<b>file</b>.csv")
    model = fit(data, plans.id3())
    path = tmp_path / "hostile.html"
    report(model, data, plan=plans.id3(), title="</title><script>alert(3)</script>", folds=3, curve=False).save(path)
    page = open_page(path)
    assert text(page, "h1") == "</title><script>alert(3)</script>"
    assert page.locator("img, h1 ~ script").count() == 0
    assert page.locator("script").count() == 2
    body = page.inner_text("body")
    for legible in (script, "quotes \" and ' and `", "emoji 🌦", "two\\nlines", "שלום עולם", "{{word.tree}}"):
        assert legible in body
    for node in range(0, model.tree.n_nodes, 7):
        page.evaluate("(text) => { const s = document.getElementById('search'); s.value = text; }", f"#{node}")
        page.locator("#search").dispatch_event("input")
        page.press("#search", "Enter")
        assert f" {node} ·" in text(page, "#node-panel .eyebrow")
    page.click("#tab-whatif")
    page.locator("#whatif-form select").first.select_option(index=3)
    keep_picture(page, "hostile")


@pytest.mark.parametrize("lang", ["de", "it", "zh"])
def test_other_languages_have_the_same_numbers(open_page: Open, tmp_path: Path, lang: str) -> None:
    weather = sample("play-tennis")
    path = tmp_path / f"{lang}.html"
    report(fit(weather, plans.id3()), weather, lang=lang, folds=0, curve=False).save(path)
    page = open_page(path)
    assert page.get_attribute("html", "lang") == {"zh": "zh-Hant"}.get(lang, lang)
    panel = text(page, "#node-panel")
    assert "0.247" in panel
    assert "0.940" in panel
    assert "Quality" not in page.inner_text("body")


def test_regression_shows_means_and_scatter(open_page: Open, tmp_path: Path, keep_picture: Keep) -> None:
    rng = np.random.default_rng(2)
    schema = Schema((Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("a", "b")), Column("y", Kind.NUMERIC)), "y")
    x, c = rng.random(150), rng.integers(0, 2, 150).astype(np.int32)
    data = Dataset(schema, (x, c), 150, 3 * x + 2 * c + rng.normal(0, 0.3, 150))
    model = fit(data, plans.cart())
    path = tmp_path / "regression.html"
    report(model, data, plan=plans.cart(), folds=3).save(path)
    page = open_page(path)
    assert "R²" in text(page, "#tiles")
    assert page.locator("#confusion svg circle").count() == 150
    assert not page.is_visible("#roc")
    page.click("#tab-whatif")
    page.fill("#case-0", "0.9")
    page.select_option("#case-1", label="b")
    [predicted] = model.predict({"x": [0.9], "c": ["b"]})
    assert float(text(page, "#whatif-prediction .prediction strong").replace("−", "-")) == pytest.approx(
        predicted, rel=1e-3
    )
    keep_picture(page, "regression")


def test_one_leaf_has_nothing_to_grow_or_prune(open_page: Open, tmp_path: Path) -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), "y")
    data = Dataset(schema, (np.zeros(20),), 20, np.array([0, 1] * 10, dtype=np.int32))
    path = tmp_path / "leaf.html"
    report(fit(data, plans.c45()), data, plan=plans.c45()).save(path)
    page = open_page(path)
    assert not page.is_visible("#prune-card")
    assert not page.is_visible("#step-card")
    assert page.locator("#tree-drawing .node").count() == 1


def test_rules_without_a_tree(open_page: Open, tmp_path: Path) -> None:
    restaurant = sample("restaurant")
    plan = plans.c45_rules()
    model = fit(restaurant, plan)
    path = tmp_path / "rules.html"
    report(model, restaurant, plan=plan, folds=3, curve=False).save(path)
    page = open_page(path)
    assert not page.is_visible("#tree")
    assert page.locator("#rules-list li").count() == len(model.rules) + 1
    patrons = restaurant.schema.attribute_names.index("Patrons")
    for value in ("None", "Some", "Full"):
        page.select_option(f"#case-{patrons}", label=value)
        case = {name: [restaurant.schema.column(name).values[0]] for name in restaurant.schema.attribute_names}
        [predicted] = model.predict(case | {"Patrons": [value]})
        assert text(page, "#whatif-prediction .prediction") == f"WillWait: {predicted}"
        assert page.locator("#rules-list li.fired").count() == 1


@pytest.mark.slow
def test_many_columns_and_many_classes(open_page: Open, tmp_path: Path, keep_picture: Keep) -> None:
    rng = np.random.default_rng(4)
    n = 600
    columns = [Column(f"column {index}", Kind.NUMERIC) for index in range(1_000)]
    classes = tuple(f"class {code}" for code in range(50))
    schema = Schema((*columns, Column("kind", Kind.NOMINAL, classes)), "kind")
    cells = [rng.integers(0, 9, n).astype(np.float64) for _ in columns]
    target = ((cells[0] + 9 * np.minimum(cells[1], 4)) % 50).astype(np.int32)
    data = Dataset(schema, tuple(cells), n, target)
    plan = plans.c45(max_depth=2)
    path = tmp_path / "wide.html"
    page_of = report(fit(data, plan), data, plan=plan, folds=0, curve=False)
    page_of.save(path)
    assert len(page_of.html.encode()) <= 2_000_000
    page = open_page(path)
    assert "more columns" in text(page, "#data-body > details > summary")
    keep_picture(page, "wide")
    page.click("#data-body > details > summary")
    page.locator("#data-body > details tbody tr").first.wait_for()  # browsers report opening a moment later
    assert page.locator("#data-body > details tbody tr").count() == 1_001 - 24
    assert page.locator("#roc-class option").count() > 40
    assert "other classes" in text(page, "#legend")


@pytest.mark.slow
def test_a_tree_of_20_000_nodes_opens_at_once(open_page: Open, tmp_path: Path, keep_picture: Keep) -> None:
    from browser.large_tree import NODES, large_data, large_model

    data = large_data()
    model = large_model(data)
    assert model.tree.n_nodes == NODES
    path = tmp_path / "large.html"
    report(model, data, curve=False).save(path)
    assert path.stat().st_size <= 2_000_000
    page = open_page(path)
    paints = json.loads(page.evaluate("JSON.stringify(performance.getEntriesByType('paint'))"))
    assert {entry["name"] for entry in paints} == {"first-paint", "first-contentful-paint"}
    assert max(entry["startTime"] for entry in paints) <= 1_500
    assert 3 < page.locator("#tree-drawing .node").count() < 100
    assert "sample of 30,000 of the 200,000 rows" in text(page, "#quality-method")
    page.click("#open-all")
    assert "nodes with the most cases, of 20,001," in text(page, "#tree-status")
    page.focus("#prune-range")
    page.keyboard.press("ArrowRight")
    assert int(text(page, "#prune-leaves").replace(",", "")) < model.tree.n_leaves
    page.fill("#search", "#20000")
    page.keyboard.press("Escape")
    page.click("#prune-reset")
    page.fill("#search", "#20000")
    page.press("#search", "Enter")
    assert "20000 ·" in text(page, "#node-panel .eyebrow")
    keep_picture(page, "large")
