"""Tidy tree layout: the horizontal positions of the nodes.

Subtrees are as close as their contours allow, equal subtrees look equal, a parent is centred over its children, and
small subtrees between large ones are spread evenly (Reingold and Tilford 1981; Buchheim, Jünger and Leipert 2002).

The contour of a subtree is, for each level, how far it extends to the left or right of its root. Joining two subtrees
visits as many levels as the lower one has, so all joins together are linear in the number of nodes. Nothing is
recursive: depth costs no stack.

Layout of a drawn tree: positions, sizes and texts of its boxes, for SVG, PDF, PNG, TikZ and the report.

A box is a visible node. For regression it has an error bar: mean and spread of the node on the scale of all drawn
nodes. Lengths are pixels of 1/96 inch; x grows to the right, y downwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treewright.drawing.markup import fitted, spelled, text_width
from treewright.drawing.node_histogram import NodeHistogram
from treewright.export.view_model import Shape, Sketch, Sketched, percent
from treewright.wording import number, printable


class _Outline:
    """How far a subtree reaches on one side, level by level from its lowest up, all shifted by `offset`."""

    __slots__ = ("levels", "offset")

    def __init__(self, levels: list[float], offset: float = 0.0) -> None:
        self.levels = levels
        self.offset = offset


class _Forest:
    """The subtrees of one node, joined from left to right."""

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self.places: list[float] = []
        self.spread: list[float] = []  # second differences of what neighbours between are moved afterwards
        self.left = self.right = _Outline([])
        self.owners: list[tuple[int, int]] = []  # (levels, child): whose right side is seen, the top ones last

    def join(self, left: _Outline, right: _Outline) -> None:
        """Put one more subtree to the right of all others, as near as possible."""
        child = len(self.places)
        self.places.append(0.0)
        self.spread += [0.0] * (3 if not child else 1)
        height = len(left.levels)
        if not child:
            self.left, self.right, self.owners = left, right, [(height, 0)]
            return
        place = self._nearest(child, left)
        self.places[child] = place
        left.offset += place
        right.offset += place
        self._cover(child, height, left, right)

    def _nearest(self, child: int, left: _Outline) -> float:
        """Return how far the new subtree must be moved; who is between two that touch shares the way."""
        common = min(len(left.levels), len(self.right.levels))
        place = -float("inf")
        run = len(self.owners) - 1
        for level in range(1, common + 1):
            while self.owners[run][0] < level:
                run -= 1
            needed = self.right.levels[-level] + self.right.offset + self.gap - left.levels[-level] - left.offset
            if needed > place:
                owner = self.owners[run][1]
                if level > 1 and child - owner > 1:
                    step = (needed - place) / (child - owner)
                    self.spread[owner + 1] += step
                    self.spread[child] -= (child - owner) * step
                    self.spread[child + 1] += (child - owner - 1) * step
                place = needed
        return place

    def _cover(self, child: int, height: int, left: _Outline, right: _Outline) -> None:
        """Make the outlines of the others those of all; the shorter list is written into the longer one."""
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

    def settled(self) -> list[float]:
        """Return the places of the subtrees, those between moved, the middle of the outer ones at 0."""
        slope = moved = 0.0
        places = []
        for place, bend in zip(self.places, self.spread, strict=False):
            slope += bend
            moved += slope
            places.append(place + moved)
        middle = (places[0] + places[-1]) / 2
        return [place - middle for place in places]


def tidy(parents: Sequence[int], breadths: Sequence[float], gap: float = 14.0) -> list[float]:
    """Return the middle of every node, from left to right; the leftmost side is at 0.

    Parameters
    ----------
    parents : sequence of int
        Position of the parent of each node, -1 for the first; a parent stands before its children, the children of a
        node from left to right.
    breadths : sequence of float
        Width of each node.
    gap : float
        Least distance of neighbours.

    Examples
    --------
    >>> tidy([-1, 0, 0, 0], [20, 10, 10, 10], gap=2)
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
            forest = _Forest(gap)
            for child in below[node]:
                pair = outlines[child]
                assert pair is not None  # noqa: S101 - children come after their parent, so they are done
                forest.join(*pair)
                outlines[child] = None
            places = forest.settled()
            left, right = forest.left, forest.right
            moved = places[0]
            left.offset += moved
            right.offset += moved
            for child, place in zip(below[node], places, strict=True):
                beside[child] = place
        half = breadths[node] / 2
        left.levels.append(-half - left.offset)
        right.levels.append(half - right.offset)
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
"""Least distance of neighbours."""

