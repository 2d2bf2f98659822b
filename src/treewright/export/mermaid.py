"""A tree as a Mermaid flowchart, which GitHub, GitLab and many editors draw from a code block.

Mermaid rejects charts of more than 50,000 characters or 500 edges: draw fewer nodes then.
"""

from __future__ import annotations

import re

from treewright.export.dot import FILLS
from treewright.export.view_model import Shape, VisibleTree, lines_of, shortened

_PLAIN = frozenset(" .,:-+/()=·±…≤≠'%")
"""Characters that need no escaping, besides letters and digits of any script."""


_LIST_ITEM = re.compile(r"(\s*(?:\d+[.)]|[-+]))(?:\s|$)")


def mermaid_text(view: VisibleTree) -> str:
    """Return a flowchart.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import visible_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> print(mermaid_text(visible_tree(fit(sample("play-tennis"), ID3()).tree, max_depth=1)))
    flowchart TD
        n0["Outlook<br/>n = 14"]
        n1["No<br/>n = 5 (60 %)<br/>… 2 more nodes"]:::folded
        n0 -->|"Sunny"| n1
        n2(["Yes<br/>n = 4 (100 %)"]):::class0
        n0 -->|"Overcast"| n2
        n3["Yes<br/>n = 5 (60 %)<br/>… 2 more nodes"]:::folded
        n0 -->|"Rain"| n3
        classDef class0 fill:#cfe3f0,stroke:#59616c,color:#1b1f24
        classDef folded stroke-dasharray:4 3
    """
    lines = ["flowchart TD"]
    used: set[int] = set()
    folded = False
    for position, one in enumerate(view.nodes):
        label = "<br/>".join(mermaid_escaped(line) for line in lines_of(one))
        if one.shape is Shape.LEAF:
            colour = view.colours[int(one.outcome)] if one.counts else 0
            used.add(colour)
            lines.append(f'    n{position}(["{label}"]):::class{colour}')
        else:
            closed = one.shape is not Shape.TEST
            folded = folded or closed
            lines.append(f'    n{position}["{label}"]{":::folded" if closed else ""}')
        if one.parent >= 0:
            lines.append(f'    n{one.parent} -->|"{mermaid_escaped(shortened(one.label))}"| n{position}')
    lines += [
        f"    classDef class{colour} fill:{FILLS[colour]},stroke:#59616c,color:#1b1f24" for colour in sorted(used)
    ]
    if folded:
        lines.append("    classDef folded stroke-dasharray:4 3")
    return "\n".join(lines)


def mermaid_escaped(text: str) -> str:
    """Replace every character with a meaning in Mermaid, Markdown or HTML by a numbered entity.

    Examples
    --------
    >>> mermaid_escaped('a "b" <i> #1; 天氣')
    'a #34;b#34; #60;i#62; #35;1#59; 天氣'
    """
    marker = _LIST_ITEM.match(text)
    odd = -1 if marker is None else marker.end(1) - 1  # "1. x" and "- x" would begin a list
    return "".join(
        one if (one.isalnum() or one in _PLAIN) and index != odd else f"#{ord(one)};" for index, one in enumerate(text)
    )
