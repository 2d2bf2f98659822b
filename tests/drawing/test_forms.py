"""Whatever holds a tree has all its forms, by method, by function, and as a file."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import treewright
from drawn_trees import HOSTILE, chain, named_tree, numbers, regression
from treewright.drawing.draw import FORMS, SUFFIXES, draw, form_of, tree_of, written
from treewright.errors import ParameterError

WEATHER = treewright.sample("play-tennis")
MODEL = treewright.fit(WEATHER, treewright.ID3())
ESTIMATOR = treewright.ID3Classifier().fit(WEATHER.X, WEATHER.y)
TEXTS = ("to_text", "to_svg", "to_html", "to_dot", "to_mermaid", "to_tikz", "to_json")


@pytest.mark.parametrize("name", TEXTS)
def test_tree_model_and_function_agree(name: str) -> None:
    expected = getattr(treewright, name)(MODEL)
    assert getattr(MODEL, name)() == expected
    assert getattr(MODEL.tree, name)() == expected
    assert isinstance(expected, str)
    drawn = getattr(ESTIMATOR, name)()
    assert drawn.replace("y:", "PlayTennis:").count("Outlook") == expected.count("Outlook")


def test_rules_are_the_paths() -> None:
    assert len(ESTIMATOR.to_rules()) == 5
    assert str(MODEL.to_rules()) == str(treewright.to_rules(MODEL.tree))


@pytest.mark.parametrize("options", [{"max_depth": 1}, {"node": 5}, {"max_nodes": 4}])
@pytest.mark.parametrize("name", ["to_svg", "to_html", "to_dot", "to_mermaid", "to_tikz"])
def test_part_of_a_tree_is_shorter(name: str, options: dict[str, Any]) -> None:
    assert len(getattr(MODEL, name)(**options)) < len(getattr(MODEL, name)())


def test_data_make_histograms() -> None:
    data = numbers()
    model = treewright.fit(data, treewright.CART())
    assert "tw-cut" not in model.to_svg().split("</style>")[1]
    for drawn in (model.to_svg(data=data), model.to_svg(data=data.X, y=data.y), model.to_html(data=data.to_pandas())):
        assert drawn.split("</style>")[-1].count('"tw-cut"') == model.tree.n_nodes - model.tree.n_leaves


def test_title_is_shown() -> None:
    assert ">A &lt;fine&gt; day</text>" in MODEL.to_svg(title="A <fine> day")
    assert "<title>A &lt;fine&gt; day</title>" in MODEL.to_html(title="A <fine> day")
    assert "8 nodes, depth" not in MODEL.to_svg(title="")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_suffix_sets_the_form(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tree{suffix.upper()}"
    MODEL.draw(path)
    content = path.read_bytes()
    starts = {
        "text": b"Outlook\n", "svg": b"<svg", "html": b"<!doctype html>", "png": b"\x89PNG", "pdf": b"%PDF",
        "dot": b"digraph", "mermaid": b"flowchart", "tikz": b"% Needs", "json": b"{",
    }  # fmt: skip
    assert content.startswith(starts[SUFFIXES[suffix]])
    if SUFFIXES[suffix] not in ("png", "pdf"):
        assert content.endswith(b"\n")
        assert content.decode() == written(MODEL, SUFFIXES[suffix])


def test_json_is_the_nested_tree(tmp_path: Path) -> None:
    draw(MODEL, tmp_path / "tree.json")
    assert json.loads((tmp_path / "tree.json").read_text()) == MODEL.tree.to_dict()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: form_of("tree.docx"), r"'.docx' is not a known format; use one of .txt, .svg"),
        (lambda: form_of("tree"), "^a name without suffix is not a known format"),
        (lambda: form_of("tree", "sgv"), "there is no form 'sgv'; did you mean 'svg'"),
        (lambda: written(MODEL, "png"), "png is not a text format"),
        (lambda: written(MODEL, "json", max_depth=2), "the form json has no max_depth"),
        (lambda: written(MODEL, "dot", data=WEATHER), "the form dot has no data"),
        (lambda: draw(MODEL, "tree.png", max_node=3), "there is no option 'max_node'; did you mean 'max_nodes'"),
        (lambda: MODEL.to_svg(y=[1]), "y needs data"),
        (lambda: MODEL.to_dot(node=99), "there is no node 99"),
        (lambda: tree_of(WEATHER), "not a Dataset"),
        (lambda: treewright.to_rules(regression()[0]), "rules predict classes"),
    ],
)
def test_impossible_wishes_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()


def test_unfitted_estimator_is_reported() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        treewright.ID3Classifier().to_svg()


def test_failed_drawing_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        draw(chain(400), tmp_path / "tree.pdf", max_nodes=None)
    assert list(tmp_path.iterdir()) == []


def test_part_of_a_text_begins_at_its_node() -> None:
    assert MODEL.to_text(node=5) == "Wind\n├─ Weak    Yes  3\n└─ Strong  No   2"
    assert MODEL.to_text(node=5, max_depth=0) == "Yes … 2 more nodes  5/2"


class Page(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", HOSTILE)
def test_page_has_no_script_no_link_and_nothing_is_loaded(name: str) -> None:
    page = Page()
    page.feed(named_tree(name).to_html())
    tags = {tag for tag, _ in page.found}
    assert not tags & {"script", "link", "img", "iframe", "a", "object"}
    names = {attribute for _, attributes in page.found for attribute in attributes}
    assert not any(attribute.startswith("on") or attribute in ("src", "href") for attribute in names)
    assert (
        "meta",
        {"http-equiv": "Content-Security-Policy", "content": "default-src 'none'; style-src 'unsafe-inline'"},
    ) in page.found


def test_page_of_a_large_tree_has_the_first_levels_as_text() -> None:
    page = treewright.to_html(chain(2000))
    assert "more nodes" in page.split("<pre>")[1]
    assert len(page) < 200_000


def test_names_of_forms_on_the_command_line_are_all_forms() -> None:
    from treewright.cli import show

    assert set(show.FORMS) == set(FORMS)
