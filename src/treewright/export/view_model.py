"""The view model of a drawn tree: which nodes are visible and with which texts; `drawing.layout` places them.

Visible nodes are listed depth first, a parent before its children. A folded node is an inner node whose branches are
not shown; `hidden` counts the nodes below it. One box stands for the lightest branches of a node that has too many. A
tree that is too large is shown from the top, the nodes with the most weight first.

`lines_of` returns the text of a box for formats that set it themselves; names from the data are cut at `LONGEST`
characters.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from treewright.data.schema import Column
from treewright.errors import ParameterError
from treewright.tree.output_methods import SHOWN_NODES
from treewright.tree.split import NUMERIC_TESTS, Split, Test
from treewright.tree.text import outcome_text
from treewright.tree.tree import LEAF, STOPS, Tree
from treewright.wording import number, printable

SHOWN_BRANCHES = 12
"""Default limit on the branches of one node; the lightest ones share a box."""

SHORT_NUMBER = 8
"""Longest number that is printed exactly, in characters."""

_LONG_NUMBER = re.compile(r"-?[0-9][0-9.e+-]{8,}")

OTHER = 7
"""Colour number shared by the classes without a colour of their own."""


_BETWEEN = {Test.NOMINAL: " = ", Test.SUBSET: " in "}
"""Text between an attribute and the condition of a branch, for conditions without a relation sign."""


class Shape(StrEnum):
    """The kind of a box."""

    TEST = "test"
    LEAF = "leaf"
    FOLDED = "folded"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class VisibleNode:
    """One visible box.

    Parameters
    ----------
    number : int
        Node of the tree; for a rest box that of its parent.
    parent : int
        Position of the box above, -1 for the first.
    shape : Shape
    name : str
        Attribute of a test, else the predicted class or number; made printable, not shortened.
    branch : str
        The condition of the branch that leads here; empty for the first box.
    weight : float
    counts : tuple of float
        Weight of each class; empty for regression.
    outcome : int or float
        Class index or mean.
    spread : float or None
        Standard deviation of the target, for regression.
    hidden : int
        Nodes below that are not shown.
    stop : str
        Why a leaf is a leaf; empty for other boxes.
    label : str
        The condition with its numbers rounded, for the drawing.
    """

    number: int
    parent: int
    shape: Shape
    name: str
    branch: str
    weight: float
    counts: tuple[float, ...]
    outcome: int | float
    spread: float | None = None
    hidden: int = 0
    stop: str = ""
    label: str = ""

    @property
    def share(self) -> float | None:
        """Share of the predicted class; None for regression and without cases."""
        total = sum(self.counts)
        return self.counts[int(self.outcome)] / total if total > 0 else None

    @property
    def hidden_text(self) -> str:
        """The number of hidden nodes as text; empty if there are none."""
        if not self.hidden:
            return ""
        return f"… {self.hidden:,} more node{'' if self.hidden == 1 else 's'}"

    @property
    def hidden_line(self) -> str:
        """The same as a line of the box; empty if its name already has the number."""
        is_counted = self.shape is Shape.REST and self.name.startswith(f"… {self.hidden:,} more ")
        return "" if is_counted else self.hidden_text


@dataclass(frozen=True)
class VisibleTree:
    """The visible nodes of a tree.

    Parameters
    ----------
    tree : Tree
    nodes : tuple of VisibleNode
    """

    tree: Tree
    nodes: tuple[VisibleNode, ...]

    @cached_property
    def colours(self) -> tuple[int, ...]:
        """Colour number of each class: the heaviest classes have one each, the others share `OTHER`."""
        weights = self.nodes[0].counts
        if len(weights) <= OTHER:
            return tuple(range(len(weights)))
        heaviest = sorted(sorted(range(len(weights)), key=lambda code: (-weights[code], code))[:OTHER])
        return tuple(heaviest.index(code) if code in heaviest else OTHER for code in range(len(weights)))

    def describe(self, position: int) -> str:
        """Return the full description of a box in one line, for its tooltip."""
        one = self.nodes[position]
        words = [f"{self.condition(position)}: "] if one.parent >= 0 else []
        match one.shape:
            case Shape.TEST:
                words.append(f"node {one.number} tests {one.name}; ")
            case Shape.LEAF:
                words.append(f"leaf {one.number} says {one.name} ({one.stop}); ")
            case Shape.FOLDED:
                mostly = f"mostly {one.name}, " if one.spread is None else ""
                words.append(f"node {one.number}, {mostly}{one.hidden_text[2:]} below; ")
            case Shape.REST:
                words.append(f"{one.name[2:]}, {one.hidden_text[2:]}; ")
        return "".join(words) + self.cases(position)

    def condition(self, position: int) -> str:
        """Return the attribute and the condition of the branch that leads to a box."""
        one = self.nodes[position]
        above = self.nodes[one.parent]
        split = self.tree.split(above.number)
        between = _BETWEEN.get(split.test, " ") if split is not None and one.shape is not Shape.REST else " "
        return f"{above.name}{between}{one.branch}"

    def cases(self, position: int) -> str:
        """Return the cases of a box as text: their number, and their classes or mean."""
        one = self.nodes[position]
        cases = f"{number(one.weight)} case{'' if one.weight == 1 else 's'}"
        if one.spread is not None:
            return f"{cases}, mean {one.outcome:.6g}, standard deviation {one.spread:.4g}"
        names = self.tree.schema.classes
        present = [(count, code) for code, count in enumerate(one.counts) if count]
        present.sort(key=lambda entry: (-entry[0], entry[1]))
        listed = ", ".join(f"{printable(names[code], 40)} {number(count)}" for count, code in present[:OTHER])
        more = f" and {len(present) - OTHER} more" if len(present) > OTHER else ""
        return f"{cases}: {listed}{more}" if present else cases


def visible_tree(
    tree: Tree,
    *,
    root: int = 0,
    max_nodes: int | None = SHOWN_NODES,
    max_depth: int | None = None,
    max_branches: int | None = SHOWN_BRANCHES,
    folded: Collection[int] = (),
) -> VisibleTree:
    """Choose the visible nodes of a tree.

    Parameters
    ----------
    tree : Tree
    root : int
        Node to begin with.
    max_nodes : int or None
        Most boxes; None shows all.
    max_depth : int or None
        Most levels below the root.
    max_branches : int or None
        Most branches of one node, including the box for the others.
    folded : collection of int
        Inner nodes that stay folded.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("play-tennis"), ID3()).tree
    >>> for one in visible_tree(tree, max_depth=1).nodes:
    ...     print(one.shape, one.name, one.branch, one.hidden_text)
    test Outlook
    folded No Sunny … 2 more nodes
    leaf Yes Overcast
    folded Yes Rain … 2 more nodes
    """
    tree.node(root)  # raises if there is no such node
    for name, value, least in (
        ("max_nodes", max_nodes, 1),
        ("max_depth", max_depth, 0),
        ("max_branches", max_branches, 2),
    ):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least):
            raise ParameterError(f"{name} must be None or a whole number of at least {least}, not {value!r}")
    capacity = math.inf if max_nodes is None else max_nodes
    widest = math.inf if max_branches is None else max_branches
    deepest = math.inf if max_depth is None else max_depth
    return _ViewBuilder(tree, root).build(capacity, widest, deepest, frozenset(folded))


class _ViewBuilder:
    """Chooses the visible nodes; uses lists, whose single numbers are read many times faster than those of arrays."""

    def __init__(self, tree: Tree, root: int) -> None:
        self.tree = tree
        self.root = root
        self.leaf = (tree.attribute == LEAF).tolist()
        self.weight = tree.weight.tolist()
        self.start = tree.child_start.tolist()
        self.children: list[int] = tree.children.tolist()
        self.size = [1] * tree.n_nodes
        parent = tree.parent.tolist()
        for node in range(tree.n_nodes - 1, 0, -1):
            self.size[parent[node]] += self.size[node]

    def build(self, capacity: float, widest: float, deepest: float, folded: frozenset[int]) -> VisibleTree:
        """Unfold the heaviest nodes up to the capacity, then list the visible nodes."""
        self.shown: dict[int, list[int]] = {}
        used = 1
        waiting = [(-self.weight[self.root], 0, self.root)]  # a deeper node must be heavier to come first
        while waiting:
            _, depth, node = heapq.heappop(waiting)
            if self.leaf[node] or depth >= deepest or node in folded:
                continue
            branches = self._below(node)
            limit = min(widest, capacity - used) if node == self.root else widest
            seen = branches if len(branches) <= limit else self._heaviest(branches, int(max(limit, 1)) - 1)
            needed = len(seen) + (len(seen) < len(branches))
            if used + needed > capacity:
                continue
            used += needed
            self.shown[node] = seen
            for child in seen:
                heapq.heappush(waiting, (-self.weight[child] / (depth + 2), depth + 1, child))
        return VisibleTree(self.tree, tuple(self._written()))

    def _below(self, node: int) -> list[int]:
        return self.children[self.start[node] : self.start[node + 1]]

    def _heaviest(self, branches: list[int], number: int) -> list[int]:
        return sorted(sorted(branches, key=lambda child: (-self.weight[child], child))[:number])

    def _written(self) -> list[VisibleNode]:
        nodes: list[VisibleNode] = []
        waiting: list[tuple[int, int, str, str]] = [(self.root, -1, "", "")]
        while waiting:
            node, parent, branch, label = waiting.pop()
            position = len(nodes)
            if node < 0:
                nodes.append(self._rest(nodes[parent].number, parent))
                continue
            nodes.append(self._box(node, parent, branch, label))
            split = self.tree.split(node)
            if node not in self.shown or split is None:
                continue
            column = self.tree.schema.attributes[split.attribute]
            branches, seen = self._below(node), set(self.shown[node])
            if len(seen) < len(branches):
                waiting.append((-1, position, "", ""))
            waiting += [
                (branches[index], position, *_conditions(split, index, column))
                for index in range(len(branches) - 1, -1, -1)
                if branches[index] in seen
            ]
        return nodes

    def _box(self, node: int, parent: int, branch: str, label: str) -> VisibleNode:
        tree = self.tree
        leaf, shown = self.leaf[node], node in self.shown
        counts = tuple(tree.counts[node].tolist())
        regression = tree.is_regression
        outcome = float(tree.outcome[node]) if regression else int(tree.outcome[node])
        return VisibleNode(
            node,
            parent,
            Shape.LEAF if leaf else Shape.TEST if shown else Shape.FOLDED,
            printable(tree.schema.attributes[int(tree.attribute[node])].name) if shown else outcome_text(tree, node),
            branch,
            self.weight[node],
            counts,
            outcome,
            self._spread(float(tree.sse[node]), self.weight[node]) if tree.sse is not None else None,
            0 if shown else self.size[node] - 1,
            str(STOPS[int(tree.stop[node])]) if leaf else "",
            label,
        )

    def _rest(self, node: int, parent: int) -> VisibleNode:
        """Return the box for the branches that are not shown."""
        tree = self.tree
        seen = set(self.shown[node])
        left = [child for child in self._below(node) if child not in seen]
        weight = sum(self.weight[child] for child in left)
        name = f"… {len(left):,} more branch{'' if len(left) == 1 else 'es'}"
        hidden = sum(self.size[child] for child in left)
        box = VisibleNode(node, parent, Shape.REST, name, "other", weight, (), 0, hidden=hidden, label="other")
        if tree.sse is None:
            counts = tree.counts[left].sum(axis=0)
            return replace(box, counts=tuple(counts.tolist()), outcome=int(counts.argmax()))
        weights, means = tree.weight[left], tree.outcome[left]
        mean = float((weights * means).sum() / weight) if weight > 0 else float(means.mean())
        squares = float(tree.sse[left].sum() + (weights * (means - mean) ** 2).sum())
        return replace(box, outcome=mean, spread=self._spread(squares, weight))

    @staticmethod
    def _spread(squares: float, weight: float) -> float:
        return math.sqrt(squares / weight) if weight > 0 else 0.0


def _conditions(split: Split, branch: int, column: Column) -> tuple[str, str]:
    """Return the condition of a branch with the signs used in drawings: exact, and with rounded numbers."""
    text = split.describe(branch, column)
    if split.test in NUMERIC_TESTS:
        text = text.replace("<=", "≤")
        return text, _LONG_NUMBER.sub(lambda found: rounded(float(found[0])), text)
    text = text.replace("!=", "≠", 1) if split.test is Test.EQUALS and branch == 1 else text
    return text, text


def rounded(value: float) -> str:
    """Format a number for a drawing: exact if that is short, else with five digits.

    Examples
    --------
    >>> rounded(2.45), rounded(0.0982690780896553), rounded(120000.0)
    ('2.45', '0.098269', '120000')
    """
    exact = repr(float(value)).removesuffix(".0")
    return exact if len(exact) <= SHORT_NUMBER else f"{value:.5g}"


LONGEST = 60


def lines_of(one: VisibleNode) -> list[str]:
    """Return the lines of a box: its test or prediction, and its cases.

    Examples
    --------
    >>> lines_of(VisibleNode(3, 0, Shape.LEAF, "Yes", "Overcast", 4.0, (3.0, 1.0), 0))
    ['Yes', 'n = 4 (75 %)']
    """
    cases = f"n = {number(one.weight)}"
    is_prediction = one.shape in (Shape.LEAF, Shape.FOLDED)
    if one.spread is not None:
        mean = "" if is_prediction else f"mean {one.outcome:.5g} "
        lines = [one.name, f"{mean}± {one.spread:.3g}", cases]
    elif is_prediction and one.share is not None:
        lines = [one.name, f"{cases} ({percent(one.share)})"]
    else:
        lines = [one.name, cases]
    return [shortened(line) for line in lines] + ([one.hidden_line] if one.hidden_line else [])


def percent(share: float) -> str:
    """Format a share as a whole percentage; only exact shares are shown as 0 % or 100 %.

    Examples
    --------
    >>> percent(0.643), percent(0.999), percent(1.0)
    ('64 %', '> 99 %', '100 %')
    """
    rounded = round(100 * share)
    if rounded in (0, 100) and share not in (0.0, 1.0):
        return "> 99 %" if rounded else "< 1 %"
    return f"{rounded} %"


def shortened(text: str) -> str:
    """Cut a long line."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
