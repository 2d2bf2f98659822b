"""Trees and rules in notebooks, and a tree on a page of its own.

A page with one tree: the drawing, and the same as text for who cannot see it.

HTML of trees and rules for notebooks: small, readable without scripts, and limited to the first levels. The output of a
cell has at most `LARGEST` bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.drawing.draw import tree_of
from treewright.drawing.layout import place
from treewright.drawing.markup import xml_text
from treewright.drawing.svg import svg_text
from treewright.export.view_model import sketch_tree
from treewright.tree.rules import Rule, RuleModel, RuleSet
from treewright.tree.text import tree_text
from treewright.tree.tree import Tree
from treewright.wording import printable

TEXT_NODES = 500
"""Of a larger tree the text has the first levels; what is below is counted."""

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
    """Return a page that needs nothing else: no script, no link, nothing is loaded. The body is HTML already."""
    name = xml_text(printable(title, 200))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{name}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


LARGEST = 50_000
"""Bytes of a cell."""

ROOM = 40_000
"""Bytes of the picture or the table in it."""

WIDEST = 1200.0
"""A drawing wider than this shows fewer nodes."""

_STEPS = (30, 22, 16, 12, 8, 5, 1)
"""Boxes to try, until width and size fit."""

SHOWN_RULES = 50
LONGEST_RULE = 500
LONGEST_TITLE = 300


def notebook_html(thing: Any, parameters: Mapping[str, Any] | None = None) -> str:
    """Return what a notebook shows of a tree, rules, a model, or an estimator with its parameters.

    Examples
    --------
    >>> import treewright
    >>> cell = notebook_html(treewright.fit(treewright.sample("play-tennis"), treewright.ID3()))
    >>> cell[:5], "8 nodes, 5 leaves, depth 2." in cell, len(cell) < LARGEST
    ('<div ', True, True)
    """
    rules = thing.rules if isinstance(thing, RuleModel) else getattr(thing, "rules_", thing)
    body = rules_table(rules, SHOWN_RULES, ROOM) if isinstance(rules, RuleSet) else _tree_cell(tree_of(thing))
    told = "" if parameters is None else _parameters(repr(thing), parameters)
    return f'<div class="treewright-cell">{told}{body}</div>'


def _tree_cell(tree: Tree) -> str:
    svg = ""
    for most in _STEPS:
        placed = place(sketch_tree(tree, max_nodes=most, max_branches=8))
        svg = svg_text(placed, longest_title=LONGEST_TITLE)
        if placed.width <= WIDEST and len(svg.encode()) <= ROOM:
            break
    size = f"{tree.n_nodes:,} nodes, {tree.n_leaves:,} leaves, depth {tree.depth}."
    return f'<div style="overflow-x:auto">{svg}</div><p>{size}</p>'


def rules_table(rules: RuleSet, most: int | None = None, room: float = math.inf) -> str:
    """Return rules as a table: all of them, or as many as fit into so many rows and bytes; the others are counted."""
    head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in ("", "if", "then"))
    head += "".join(f'<th scope="col">{name}</th>' for name in ("covers", "used", "wrong", "accuracy"))
    rows, used = [], 0
    for number, rule in enumerate(rules.rules[:most], start=1):
        row = _rule_row(rules, rule, number)
        used += len(row.encode())
        if used > room:
            break
        rows.append(row)
    left = len(rules) - len(rows)
    more = f"<p>… {left:,} more rule{'' if left == 1 else 's'}</p>" if left else ""
    otherwise = xml_text(printable(rules.schema.classes[rules.default], LONGEST_TITLE))
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"{body}{more}<p>Otherwise <strong>{otherwise}</strong></p>"


def _rule_row(rules: RuleSet, rule: Rule, number: int) -> str:
    words = " and ".join(condition.describe(rules.schema) for condition in rule.conditions) or "always"
    then = printable(rules.schema.classes[rule.outcome], LONGEST_TITLE)
    silent = "" if rules.fires(rule) else " (never fires)"
    cells = f"<td>{rule.covers:,}</td><td>{rule.used:,}</td><td>{rule.wrong:,}</td><td>{100 * rule.accuracy:.1f} %</td>"
    text = f'<td style="text-align:left">{xml_text(words, LONGEST_RULE)}{silent}</td>'
    said = f'<td style="text-align:left"><strong>{xml_text(then)}</strong></td>'
    return f'<tr><th scope="row">{number}</th>{text}{said}{cells}</tr>'


def _parameters(told: str, parameters: Mapping[str, Any]) -> str:
    """Return the parameters of an estimator, folded: the picture is what one wants to see."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{xml_text(key)}</th>'
        f'<td style="text-align:left">{xml_text(printable(repr(value), 200))}</td></tr>'
        for key, value in parameters.items()
    )
    summary = xml_text(printable(" ".join(told.split()), 300))
    return f"<details><summary><strong>{summary}</strong></summary><table>{rows}</table></details>"
