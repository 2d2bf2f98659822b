"""A tree as lines of text, for a terminal.

Small trees are aligned in columns; wide ones are indented by three characters per level. A tree deeper than `BLOCK`
levels is broken into numbered subtrees, as in C4.5, so that lines stay short at any depth.
"""

from __future__ import annotations

from collections.abc import Sequence

from treewright.tree.split import Test
from treewright.tree.tree import LEAF, Node, Tree
from treewright.wording import number, printable

BLOCK = 30
"""Levels printed before a subtree is moved to a block of its own."""

LONGEST_LABEL = 60
"""Longer labels (sets of many categories) are shortened."""


def tree_text(
    tree: Tree, *, max_depth: int | None = None, width: int = 100, numbers: bool = False, root: int = 0
) -> str:
    """Return the lines of a tree.

    Parameters
    ----------
    tree : Tree
    max_depth : int or None
        Levels to print; the nodes below are only counted.
    width : int
        Available columns; wider trees are indented instead of aligned.
    numbers : bool
        Whether to print the index of each node.
    root : int
        Node to start with.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> print(fit(sample("play-tennis"), ID3()).tree.to_text())
    Outlook
    ├─ Sunny     Humidity
    │            ├─ High    No   3
    │            └─ Normal  Yes  2
    ├─ Overcast  Yes             4
    └─ Rain      Wind
                 ├─ Weak    Yes  3
                 └─ Strong  No   2
    """
    blocks: list[str] = []
    names: dict[int, str] = {}
    deepest = None if max_depth is None else max_depth + tree.node(root).depth
    waiting = [root]
    while waiting:
        top = waiting.pop(0)
        lines, deeper = _block(tree, top, deepest, len(names), numbers, aligned=True)
        if max(len(left) + len(right) + 2 for left, right in lines) > width:
            lines, deeper = _block(tree, top, deepest, len(names), numbers, aligned=False)
        if top in names:
            lines.insert(0, (f"Subtree {names[top]}", ""))
        column = max((len(left) for left, right in lines if right), default=0)
        blocks.append("\n".join(f"{left.ljust(column)}  {right}" if right else left.rstrip() for left, right in lines))
        names |= deeper
        waiting.extend(deeper)
    return "\n\n".join(blocks)


def _block(
    tree: Tree, root: int, max_depth: int | None, n_named: int, numbers: bool, *, aligned: bool
) -> tuple[list[tuple[str, str]], dict[int, str]]:
    """Return the lines of a block, each with what is printed at the right of it, and the names of its deep subtrees."""
    lines: list[tuple[str, str]] = []
    deeper: dict[int, str] = {}
    # (node, text before its own label, indentation of its children)
    waiting: list[tuple[int, str, str]] = [(root, "", "")]
    while waiting:
        index, before, below = waiting.pop()
        node = tree.node(index)
        before += f"[{index}] " if numbers else ""
        if tree.attribute[index] == LEAF:
            lines.append((before + outcome_text(node), cases_text(node)))
            continue
        if max_depth is not None and tree.depths[index] >= max_depth:
            hidden = subtree_size(tree, index) - 1
            lines.append((f"{before}{outcome_text(node)} … {hidden} more nodes", cases_text(node)))
            continue
        if tree.depths[index] - tree.depths[root] >= BLOCK:
            deeper[index] = f"[S{n_named + len(deeper) + 1}]"
            lines.append((before + deeper[index], cases_text(node)))
            continue
        lines.append((before + printable(node.attribute.name), ""))
        labels = branch_labels(node)
        longest = max(len(label) for label in labels)
        children: list[tuple[int, str, str]] = []
        for label, child in zip(labels, tree.children_of(index).tolist(), strict=True):
            corner, bar = ("└─ ", "   ") if len(children) == len(labels) - 1 else ("├─ ", "│  ")
            if aligned:
                children.append((child, f"{below}{corner}{label.ljust(longest)}  ", below + bar + " " * (longest + 2)))
            else:
                children.append((child, f"{below}{corner}{label}: ", below + bar))
        waiting.extend(reversed(children))
    return lines, deeper


def branch_labels(node: Node) -> list[str]:
    """Return the condition of each branch, shortened if it is very long."""
    split = node.split
    if split is None:
        return []
    branches = range(split.n_branches)
    labels = [split.describe(branch, node.attribute) for branch in branches]
    if split.test is Test.SUBSET:
        return [_shortened(labels[branch], split.values_of(branch, node.attribute)) for branch in branches]
    return [printable(label, LONGEST_LABEL) for label in labels]


def _shortened(label: str, values: Sequence[str]) -> str:
    if len(label) <= LONGEST_LABEL:
        return label
    available = LONGEST_LABEL - 12
    shown = [printable(values[0], available)]
    for value in values[1:]:
        available -= len(shown[-1]) + len(", ")
        if len(printable(value)) >= available:
            break
        shown.append(printable(value))
    if len(shown) < len(values):
        shown.append(f"… {len(values) - len(shown)} more")
    return f"{{{', '.join(shown)}}}"


def outcome_text(node: Node) -> str:
    """Return the class, or the mean with six significant digits."""
    outcome = node.outcome
    return printable(outcome) if isinstance(outcome, str) else f"{outcome:.6g}"


def cases_text(node: Node) -> str:
    """Return the number of cases and, after a slash, the number of errors."""
    cases = number(node.weight)
    if node.tree.is_regression:
        return cases
    errors = number(float(node.tree.errors[node.index]))
    return cases if errors == "0" else f"{cases}/{errors}"


def subtree_size(tree: Tree, root: int) -> int:
    """Return the number of nodes of a subtree; they have consecutive indices from its root."""
    depth = tree.depths[root]
    end = root + 1
    while end < tree.n_nodes and tree.depths[end] > depth:
        end += 1
    return end - root
