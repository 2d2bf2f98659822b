"""Drawings in a real browser: words keep to their boxes, dark is dark, and hostile names do nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from drawn_trees import HOSTILE, TENNIS, chain, named_tree, regression, wide
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog

NAMES = (
    *HOSTILE,
    "Wohngemeinschaftsgröße",
    "SEHR GROSS WWWW MMM",
    "m" * 40,
    "i" * 90,
    "天氣預報與濕度資料表格",
    "Ελληνικά ЩЩЩЩЩ",
)

OVERFLOWING = """() => {
  const found = [];
  const wider = (text, box) => text.width > 0 && (text.x < box.x - 1 || text.x + text.width > box.x + box.width + 1);
  for (const node of document.querySelectorAll('.tw-node')) {
    const box = node.querySelector('.tw-box').getBBox();
    for (const text of node.querySelectorAll('text')) {
      const ground = text.matches('.tw-branch') ? node.querySelector('.tw-page').getBBox() : box;
      if (wider(text.getBBox(), ground)) found.push(text.textContent);
    }
  }
  const page = document.querySelector('svg').viewBox.baseVal;
  for (const text of document.querySelectorAll('svg > text')) {
    if (wider(text.getBBox(), page)) found.push(text.textContent);
  }
  return found;
}"""


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Any:
    """Return a function that opens the page of a tree; nothing may be asked for, logged or run by it."""
    trouble: list[str] = []
    contexts: list[Any] = []

    def closed(dialog: Dialog) -> None:
        trouble.append(dialog.message)
        dialog.dismiss()

    def show(tree: Tree, scheme: Any = "light") -> Any:
        path = tmp_path / "tree.html"
        path.write_text(tree.to_html(), encoding="utf-8")
        context = browser.new_context(color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", closed)
        page.on("request", lambda requested: trouble.append(requested.url) if requested.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.mark.parametrize("name", NAMES)
def test_hostile_and_wide_names_are_inert_and_keep_to_their_boxes(opened: Callable[..., Any], name: str) -> None:
    page = opened(named_tree(name))
    assert page.evaluate(OVERFLOWING) == []
    assert page.locator(".tw-node").count() == 3
    assert page.locator("script, img").count() == 0


@pytest.mark.parametrize(
    "tree", [TENNIS, regression()[0], wide(30, 9), chain(40)], ids=["tennis", "numbers", "wide", "deep"]
)
def test_words_of_all_kinds_of_boxes_keep_to_them(opened: Callable[..., Any], tree: Tree) -> None:
    assert opened(tree).evaluate(OVERFLOWING) == []


def test_colours_follow_the_scheme_of_the_reader(opened: Callable[..., Any]) -> None:
    fill = "() => getComputedStyle(document.querySelector('.tw-page')).fill"
    assert opened(TENNIS, "light").evaluate(fill) == "rgb(255, 255, 255)"
    assert opened(TENNIS, "dark").evaluate(fill) == "rgb(21, 24, 29)"