DROP = 64.0
"""Between two levels: room for the edges and their labels."""

LINE = 16.0
BAR = 7.0
"""Height of the class-mix bar."""

PLOT_WIDTH, PLOT_HEIGHT = 112.0, 34.0
"""Size of a histogram."""

NARROWEST, NARROWEST_PAGE = 58.0, 300.0
LONGEST_NAME, LONGEST_BRANCH, LONGEST_HEADING = 170.0, 140.0, 600.0
"""Longer words are shortened; the title has them all."""

LABEL = 24.0
"""Height of the label of a branch, over its box."""

THICKEST = 18.0
"""Width of the edges of all cases together."""


@dataclass(frozen=True, slots=True)
class Box:
    """Place and words of one visible node.

    Parameters
    ----------
    x, y : float
        Middle and top.
    width, height : float
    lines : tuple of str
        Words to print, the first is the heading; shortened where they are long.
    title : str
        The same in full, and more.
    branch : str
        Label of the edge above, shortened.
    edge : float
        Width of the edge above, in proportion to its cases.
    start : float
        Where the edge above begins at the lower side of the parent's box (x).
    gauge : tuple of float
        For regression: mean minus spread, mean, mean plus spread, as shares of the range of all boxes.
    histogram : Histogram or None
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
    gauge: tuple[float, ...] = ()
    histogram: NodeHistogram | None = None

    @property
    def picture(self) -> float:
        """Top of the bar, the gauge or the histogram below the words."""
        return self.y + PADDING + LINE * len(self.lines) + 1


@dataclass(frozen=True, slots=True)
class Swatch:
    """An entry of the legend: where it stands, a colour number, and the words beside it."""

    x: float
    y: float
    colour: int
    text: str


@dataclass(frozen=True)
class Placed:
    """A drawing ready to be made.

    Parameters
    ----------
    sketch : Sketch
    boxes : tuple of Box
        Parallel to the nodes of the sketch.
    width, height : float
    heading : str
        Line above all.
    legend : tuple of Swatch
    """

    sketch: Sketch
    boxes: tuple[Box, ...]
    width: float
    height: float
    heading: str
    legend: tuple[Swatch, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        names = self.sketch.tree.schema.classes if self.sketch.nodes[0].counts else ()
        return {
            "width": round(self.width, 1),
            "height": round(self.height, 1),
            "heading": self.heading,
            "classes": [
                {"name": name, "colour": colour} for name, colour in zip(names, self.sketch.colours, strict=True)
            ],
            "nodes": [_plain(one, box) for one, box in zip(self.sketch.nodes, self.boxes, strict=True)],
        }


def _plain(one: Sketched, box: Box) -> dict[str, Any]:
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
    if box.gauge:
        data["gauge"] = [round(share, 4) for share in box.gauge]
    if box.histogram is not None:
        data["histogram"] = box.histogram.to_dict()
    return data


def place(sketch: Sketch, histograms: Mapping[int, NodeHistogram] | None = None, heading: str | None = None) -> Placed:
    """Give every box of a sketch its size, its words and its place.

    Parameters
    ----------
    sketch : Sketch
    histograms : dict of int to Histogram, optional
        By the number of the node; see `treewright.drawing.node_histogram`.
    heading : str or None
        Line above all; None names the target.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import sketch_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> placed = place(sketch_tree(fit(sample("play-tennis"), ID3()).tree))
    >>> placed.boxes[0].lines, placed.boxes[3].lines
    (('Outlook', 'n = 14'), ('Yes', 'n = 2 · 100 %'))
    """
    nodes = sketch.nodes
    plots = [(histograms or {}).get(one.number) if one.shape is Shape.TEST else None for one in nodes]
    lines = [_lines(one) for one in nodes]
    branches = [fitted(spelled(one.label), SMALL, LONGEST_BRANCH) for one in nodes]
    widths = [_box_width(words, plot) for words, plot in zip(lines, plots, strict=True)]
    heights = [_box_height(words, plot) for words, plot in zip(lines, plots, strict=True)]
    slots = [max(width, text_width(branch, SMALL) + 10) for width, branch in zip(widths, branches, strict=True)]
    across = tidy([one.parent for one in nodes], slots, GAP)
    tops, depth = _tops(nodes, heights)
    told = spelled(_heading(sketch) if heading is None else printable(heading))
    reach = max(x + slot / 2 for x, slot in zip(across, slots, strict=True))
    width = max(reach, NARROWEST_PAGE, min(text_width(told, HEADING, bold=True), LONGEST_HEADING))
    told = fitted(told, HEADING, width, bold=True)
    legend, top = _legend(sketch, width, MARGIN + (22.0 if told else 0.0))
    # A tree that is narrower than the legend stands in the middle below it.
    shift = MARGIN + (width - reach) / 2
    across = [x + shift for x in across]
    edges = [_edge(one, nodes[0].weight) for one in nodes]
    starts = _starts(nodes, across, edges)
    gauges = _gauges(nodes)
    boxes = tuple(
        Box(
            across[i],
            tops[i] + top,
            widths[i],
            heights[i],
            lines[i],
            sketch.describe(i),
            branches[i],
            edges[i],
            starts[i],
            gauges[i],
            plots[i],
        )
        for i in range(len(nodes))
    )
    return Placed(sketch, boxes, width + 2 * MARGIN, depth + top + MARGIN, told, legend)


def _lines(one: Sketched) -> tuple[str, ...]:
    words = [one.name, f"n = {number(one.weight)}"]
    says = one.shape in (Shape.LEAF, Shape.FOLDED)
    if one.spread is not None:
        words.insert(1, f"± {one.spread:.3g}" if says else f"mean {one.outcome:.5g} ± {one.spread:.3g}")
    elif says and one.share is not None:
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


def _tops(nodes: Sequence[Sketched], heights: Sequence[float]) -> tuple[list[float], float]:
    """Return the top of every box and the bottom of all: a level is as high as its highest box."""
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


def _edge(one: Sketched, all_cases: float) -> float:
    if one.parent < 0:
        return 0.0
    return max(1.0, THICKEST * one.weight / all_cases) if all_cases > 0 else 1.0


def _starts(nodes: Sequence[Sketched], across: Sequence[float], edges: Sequence[float]) -> list[float]:
    """Lay the edges of a node side by side where they begin, so that their widths add up to all of its cases."""
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

    The curve begins at ``box.start`` and ends at ``box.x``, upright at both ends; from its end the edge goes straight
    down to the box.
    """
    begin, end = above.y + above.height, box.y - LABEL
    bend = 0.6 * min(end - begin, DROP)
    return begin, begin + bend, end - bend, end


