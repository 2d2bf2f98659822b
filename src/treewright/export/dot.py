"""A tree for Graphviz: text in the DOT language.

Draw it with ``dot -Tsvg tree.dot -o tree.svg``. The width of an edge is proportional to its cases, leaves have the
colour of their class.
"""

from __future__ import annotations

from treewright.export.view_model import Shape, VisibleTree, lines_of, shortened

FILLS = ("#cfe3f0", "#f7dfcc", "#cceae0", "#f5e4ed", "#faeccc", "#dbeffa", "#fcfad9", "#e4e6e8")
"""Light shades of the class colours, by colour number."""

THICKEST = 8.0
"""Width of an edge that all cases pass, in points."""


def dot_text(view: VisibleTree) -> str:
    r"""Return a directed graph.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import visible_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> print(dot_text(visible_tree(fit(sample("play-tennis"), ID3()).tree, max_depth=0)))
    digraph tree {
        node [shape=box, style="rounded,filled", fillcolor="#f7f8fa", color="#59616c", fontname="Helvetica"];
        edge [color="#8a8f98", fontname="Helvetica", fontsize=11];
        n0 [label="Yes\nn = 14 (64 %)\n… 7 more nodes", style="rounded,dashed"];
    }
    """
    lines = [
        "digraph tree {",
        '    node [shape=box, style="rounded,filled", fillcolor="#f7f8fa", color="#59616c", fontname="Helvetica"];',
        '    edge [color="#8a8f98", fontname="Helvetica", fontsize=11];',
    ]
    total = view.nodes[0].weight
    for position, one in enumerate(view.nodes):
        label = r"\n".join(dot_escaped(line) for line in lines_of(one))
        look = ""
        if one.shape is Shape.LEAF:
            look = f', fillcolor="{FILLS[view.colours[int(one.outcome)] if one.counts else 0]}"'
        elif one.shape is not Shape.TEST:
            look = ', style="rounded,dashed"'
        lines.append(f'    n{position} [label="{label}"{look}];')
        if one.parent >= 0:
            width = max(0.5, THICKEST * one.weight / total) if total > 0 else 0.5
            label = dot_escaped(shortened(one.label))
            lines.append(f'    n{one.parent} -> n{position} [label="{label}", penwidth={width:.2f}];')
    return "\n".join([*lines, "}"])


def dot_escaped(text: str) -> str:
    r"""Escape a text for a quoted string of Graphviz: quotes, backslashes and entities have no effect.

    Examples
    --------
    >>> print(dot_escaped('a "b" \\N &lt;'))
    a \"b\" \\N &amp;lt;
    """
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
