"""Layout of a drawn tree: positions, sizes and texts of its boxes, for SVG, PDF, PNG, TikZ and the report.

A box is a visible node. For regression it has an error bar: mean and spread of the node on the scale of all drawn
nodes. Lengths are pixels of 1/96 inch; x grows to the right, y downwards.

`x_positions` is a tidy tree layout: subtrees are as close as their contours allow, equal subtrees look equal, a parent
is centred over its children, and small subtrees between large ones are spread evenly (Reingold and Tilford 1981;
Buchheim, Jünger and Leipert 2002). The contour of a subtree is, for each level, how far it extends to the left or right
of its root. Joining two subtrees visits as many levels as the lower one has, so all joins together are linear in the
number of nodes. Nothing is recursive: depth costs no stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treewright.drawing.markup import fitted, spelled, text_width
from treewright.drawing.node_histogram import NodeHistogram
from treewright.export.view_model import Shape, VisibleNode, VisibleTree, percent
from treewright.wording import number, printable


class _Outline:
    """One side of the contour of a subtree, level by level from the lowest up, all shifted by `offset`."""

    __slots__ = ("levels", "offset")

    def __init__(self, levels: list[float], offset: float = 0.0) -> None:
        self.levels = levels
        self.offset = offset


class _JoinedSubtrees:
    """The subtrees of one node, joined from left to right."""

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self.positions: list[float] = []
        self.spread: list[float] = []  # second differences of the shifts of the subtrees in between
        self.left = self.right = _Outline([])
        self.owners: list[tuple[int, int]] = []  # (levels, child): the subtree on the right contour, the top ones last

    def join(self, left: _Outline, right: _Outline) -> None:
        """Add a subtree to the right of all others, as close as possible."""
        child = len(self.positions)
        self.positions.append(0.0)
        self.spread += [0.0] * (3 if not child else 1)
        height = len(left.levels)
        if not child:
            self.left, self.right, self.owners = left, right, [(height, 0)]
            return
        position = self._nearest(child, left)
        self.positions[child] = position
        left.offset += position
        right.offset += position
        self._cover(child, height, left, right)

    def _nearest(self, child: int, left: _Outline) -> float:
        """Return the shift of the new subtree; the subtrees between two that touch are spread evenly."""
        common = min(len(left.levels), len(self.right.levels))
        position = -float("inf")
        run = len(self.owners) - 1
        for level in range(1, common + 1):
            while self.owners[run][0] < level:
                run -= 1
            needed = self.right.levels[-level] + self.right.offset + self.gap - left.levels[-level] - left.offset
            if needed > position:
                owner = self.owners[run][1]
                if level > 1 and child - owner > 1:
                    step = (needed - position) / (child - owner)
                    self.spread[owner + 1] += step
                    self.spread[child] -= (child - owner) * step
                    self.spread[child + 1] += (child - owner - 1) * step
                position = needed
        return position

    def _cover(self, child: int, height: int, left: _Outline, right: _Outline) -> None:
        """Update the joint contours; the shorter list is written into the longer one."""
        old = len(self.right.levels)
        if height >= old:
            for level in range(1, old + 1):
                left.levels[-level] = self.left.levels[-level] + self.left.offset - left.offset
            self.left, self.right = left, right
            self.owners = [(height, child)]
            return
        for level in range(1, height + 1):
            self.right.levels[-level] = right.levels[-level] + right.offset - self.right.offset
        while self.owners[-1][0] <= height:
            self.owners.pop()
        self.owners.append((height, child))

    def centred_positions(self) -> list[float]:
        """Return the positions of the subtrees, evenly spread, with the middle of the outer ones at 0."""
        slope = moved = 0.0
        positions = []
        for position, bend in zip(self.positions, self.spread, strict=False):
            slope += bend
            moved += slope
            positions.append(position + moved)
        middle = (positions[0] + positions[-1]) / 2
        return [position - middle for position in positions]


def x_positions(parents: Sequence[int], breadths: Sequence[float], gap: float = 14.0) -> list[float]:
    """Return the x position of the middle of every node; the leftmost side is at 0.

    Parameters
    ----------
    parents : sequence of int
        Index of the parent of each node, -1 for the first; a parent comes before its children, which come from left to
        right.
    breadths : sequence of float
        Width of each node.
    gap : float
        Smallest distance between neighbours.

    Examples
    --------
    >>> x_positions([-1, 0, 0, 0], [20, 10, 10, 10], gap=2)
    [17.0, 5.0, 17.0, 29.0]
    """
    below: list[list[int]] = [[] for _ in parents]
    for node in range(1, len(parents)):
        below[parents[node]].append(node)
    outlines: list[tuple[_Outline, _Outline] | None] = [None] * len(parents)
    beside = [0.0] * len(parents)  # of the parent
    for node in range(len(parents) - 1, -1, -1):
        left, right = _Outline([]), _Outline([])
        if below[node]:
            forest = _JoinedSubtrees(gap)
            for child in below[node]:
                sides = outlines[child]
                assert sides is not None  # noqa: S101 - children come after their parent, so they are done
                forest.join(*sides)
                outlines[child] = None
            positions = forest.centred_positions()
            left, right = forest.left, forest.right
            moved = positions[0]
            left.offset += moved
            right.offset += moved
            for child, position in zip(below[node], positions, strict=True):
                beside[child] = position
        half_width = breadths[node] / 2
        left.levels.append(-half_width - left.offset)
        right.levels.append(half_width - right.offset)
        outlines[node] = (left, right)
    middles = beside
    for node in range(1, len(parents)):
        middles[node] += middles[parents[node]]
    leftmost = min(middle - breadth / 2 for middle, breadth in zip(middles, breadths, strict=True))
    return [middle - leftmost for middle in middles]


HEADING, SMALL = 13.0, 11.0
"""Font sizes."""

PADDING = 9.0
MARGIN = 16.0
GAP = 14.0
"""Smallest distance between neighbours."""

DROP = 64.0
"""Distance between two levels, for the edges and their labels."""

LINE = 16.0
BAR = 7.0
"""Height of the class-mix bar."""

PLOT_WIDTH, PLOT_HEIGHT = 112.0, 34.0
"""Size of a histogram."""

NARROWEST, NARROWEST_PAGE = 58.0, 300.0
LONGEST_NAME, LONGEST_BRANCH, LONGEST_HEADING = 170.0, 140.0, 600.0
"""Longer texts are shortened; the title has them in full."""

LABEL = 24.0
"""Height of the label of a branch above its box."""

THICKEST = 18.0
"""Width of an edge that all cases take."""


@dataclass(frozen=True, slots=True)
class Box:
    """Position and texts of one visible node.

    Parameters
    ----------
    x, y : float
        Middle and top.
    width, height : float
    lines : tuple of str
        Lines of text, the first is the heading; long ones are shortened.
    title : str
        The full description.
    branch : str
        Label of the edge above, shortened.
    edge : float
        Width of the edge above, in proportion to its cases.
    start : float
        x position where the edge above leaves the parent's box.
    error_bar : tuple of float
        For regression: mean minus spread, mean, mean plus spread, as shares of the range of all boxes.
    histogram : NodeHistogram or None
    """

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    title: str
    branch: str
    edge: float
    start: float
    error_bar: tuple[float, ...] = ()
    histogram: NodeHistogram | None = None

    @property
    def picture(self) -> float:
        """Top of the class bar, the error bar or the histogram below the text."""
        return self.y + PADDING + LINE * len(self.lines) + 1


@dataclass(frozen=True, slots=True)
class Swatch:
    """An entry of the legend: its position, colour number and text."""

    x: float
    y: float
    colour: int
    text: str


@dataclass(frozen=True)
class TreeLayout:
    """The layout of a drawing.

    Parameters
    ----------
    view : VisibleTree
    boxes : tuple of Box
        Parallel to the nodes of the view.
    width, height : float
    heading : str
        Line above the drawing.
    legend : tuple of Swatch
    """

    view: VisibleTree
    boxes: tuple[Box, ...]
    width: float
    height: float
    heading: str
    legend: tuple[Swatch, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        names = self.view.tree.schema.classes if self.view.nodes[0].counts else ()
        return {
            "width": round(self.width, 1),
            "height": round(self.height, 1),
            "heading": self.heading,
            "classes": [
                {"name": name, "colour": colour} for name, colour in zip(names, self.view.colours, strict=True)
            ],
            "nodes": [_plain(one, box) for one, box in zip(self.view.nodes, self.boxes, strict=True)],
        }


def _plain(one: VisibleNode, box: Box) -> dict[str, Any]:
    data: dict[str, Any] = {
        "node": one.number,
        "parent": one.parent,
        "shape": str(one.shape),
        "x": round(box.x, 1),
        "y": round(box.y, 1),
        "w": round(box.width, 1),
        "h": round(box.height, 1),
        "lines": list(box.lines),
        "title": box.title,
        "branch": box.branch,
        "edge": round(box.edge, 2),
        "n": one.weight,
        "counts": list(one.counts),
        "outcome": one.outcome,
        "hidden": one.hidden,
    }
    if box.error_bar:
        data["gauge"] = [round(share, 4) for share in box.error_bar]
    if box.histogram is not None:
        data["histogram"] = box.histogram.to_dict()
    return data


def lay_out(
    view: VisibleTree, histograms: Mapping[int, NodeHistogram] | None = None, heading: str | None = None
) -> TreeLayout:
    """Return the size, the texts and the position of every box of a view.

    Parameters
    ----------
    view : VisibleTree
    histograms : dict of int to NodeHistogram, optional
        By the number of the node; see `treewright.drawing.node_histogram`.
    heading : str or None
        Line above the drawing; None names the target.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import visible_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> layout = lay_out(visible_tree(fit(sample("play-tennis"), ID3()).tree))
    >>> layout.boxes[0].lines, layout.boxes[3].lines
    (('Outlook', 'n = 14'), ('Yes', 'n = 2 · 100 %'))
    """
    nodes = view.nodes
    plots = [(histograms or {}).get(one.number) if one.shape is Shape.TEST else None for one in nodes]
    lines = [_lines(one) for one in nodes]
    branches = [fitted(spelled(one.label), SMALL, LONGEST_BRANCH) for one in nodes]
    widths = [_box_width(words, plot) for words, plot in zip(lines, plots, strict=True)]
    heights = [_box_height(words, plot) for words, plot in zip(lines, plots, strict=True)]
    slots = [max(width, text_width(branch, SMALL) + 10) for width, branch in zip(widths, branches, strict=True)]
    across = x_positions([one.parent for one in nodes], slots, GAP)
    tops, depth = _tops(nodes, heights)
    heading_text = spelled(_heading(view) if heading is None else printable(heading))
    right_edge = max(x + slot / 2 for x, slot in zip(across, slots, strict=True))
    width = max(right_edge, NARROWEST_PAGE, min(text_width(heading_text, HEADING, bold=True), LONGEST_HEADING))
    heading_text = fitted(heading_text, HEADING, width, bold=True)
    legend, top = _legend(view, width, MARGIN + (22.0 if heading_text else 0.0))
    # A tree that is narrower than the legend is centred below it.
    shift = MARGIN + (width - right_edge) / 2
    across = [x + shift for x in across]
    edges = [_edge(one, nodes[0].weight) for one in nodes]
    starts = _starts(nodes, across, edges)
    error_bars = _error_bars(nodes)
    boxes = tuple(
        Box(
            across[i],
            tops[i] + top,
            widths[i],
            heights[i],
            lines[i],
            view.describe(i),
            branches[i],
            edges[i],
            starts[i],
            error_bars[i],
            plots[i],
        )
        for i in range(len(nodes))
    )
    return TreeLayout(view, boxes, width + 2 * MARGIN, depth + top + MARGIN, heading_text, legend)


def _lines(one: VisibleNode) -> tuple[str, ...]:
    words = [one.name, f"n = {number(one.weight)}"]
    is_prediction = one.shape in (Shape.LEAF, Shape.FOLDED)
    if one.spread is not None:
        words.insert(1, f"± {one.spread:.3g}" if is_prediction else f"mean {one.outcome:.5g} ± {one.spread:.3g}")
    elif is_prediction and one.share is not None:
        words[1] += f" · {percent(one.share)}"
    if one.hidden_line:
        words.append(one.hidden_line)
    return (fitted(spelled(words[0]), HEADING, LONGEST_NAME, bold=True), *words[1:])


def _box_width(lines: tuple[str, ...], plot: NodeHistogram | None) -> float:
    words = max(text_width(lines[0], HEADING, bold=True), *(text_width(line, SMALL) for line in lines[1:]))
    return max(NARROWEST, words + 2 * PADDING, PLOT_WIDTH + 2 * PADDING if plot is not None else 0.0)


def _box_height(lines: tuple[str, ...], plot: NodeHistogram | None) -> float:
    picture = PLOT_HEIGHT + 16.0 if plot is not None else BAR
    return 2 * PADDING + LINE * len(lines) + 1 + picture


def _tops(nodes: Sequence[VisibleNode], heights: Sequence[float]) -> tuple[list[float], float]:
    """Return the top of every box and the bottom of the drawing: a level is as high as its highest box."""
    levels: list[int] = []
    for one in nodes:
        levels.append(levels[one.parent] + 1 if one.parent >= 0 else 0)
    highest = [0.0] * (max(levels) + 1)
    for level, height in zip(levels, heights, strict=True):
        highest[level] = max(highest[level], height)
    top, tops = 0.0, []
    for height in highest:
        tops.append(top)
        top += height + DROP
    return [tops[level] for level in levels], top - DROP


def _edge(one: VisibleNode, all_cases: float) -> float:
    if one.parent < 0:
        return 0.0
    return max(1.0, THICKEST * one.weight / all_cases) if all_cases > 0 else 1.0


def _starts(nodes: Sequence[VisibleNode], across: Sequence[float], edges: Sequence[float]) -> list[float]:
    """Return where each edge begins: the edges of a node start side by side, their widths add up to its cases."""
    total = [0.0] * len(nodes)
    for one, edge in zip(nodes, edges, strict=True):
        if one.parent >= 0:
            total[one.parent] += edge
    used = [-all_edges / 2 for all_edges in total]
    starts = []
    for one, edge, x in zip(nodes, edges, across, strict=True):
        if one.parent < 0:
            starts.append(x)
            continue
        starts.append(across[one.parent] + used[one.parent] + edge / 2)
        used[one.parent] += edge
    return starts


def edge_heights(above: Box, box: Box) -> tuple[float, float, float, float]:
    """Return the heights of the four points of the curve from a box to the label over the next one.

    The curve begins at ``box.start`` and ends at ``box.x``, vertical at both ends; from its end the edge goes straight
    down to the box.
    """
    begin, end = above.y + above.height, box.y - LABEL
    bend = 0.6 * min(end - begin, DROP)
    return begin, begin + bend, end - bend, end


def _error_bars(nodes: Sequence[VisibleNode]) -> list[tuple[float, ...]]:
    if nodes[0].spread is None:
        return [()] * len(nodes)
    ranges = [(one.outcome - (one.spread or 0.0), one.outcome, one.outcome + (one.spread or 0.0)) for one in nodes]
    low, high = min(one[0] for one in ranges), max(one[2] for one in ranges)
    scale = high - low
    return [tuple((point - low) / scale if scale > 0 else 0.5 for point in one) for one in ranges]


def _heading(view: VisibleTree) -> str:
    tree, root = view.tree, view.nodes[0]
    size = f"{tree.n_nodes:,} nodes" if tree.n_nodes > 1 else "1 node"
    part = f", from node {root.number}" if root.number else ""
    return f"{printable(tree.schema.target or 'target')}: {size}, depth {tree.depth}{part}"


def _legend(view: VisibleTree, width: float, top: float) -> tuple[tuple[Swatch, ...], float]:
    """Return the legend in lines that fit the width, and the top of the tree below it."""
    root = view.nodes[0]
    if root.spread is not None:
        return (), top + (12.0 if top > MARGIN else 0.0)
    named = [code for code, colour in enumerate(view.colours) if colour < 7]
    entries = [(view.colours[code], printable(view.tree.schema.classes[code])) for code in named]
    if len(entries) < len(view.colours):
        entries.append((7, f"{len(view.colours) - len(entries)} other classes"))
    swatches, x, y = [], MARGIN, top
    for colour, words in entries:
        text = fitted(spelled(words), SMALL, LONGEST_NAME)
        needed = 16.0 + text_width(text, SMALL) + 14.0
        if x + needed > width + MARGIN and x > MARGIN:
            x, y = MARGIN, y + LINE
        swatches.append(Swatch(x, y, colour, text))
        x += needed
    return tuple(swatches), y + LINE + 14.0
