"""A tree as lines of text, for a terminal.

Small trees are aligned in columns; wide ones are indented by three characters per level. A tree deeper than `BLOCK`
levels is broken into numbered subtrees, as in C4.5, so that lines stay short at any depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treewright.tree.split import Test
from treewright.tree.tree import Node, Tree
from treewright.wording import number, printable

BLOCK = 30
"""Levels printed before a subtree is moved to a block of its own."""

LONGEST_LABEL = 60
"""Longer labels (sets of many categories) are shortened."""


@dataclass
class _Line:
    left: str
    right: str


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
    blocks: list[list[_Line]] = []
    names: dict[int, str] = {}
    deepest = None if max_depth is None else max_depth + tree.node(root).depth
    waiting = [root]
    while waiting:
        top = waiting.pop(0)
        lines, deeper = _block(tree, top, deepest, names, width, numbers)
        if top in names:
            lines.insert(0, _Line(f"Subtree {names[top]}", ""))
        blocks.append(lines)
        waiting.extend(deeper)
    return "\n\n".join(_joined(lines) for lines in blocks)


def _block(
    tree: Tree, root: int, max_depth: int | None, names: dict[int, str], width: int, numbers: bool
) -> tuple[list[_Line], list[int]]:
    deeper: list[int] = []
    lines = _lines(tree, root, max_depth, names, deeper, numbers, aligned=True)
    if max(len(line.left) + len(line.right) + 2 for line in lines) > width:
        for node in deeper:
            del names[node]
        deeper = []
        lines = _lines(tree, root, max_depth, names, deeper, numbers, aligned=False)
    return lines, deeper


def _lines(
    tree: Tree,
    root: int,
    max_depth: int | None,
    names: dict[int, str],
    deeper: list[int],
    numbers: bool,
    *,
    aligned: bool,
) -> list[_Line]:
    top = int(tree.depths[root])
    lines: list[_Line] = []
    # (node, text before its own label, indentation of its children)
    waiting: list[tuple[int, str, str]] = [(root, "", "")]
    while waiting:
        index, before, below = waiting.pop()
        node = tree.node(index)
        before += f"[{index}] " if numbers else ""
        if node.is_leaf:
            lines.append(_Line(before + outcome_text(node), cases_text(node)))
            continue
        if max_depth is not None and node.depth >= max_depth:
            hidden = subtree_size(tree, index) - 1
            lines.append(_Line(f"{before}{outcome_text(node)} … {hidden} more nodes", cases_text(node)))
            continue
        if node.depth - top >= BLOCK:
            names[index] = f"[S{len(names) + 1}]"
            deeper.append(index)
            lines.append(_Line(before + names[index], cases_text(node)))
            continue
        lines.append(_Line(before + printable(node.attribute.name), ""))
        waiting.extend(reversed(_branches(node, below, aligned=aligned)))
    return lines


def _branches(node: Node, below: str, *, aligned: bool) -> list[tuple[int, str, str]]:
    labels = branch_labels(node)
    longest = max(len(label) for label in labels)
    entries = []
    for position, (label, child) in enumerate(zip(labels, node.children, strict=True)):
        last = position == len(labels) - 1
        corner, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
        if aligned:
            entries.append((child.index, f"{below}{corner}{label.ljust(longest)}  ", below + bar + " " * (longest + 2)))
        else:
            entries.append((child.index, f"{below}{corner}{label}: ", below + bar))
    return entries


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


def _joined(lines: list[_Line]) -> str:
    left = max((len(line.left) for line in lines if line.right), default=0)
    return "\n".join(f"{line.left.ljust(left)}  {line.right}" if line.right else line.left.rstrip() for line in lines)


def subtree_size(tree: Tree, root: int) -> int:
    """Return the number of nodes of a subtree; they have consecutive indices from its root."""
    depth = tree.depths[root]
    end = root + 1
    while end < tree.n_nodes and tree.depths[end] > depth:
        end += 1
    return end - root
