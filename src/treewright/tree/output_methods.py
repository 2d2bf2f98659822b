"""Methods of trees and models: text, drawings, rules and explanations.

The functions behind them are in packages above this one. Each method imports its function when it is called, and
`.importlinter` lists these imports.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treewright.tree.rules import RuleSet

SHOWN_NODES = 120
"""Default maximum number of nodes in a drawing."""


class InNotebook:
    """Mixin for a compact HTML display in notebooks, without scripts."""

    def _repr_html_(self) -> str:
        from treewright.drawing.notebook import notebook_html

        return notebook_html(self)


class TreeForms:
    """Mixin for objects that hold one tree: its text, its drawings, its rules.

    Large trees are drawn from the top, the heaviest nodes first, up to `max_nodes` nodes (None draws all); hidden nodes
    are counted. `node` starts the drawing at another node than the root, `max_depth` limits the levels below it. With
    `data`, nodes with a threshold show a histogram of their cases; the data is a `Dataset`, a dataframe or a mapping
    that includes the target, or the attributes alone with the target as `y`.
    """

    def to_text(self, *, max_depth: int | None = None, width: int = 100, numbers: bool = False, node: int = 0) -> str:
        """Return the tree, or the subtree at a node, as lines of text, optionally with node indices."""
        from treewright.drawing.draw import to_text

        return to_text(self, max_depth=max_depth, width=width, numbers=numbers, node=node)

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
        from treewright.drawing.draw import to_svg

        options: dict[str, Any] = {"max_nodes": max_nodes, "max_depth": max_depth, "node": node}
        return to_svg(self, **options, data=data, y=y, title=title)

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
        from treewright.drawing.draw import to_html

        options: dict[str, Any] = {"max_nodes": max_nodes, "max_depth": max_depth, "node": node}
        return to_html(self, **options, data=data, y=y, title=title)

    def to_dot(self, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
        """Return a drawing for Graphviz."""
        from treewright.drawing.draw import to_dot

        return to_dot(self, max_nodes=max_nodes, max_depth=max_depth, node=node)

    def to_mermaid(self, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
        """Return a Mermaid flowchart."""
        from treewright.drawing.draw import to_mermaid

        return to_mermaid(self, max_nodes=max_nodes, max_depth=max_depth, node=node)

    def to_tikz(self, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
        """Return a picture for LaTeX with TikZ."""
        from treewright.drawing.draw import to_tikz

        return to_tikz(self, max_nodes=max_nodes, max_depth=max_depth, node=node)

    def to_json(self) -> str:
        """Return the whole tree as nested JSON, in the format of `Tree.to_dict`."""
        from treewright.drawing.draw import to_json

        return to_json(self)

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
        from treewright.drawing.draw import to_rules

        return to_rules(self)

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
        from treewright.drawing.draw import draw

        options: dict[str, Any] = {"max_nodes": max_nodes, "max_depth": max_depth, "node": node}
        draw(self, path=path, **options, data=data, y=y, title=title)


class Explained:
    """Base class of objects that can explain themselves."""

    def explain(
        self,
        row: Any = None,
        *,
        node: int | None = None,
        pruning: bool = False,
        steps: bool = False,
        data: Any = None,
    ) -> Any:
        """Explain the whole tree, one prediction, one node, its pruning, or the growth.

        The result has ``to_text(lang)``, ``to_markdown(lang)``, ``to_html(lang)`` and ``to_dict()``, and displays
        itself in a notebook. The explanation of a node has its frequency ``table``, the ``gains`` of all attributes,
        and the ``runner_up``.

        Parameters
        ----------
        row : dict of name to value, or a table with one row
            The case whose prediction is explained; attributes that a dict does not name are missing.
        node : int or None
            The node to explain; the root is 0.
        pruning : bool
            Explain what pruning compared at the node (at the root, if none is named).
        steps : bool
            Explain the growth step by step.
        data : Dataset or None
            The training data, for details that the model does not store.

        Examples
        --------
        >>> import treewright
        >>> model = treewright.fit(treewright.sample("play-tennis"), treewright.ID3())
        >>> model.explain(node=0).runner_up
        'Humidity'
        >>> print(model.explain({"Outlook": "Overcast"}).to_text("de").splitlines()[0])
        Vorhersage: PlayTennis = Yes
        """
        from treewright.explain.ask import explain

        return explain(self, row=row, node=node, pruning=pruning, steps=steps, data=data)
