"""Documents in their forms: names from the data stay inert and legible in all of them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.document import (
    LARGEST_FRAGMENT,
    Derivation,
    Explanation,
    Heading,
    Items,
    MathFormula,
    Paragraph,
    TableBlock,
    Verbatim,
    aligned,
    html_of,
    latex_name,
    markdown_of,
    name,
    plain_data,
    text_of,
    width,
)
from treewright.explain.language import LANGUAGES, words
from treewright.fitting.learn import fit
from treewright.plans import c45, id3
from treewright.tree.model import TreeModel

HOSTILE = [
    "</script><script>alert(1)</script>",
    "\"quoted\" 'twice' `code`",
    "emoji 🌳 and *stars* _lines_ [link](javascript:x) | bar",
    "two\nlines\r\tand\x1b[31mred\x00",
    "\u05e9\u05dc\u05d5\u05dd \u202e turned",
    r"\input{secret} $x$ %a #b &c ~d ^e {f}",
    "<img src=x onerror=alert(1)>",
]


class Tags(HTMLParser):
    """Collects the tags and attributes of a fragment."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {key for key, _ in attrs}
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_model(text: str) -> tuple[TreeModel, Dataset]:
    values = ("x", text + " v")
    columns = (Column(text, Kind.NOMINAL, values), Column("n", Kind.NUMERIC))
    schema = Schema((*columns, Column(text + " t", Kind.NOMINAL, ("A", text + " c"))), target=text + " t")
    codes = np.array([0, 0, 1, 1, 0, 1], dtype=np.int32)
    numbers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    data = Dataset(schema, (codes, numbers), 6, codes)
    return fit(data, c45(min_objects=1)), data


def all_of(model: TreeModel, data: Dataset) -> list[Explanation]:
    return [
        model.explain(),
        model.explain(node=0),
        model.explain(node=0, pruning=True, data=data),
        model.explain(steps=True, data=data),
        model.explain({"n": 1.0}),
        model.explain(data.take([0])),
    ]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_hostile_names_are_inert_in_every_form(text: str, lang: str) -> None:
    for explanation in all_of(*hostile_model(text)):
        plain = explanation.to_text(lang)
        assert not set(plain) & set("\x1b\x00\r\u202e")
        html = explanation.to_html(lang)
        parser = Tags()
        parser.feed(html)
        assert parser.open == []
        allowed = {"section", "h4", "h5", "p", "code", "br", "table", "thead", "tbody", "tr", "th", "td"}
        assert set(parser.tags) <= allowed | {"ul", "ol", "li", "pre"}
        assert parser.attributes <= {"class", "lang", "dir", "scope", "style"}
        markdown = re.sub(r"^(`{3,})\n.*?^\1$", "", explanation.to_markdown(lang), flags=re.DOTALL | re.MULTILINE)
        assert "<" not in markdown.replace("\\<", "")
        assert "](" not in markdown.replace("\\]", "").replace("\\(", "")
        json.dumps(explanation.to_dict(), allow_nan=False)


@pytest.mark.parametrize("text", [HOSTILE[0], HOSTILE[2], HOSTILE[6]])
def test_hostile_names_are_legible_in_html(text: str) -> None:
    model, _ = hostile_model(text)
    parser = Tags()
    parser.feed(model.explain(node=0).to_html())
    assert text in parser.text


def test_name_read_from_right_to_left_is_isolated() -> None:
    assert name("\u05d0\u05d1") == "\u2068\u05d0\u05d1\u2069"
    assert name("abc") == "abc"
    assert aligned([[name("\u05d0\u05d1"), "1"], ["abc", "2"]])[0].endswith("  1")


def test_width_counts_columns_of_a_terminal() -> None:
    assert [width(text) for text in ("abc", "屬性", "\u2068\u05d0\u2069", "é", "🌳")] == [3, 4, 1, 1, 2]


@pytest.mark.parametrize("text", [r"\input{x}", "a_b", "$1$", "50%", "x^2", "a<b>c", "`"])
def test_latex_of_a_name_has_no_command_of_its_own(text: str) -> None:
    latex = latex_name(text)
    assert "\\input" not in latex
    assert "<" not in latex
    assert latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")


def test_empty_name_is_latex_too() -> None:
    assert latex_name("") == r"\text{}"


def test_blocks_in_every_form() -> None:
    document = (
        Heading("A title"),
        Paragraph("words"),
        Derivation(((MathFormula("a = 1/2", r"a = \frac{1}{2}"), ", behind"), (MathFormula("b", "b"), ""))),
        TableBlock(("head", "n"), (("x", "1"), ("y", "2")), marked=frozenset({1}), more="... more"),
        Items(("one", "two")),
        Items(("first",), numbered=True),
        Verbatim("a\n b"),
    )
    assert text_of(document, lambda text: f"!{text}!").split("\n\n") == [
        "!A title!",
        "words",
        "a = 1/2, behind\nb",
        "head  n\nx     1\n!y     2!\n... more",
        "- one\n- two",
        "1. first",
        "a\n b",
    ]
    markdown = markdown_of(document)
    assert "## A title" in markdown
    assert "$$ a = \\frac{1}{2} $$\n\nbehind" in markdown
    assert "| **y** | 2 |" in markdown
    assert "- one\n- two\n\n1. first\n\n```\na\n b\n```" in markdown
    html = html_of(document, words("zh"))
    assert 'lang="zh-Hant"' in html
    assert '<tr class="chosen"><th scope="row" style="text-align:left;padding:0 .5em">y</th>' in html
    assert "<ul><li>one</li><li>two</li></ul>" in html
    assert "<ol><li>first</li></ol>" in html
    assert "<pre>a\n b</pre>" in html


def test_fragment_for_a_notebook_stays_small_and_reports_what_is_left_out() -> None:
    n = 400
    columns = [Column(f"attribute {index}", Kind.NOMINAL, ("a", "b", "c")) for index in range(n)]
    schema = Schema((*columns, Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    rng = np.random.default_rng(0)
    cells = tuple(rng.integers(0, 3, 30).astype(np.int32) for _ in range(n))
    result = fit(Dataset(schema, cells, 30, (np.arange(30) % 2).astype(np.int32)), id3()).explain(node=0)
    small = result._repr_html_()
    assert len(result.to_html().encode()) > LARGEST_FRAGMENT >= len(small.encode())
    assert "Some of this explanation is omitted here" in small
    assert small.endswith("</section>")


def test_explanation_prints_itself() -> None:
    root = fit(sample("six-rows"), id3()).explain(node=0)
    assert str(root) == root.to_text()
    assert root._repr_html_().startswith('<section class="treewright-explanation" lang="en"')


def test_plain_data_has_no_number_that_json_does_not_know() -> None:
    assert plain_data((1.0, float("nan"), [float("inf")], {"a": (2,)})) == [1.0, None, [None], {"a": [2]}]
