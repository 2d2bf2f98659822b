"""A tree as lines of text, for a terminal.

Small trees are aligned in columns; wide ones are indented by three characters per level. A tree deeper than `BLOCK`
levels is broken into numbered subtrees, as in C4.5, so that lines stay short at any depth.
"""

from __future__ import annotations

from collections.abc import Sequence

from treewright.data.schema import Column
from treewright.tree.split import Split, Test
from treewright.tree.tree import Tree
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
    start = tree.node(root)  # raises if there is no such node
    deepest = None if max_depth is None else max_depth + start.depth
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
    """Return the lines of a block, and the names of the subtrees that get blocks of their own.

    A line has two columns: the tree, and the number of cases with, after a slash, the number of errors.
    """
    lines: list[tuple[str, str]] = []
    deeper: dict[int, str] = {}
    # (node, text before its own label, indentation of its children)
    waiting: list[tuple[int, str, str]] = [(root, "", "")]
    while waiting:
        index, before, below = waiting.pop()
        before += f"[{index}] " if numbers else ""
        split = tree.split(index)
        hidden = max_depth is not None and tree.depths[index] >= max_depth
        moved = tree.depths[index] - tree.depths[root] >= BLOCK
        if split is None or hidden or moved:
            if split is None:
                before += outcome_text(tree, index)
            elif hidden:
                before += f"{outcome_text(tree, index)} … {subtree_size(tree, index) - 1} more nodes"
            else:
                deeper[index] = f"[S{n_named + len(deeper) + 1}]"
                before += deeper[index]
            cases = number(float(tree.weight[index]))
            errors = "0" if tree.is_regression else number(float(tree.errors[index]))
            lines.append((before, cases if errors == "0" else f"{cases}/{errors}"))
            continue
        column = tree.schema.attributes[split.attribute]
        lines.append((before + printable(column.name), ""))
        labels = branch_labels(split, column)
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


def branch_labels(split: Split, column: Column) -> list[str]:
    """Return the condition of each branch, shortened if it is very long."""
    branches = range(split.n_branches)
    labels = [split.describe(branch, column) for branch in branches]
    if split.test is Test.SUBSET:
        return [_shortened(labels[branch], split.values_of(branch, column)) for branch in branches]
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


def outcome_text(tree: Tree, node: int) -> str:
    """Return the class that a node predicts, or the mean with six significant digits."""
    outcome = tree.outcome[node]
    return f"{outcome:.6g}" if tree.is_regression else printable(tree.schema.classes[int(outcome)])


def subtree_size(tree: Tree, root: int) -> int:
    """Return the number of nodes of a subtree; they have consecutive indices from its root."""
    depth = tree.depths[root]
    end = root + 1
    while end < tree.n_nodes and tree.depths[end] > depth:
        end += 1
    return end - root