def _gauges(nodes: Sequence[Sketched]) -> list[tuple[float, ...]]:
    if nodes[0].spread is None:
        return [()] * len(nodes)
    reach = [(one.outcome - (one.spread or 0.0), one.outcome, one.outcome + (one.spread or 0.0)) for one in nodes]
    low, high = min(one[0] for one in reach), max(one[2] for one in reach)
    scale = high - low
    return [tuple((point - low) / scale if scale > 0 else 0.5 for point in one) for one in reach]


def _heading(sketch: Sketch) -> str:
    tree, root = sketch.tree, sketch.nodes[0]
    size = f"{tree.n_nodes:,} nodes" if tree.n_nodes > 1 else "1 node"
    part = f", from node {root.number}" if root.number else ""
    return f"{printable(tree.schema.target or 'target')}: {size}, depth {tree.depth}{part}"


def _legend(sketch: Sketch, width: float, top: float) -> tuple[tuple[Swatch, ...], float]:
    """Set the legend in lines that fit the width; return where the tree may begin, too."""
    root = sketch.nodes[0]
    if root.spread is not None:
        return (), top + (12.0 if top > MARGIN else 0.0)
    named = [code for code, colour in enumerate(sketch.colours) if colour < 7]
    entries = [(sketch.colours[code], printable(sketch.tree.schema.classes[code])) for code in named]
    if len(entries) < len(sketch.colours):
        entries.append((7, f"{len(sketch.colours) - len(entries)} other classes"))
    swatches, x, y = [], MARGIN, top
    for colour, words in entries:
        text = fitted(spelled(words), SMALL, LONGEST_NAME)
        needed = 16.0 + text_width(text, SMALL) + 14.0
        if x + needed > width + MARGIN and x > MARGIN:
            x, y = MARGIN, y + LINE
        swatches.append(Swatch(x, y, colour, text))
        x += needed
    return tuple(swatches), y + LINE + 14.0
