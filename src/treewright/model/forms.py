"""The forms in which a tree is handed on, as methods of whatever holds one.

The drawings are made by a higher room, see `treewright._base.higher_room`; here are the names and what they take.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from treewright._base.higher_room import made

if TYPE_CHECKING:
    from treewright.model.ruleset import RuleSet

SHOWN_NODES = 120
"""Boxes of a drawing, if nobody says otherwise."""


class InNotebook:
    """What shows itself in a notebook: small, readable without scripts."""

    def _repr_html_(self) -> str:
        return cast(str, made("notebook_html", self))


class TreeForms:
    """Base of what holds one tree: its text, its drawings, its rules.

    Large trees are drawn from the top, the heaviest nodes first, until `max_nodes` boxes are there (None draws all);
    what is hidden is counted. `node` begins at another node than the root, `max_depth` bounds the levels below it.
    With `data`, the nodes that cut a number show the cases as a histogram with the cut; the data are a `Dataset`, a
    dataframe or a mapping with the target, or the attributes alone with their target as `y`.
    """

    def to_text(self, *, max_depth: int | None = None, width: int = 100, numbers: bool = False, node: int = 0) -> str:
        """Return the tree, or the part below a node, as lines of text, on request with the numbers of its nodes."""
        return cast(str, made("to_text", self, max_depth=max_depth, width=width, numbers=numbers, node=node))

    def to_svg(
        self,
        *,
        max_nodes: int | None = SHOWN_NODES,
        max_depth: int | None = None,
        node: int = 0,
        data: Any = None,
        y: Any = None,
        title: str | None = None,
    ) -> str:
        """Return a drawing as the text of an SVG file.

        Examples
        --------
        >>> import treewright
        >>> treewright.fit(treewright.sample("play-tennis"), treewright.ID3()).to_svg()[:4]
        '<svg'
        """
        options = {"max_nodes": max_nodes, "max_depth": max_depth, "node": node}
        return cast(str, made("to_svg", self, **options, data=data, y=y, title=title))

    def to_html(
        self,
        *,
        max_nodes: int | None = SHOWN_NODES,
        max_depth: int | None = None,
        node: int = 0,
        data: Any = None,
        y: Any = None,
        title: str | None = None,
    ) -> str:
        """Return a page with the drawing and the text of the tree, without script or link."""
        options = {"max_nodes": max_nodes, "max_depth": max_depth, "node": node}
        return cast(str, made("to_html", self, **options, data=data, y=y, title=title))

    def to_dot(self, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
        """Return a drawing for Graphviz."""
        return cast(str, made("to_dot", self, max_nodes=max_nodes, max_depth=max_depth, node=node))

    def to_mermaid(self, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
        """Return a Mermaid flowchart."""
        return cast(str, made("to_mermaid", self, max_nodes=max_nodes, max_depth=max_depth, node=node))

    def to_tikz(self, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
        """Return a picture for LaTeX with TikZ."""
        return cast(str, made("to_tikz", self, max_nodes=max_nodes, max_depth=max_depth, node=node))

    def to_json(self) -> str:
        """Return the whole tree as nested JSON (see `Tree.to_dict` for the shape)."""
        return cast(str, made("to_json", self))

    def to_rules(self) -> RuleSet:
        """Return one rule for each leaf that cases reached, with the counts of the training cases.

        Examples
        --------
        >>> import treewright
        >>> print(treewright.fit(treewright.sample("six-rows"), treewright.C45()).to_rules())
        1  IF x2 = 0 THEN A  [covers 2, used 2, wrong 0, estimated accuracy 100.0 %]
        2  IF x2 = 1 AND x3 = 0 THEN A  [covers 2, used 2, wrong 1, estimated accuracy 50.0 %]
        3  IF x2 = 1 AND x3 = 1 THEN A  [covers 2, used 2, wrong 1, estimated accuracy 50.0 %]
        DEFAULT A
        """
        return cast("RuleSet", made("to_rules", self))

    def draw(
        self,
        path: str | os.PathLike[str],
        *,
        max_nodes: int | None = SHOWN_NODES,
        max_depth: int | None = None,
        node: int = 0,
        data: Any = None,
        y: Any = None,
        title: str | None = None,
    ) -> None:
        """Write a drawing; the suffix says the form: svg, html, png, pdf, dot, mmd, tex or json.

        PNG and PDF are made by matplotlib (``pip install "treewright[plots]"``).
        """
        options = {"max_nodes": max_nodes, "max_depth": max_depth, "node": node}
        made("draw", self, path=path, **options, data=data, y=y, title=title)
