"""Output formats of a tree, as methods of the objects that hold one.

A higher layer implements them; this module has the names and parameters.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from treewright._base.higher_room import made

if TYPE_CHECKING:
    from treewright.model.ruleset import RuleSet

SHOWN_NODES = 120
"""Default maximum number of nodes in a drawing."""


class InNotebook:
    """Mixin for a compact HTML display in notebooks, without scripts."""

    def _repr_html_(self) -> str:
        return cast(str, made("notebook_html", self))


class TreeForms:
    """Mixin for objects that hold one tree: its text, its drawings, its rules.

    Large trees are drawn from the top, the heaviest nodes first, up to `max_nodes` nodes (None draws all); hidden nodes
    are counted. `node` starts the drawing at another node than the root, `max_depth` limits the levels below it. With
    `data`, nodes with a threshold show a histogram of their cases; the data is a `Dataset`, a dataframe or a mapping
    that includes the target, or the attributes alone with the target as `y`.
    """

    def to_text(self, *, max_depth: int | None = None, width: int = 100, numbers: bool = False, node: int = 0) -> str:
        """Return the tree, or the subtree at a node, as lines of text, optionally with node indices."""
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
        """Return an HTML page with the drawing and the text of the tree, without scripts or links."""
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
        """Return the whole tree as nested JSON, in the format of `Tree.to_dict`."""
        return cast(str, made("to_json", self))

    def to_rules(self) -> RuleSet:
        """Return one rule per leaf that training cases reached, with their counts.

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
        """Write a drawing; the file suffix selects the format: svg, html, png, pdf, dot, mmd, tex or json.

        PNG and PDF need matplotlib (``pip install "treewright[plots]"``).
        """
        options = {"max_nodes": max_nodes, "max_depth": max_depth, "node": node}
        made("draw", self, path=path, **options, data=data, y=y, title=title)
