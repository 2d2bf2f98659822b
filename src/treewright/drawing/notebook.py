"""HTML of trees and rules: for notebooks, and a page with one tree.

The page has the drawing and the same tree as text. The output of a notebook cell needs no scripts, shows the first
levels, and has at most `LARGEST` bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.drawing.draw import tree_of
from treewright.drawing.layout import lay_out
from treewright.drawing.markup import xml_text
from treewright.drawing.svg import svg_text
from treewright.export.view_model import visible_tree
from treewright.tree.rules import Rule, RuleModel, RuleSet
from treewright.tree.text import tree_text
from treewright.tree.tree import Tree
from treewright.wording import printable

TEXT_NODES = 500
"""Nodes of the text; of a larger tree only the first levels are shown."""

_STYLE = """\
:root{color-scheme:light dark}
body{margin:2rem;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;\
background:#fff;color:#1b1f24}
main{overflow-x:auto}
table{border-collapse:collapse}
th,td{padding:.2rem .6rem;border-bottom:1px solid #8a8f9855;text-align:right}
pre{overflow-x:auto;font:13px/1.35 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){body{background:#15181d;color:#eceff3}}
@media print{body{margin:0}details{display:none}}
"""


def tree_page(tree: Tree, svg: str, title: str | None = None) -> str:
    """Return a page with a drawing and, folded, the text of a tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> tree_page(fit(sample("play-tennis"), ID3()).tree, "<svg></svg>").splitlines()[0]
    '<!doctype html>'
    """
    size = f"{tree.n_nodes:,} nodes, {tree.n_leaves:,} leaves, depth {tree.depth}."
    levels = np.bincount(tree.depths).cumsum()
    text = tree_text(tree, max_depth=max(1, int(np.count_nonzero(levels <= TEXT_NODES)) - 1))
    body = f"{svg}<p>{size}</p>\n<details><summary>The tree as text</summary>\n<pre>{xml_text(text)}</pre></details>"
    return page(title or f"Decision tree for {tree.schema.target or 'the target'}", body)


def page(title: str, body: str) -> str:
    """Return a self-contained page without script or link; `body` is HTML."""
    name = xml_text(printable(title, 200))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{name}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


LARGEST = 50_000
"""Most bytes of a cell."""

LARGEST_BODY = 40_000
"""Most bytes of the drawing or the table in a cell."""

WIDEST = 1200.0
"""Greatest width of a drawing; a wider one shows fewer nodes."""

_STEPS = (30, 22, 16, 12, 8, 5, 1)
"""Numbers of boxes to try until width and size fit."""

SHOWN_RULES = 50
LONGEST_RULE = 500
LONGEST_TITLE = 300


def notebook_html(thing: Any, parameters: Mapping[str, Any] | None = None) -> str:
    """Return the HTML that a notebook shows for a tree, rules, a model, or an estimator with its parameters.

    Examples
    --------
    >>> import treewright
    >>> cell = notebook_html(treewright.fit(treewright.sample("play-tennis"), treewright.ID3()))
    >>> cell[:5], "8 nodes, 5 leaves, depth 2." in cell, len(cell) < LARGEST
    ('<div ', True, True)
    """
    rules = thing.rules if isinstance(thing, RuleModel) else getattr(thing, "rules_", thing)
    body = rules_table(rules, SHOWN_RULES, LARGEST_BODY) if isinstance(rules, RuleSet) else _tree_cell(tree_of(thing))
    header = "" if parameters is None else _parameters(repr(thing), parameters)
    return f'<div class="treewright-cell">{header}{body}</div>'


def _tree_cell(tree: Tree) -> str:
    svg = ""
    for most in _STEPS:
        layout = lay_out(visible_tree(tree, max_nodes=most, max_branches=8))
        svg = svg_text(layout, longest_title=LONGEST_TITLE)
        if layout.width <= WIDEST and len(svg.encode()) <= LARGEST_BODY:
            break
    size = f"{tree.n_nodes:,} nodes, {tree.n_leaves:,} leaves, depth {tree.depth}."
    return f'<div style="overflow-x:auto">{svg}</div><p>{size}</p>'


def rules_table(rules: RuleSet, most: int | None = None, max_bytes: float = math.inf) -> str:
    """Return rules as a table, at most so many rows and bytes; the number of the others is given."""
    head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in ("", "if", "then"))
    head += "".join(f'<th scope="col">{name}</th>' for name in ("covers", "used", "wrong", "accuracy"))
    rows, used = [], 0
    for number, rule in enumerate(rules.rules[:most], start=1):
        row = _rule_row(rules, rule, number)
        used += len(row.encode())
        if used > max_bytes:
            break
        rows.append(row)
    left = len(rules) - len(rows)
    more = f"<p>… {left:,} more rule{'' if left == 1 else 's'}</p>" if left else ""
    default_class = xml_text(printable(rules.schema.classes[rules.default], LONGEST_TITLE))
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"{body}{more}<p>Otherwise <strong>{default_class}</strong></p>"


def _rule_row(rules: RuleSet, rule: Rule, number: int) -> str:
    words = " and ".join(condition.describe(rules.schema) for condition in rule.conditions) or "always"
    then = printable(rules.schema.classes[rule.outcome], LONGEST_TITLE)
    silent = "" if rules.fires(rule) else " (never fires)"
    cells = f"<td>{rule.covers:,}</td><td>{rule.used:,}</td><td>{rule.wrong:,}</td><td>{100 * rule.accuracy:.1f} %</td>"
    text = f'<td style="text-align:left">{xml_text(words, LONGEST_RULE)}{silent}</td>'
    outcome = f'<td style="text-align:left"><strong>{xml_text(then)}</strong></td>'
    return f'<tr><th scope="row">{number}</th>{text}{outcome}{cells}</tr>'


def _parameters(text: str, parameters: Mapping[str, Any]) -> str:
    """Return the parameters of an estimator, folded below a summary line."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{xml_text(key)}</th>'
        f'<td style="text-align:left">{xml_text(printable(repr(value), 200))}</td></tr>'
        for key, value in parameters.items()
    )
    summary = xml_text(printable(" ".join(text.split()), 300))
    return f"<details><summary><strong>{summary}</strong></summary><table>{rows}</table></details>"
