"""A page with one tree: the drawing, and the same as text for who cannot see it."""

from __future__ import annotations

import numpy as np

from treewright._base.printable import printable
from treewright.model.text import tree_text
from treewright.model.tree import Tree
from treewright.show.markup import xml_text

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
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
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
