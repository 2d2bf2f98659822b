"""A tree as PDF or PNG by matplotlib, from the same layout as the SVG.

Fonts and lines are measured in points of 1/72 inch, lengths of the layout in 1/96 inch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from treewright.drawing.figure import LIGHT, blended
from treewright.drawing.layout import (
    BAR,
    HEADING,
    LINE,
    MARGIN,
    PADDING,
    PLOT_HEIGHT,
    SMALL,
    Box,
    TreeLayout,
    edge_heights,
)
from treewright.drawing.markup import text_width
from treewright.drawing.svg import by_colour
from treewright.errors import ParameterError
from treewright.export.view_model import Shape, VisibleNode
from treewright.lazy_import import import_extra

LARGEST = 14_400.0
"""Longest side in points: the limit of PDF readers, and of PNG at a reasonable resolution."""

_FONT = "DejaVu Sans"
"""The font included in matplotlib, so that the picture is the same everywhere."""

_LACKING = "\N{REPLACEMENT CHARACTER}"


def tree_figure(layout: TreeLayout) -> Any:
    """Draw a tree as a matplotlib figure; see `treewright.drawing.figure.save_figure`.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import visible_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> from treewright.drawing.layout import lay_out
    >>> figure = tree_figure(lay_out(visible_tree(fit(sample("play-tennis"), ID3()).tree)))
    >>> sorted({text.get_text() for text in figure.axes[0].texts if "n =" in text.get_text()})[:2]
    ['n = 14', 'n = 2 · 100 %']
    """
    if 0.75 * max(layout.width, layout.height) > LARGEST:
        raise ParameterError(
            f"a picture of {layout.width / 96:.0f} x {layout.height / 96:.0f} inches is too large for PDF and PNG: "
            "show fewer nodes (max_nodes, max_depth), or make an SVG"
        )
    return _Painter(layout).painted()


class _Painter:
    """Draws boxes, curves and text on axes in the unit of the layout."""

    def __init__(self, layout: TreeLayout) -> None:
        self.layout = layout
        figures = import_extra("matplotlib.figure", "plots", "draw a tree as PDF or PNG")
        self.patches = import_extra("matplotlib.patches", "plots", "draw a tree as PDF or PNG")
        self.paths = import_extra("matplotlib.path", "plots", "draw a tree as PDF or PNG")
        self.figure = figures.Figure(figsize=(layout.width / 96, layout.height / 96), facecolor=LIGHT.page)
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set_axis_off()
        self.axes.set_xlim(0, layout.width)
        self.axes.set_ylim(layout.height, 0)

    def painted(self) -> Any:
        """Draw everything, the edges below the boxes."""
        layout = self.layout
        self._words(MARGIN, MARGIN + 11, layout.heading, HEADING, bold=True, side="left")
        for swatch in layout.legend:
            self._bar(swatch.colour, swatch.x, swatch.y, 11, 11)
            self._words(swatch.x + 16, swatch.y + 9.5, swatch.text, SMALL, LIGHT.quiet, side="left")
        for one, box in zip(layout.view.nodes, layout.boxes, strict=True):
            if one.parent >= 0:
                self._edge(layout.boxes[one.parent], box)
        for one, box in zip(layout.view.nodes, layout.boxes, strict=True):
            self._card(one, box)
        return self.figure

    def _edge(self, above: Box, box: Box) -> None:
        y0, y1, y2, y3 = edge_heights(above, box)
        points = [(box.start, y0), (box.start, y1), (box.x, y2), (box.x, y3), (box.x, box.y)]
        path = self.paths.Path
        curve = path(points, [path.MOVETO, path.CURVE4, path.CURVE4, path.CURVE4, path.LINETO])
        width = 0.75 * box.edge
        self.axes.add_patch(
            self.patches.PathPatch(curve, fill=False, edgecolor=LIGHT.edge, linewidth=width, capstyle="butt")
        )

    def _card(self, one: VisibleNode, box: Box) -> None:
        left = box.x - box.width / 2
        if box.branch:
            label = text_width(box.branch, SMALL) + 8
            self._round(box.x - label / 2, box.y - 22, label, 16, 4, LIGHT.page, None)
            self._words(box.x, box.y - 10.5, box.branch, SMALL)
        fill, border = LIGHT.box, LIGHT.border
        if one.shape is Shape.LEAF:
            border = LIGHT.classes[self.layout.view.colours[int(one.outcome)] if one.counts else 0]
            fill = blended(border, LIGHT.page)
        dashed = one.shape in (Shape.FOLDED, Shape.REST)
        self._round(left, box.y, box.width, box.height, 7, fill, border, dashed=dashed)
        baseline = box.y + PADDING + 11
        self._words(box.x, baseline, box.lines[0], HEADING, bold=True)
        for row, line in enumerate(box.lines[1:], start=1):
            self._words(box.x, baseline + row * LINE, line, SMALL, LIGHT.quiet)
        top, inner = box.picture, box.width - 2 * PADDING
        if box.histogram is not None:
            self._histogram(box, left + PADDING, top + 2, inner)
        elif box.error_bar:
            self._error_bar(box, left + PADDING, top, inner)
        else:
            x, total = left + PADDING, sum(one.counts)
            for colour, weight in enumerate(by_colour(self.layout.view.colours, one.counts)):
                if weight > 0:
                    self._bar(colour, x, top, inner * weight / total, BAR)
                    x += inner * weight / total

    def _error_bar(self, box: Box, x: float, y: float, width: float) -> None:
        low, mean, high = (x + width * share for share in box.error_bar)
        self.axes.plot([x, x + width], [y + BAR / 2] * 2, color=LIGHT.border, linewidth=0.75)
        self._round(low, y, max(high - low, 0.1), BAR, 0, blended(LIGHT.classes[0], LIGHT.page, 0.4), None)
        self.axes.add_patch(self.patches.Circle((mean, y + BAR / 2), 3.5, facecolor=LIGHT.classes[0], zorder=3))

    def _histogram(self, box: Box, x: float, y: float, width: float) -> None:
        plot = box.histogram
        assert plot is not None  # noqa: S101 - only called for boxes that have one
        colours_of_classes = self.layout.view.colours
        colours = colours_of_classes if len(plot.counts[0]) == len(colours_of_classes) else (0,)
        highest = max(sum(row) for row in plot.counts)
        step, floor = width / len(plot.counts), y + PLOT_HEIGHT
        for column, row in enumerate(plot.counts):
            top = floor
            for colour, weight in enumerate(by_colour(colours, row)):
                if weight > 0:
                    part = PLOT_HEIGHT * weight / highest
                    top -= part
                    self._bar(colour, x + column * step + 0.4, top, step - 0.8, part)
        self.axes.plot([x, x + width], [floor, floor], color=LIGHT.border, linewidth=0.75)
        for cut in plot.cuts:
            at = x + width * plot.share(cut)
            self.axes.plot([at, at], [y - 2, floor], color=LIGHT.cut, linewidth=1.1, zorder=4)
            self.axes.add_patch(
                self.patches.Polygon(
                    [(at, floor), (at - 3.5, floor + 6), (at + 3.5, floor + 6)], facecolor=LIGHT.cut, zorder=4
                )
            )
        low, high = plot.ends()
        self._words(x, floor + 12, low, 9, LIGHT.quiet, side="left")
        self._words(x + width, floor + 12, high, 9, LIGHT.quiet, side="right")

    def _bar(self, colour: int, x: float, y: float, width: float, height: float) -> None:
        self.axes.add_patch(
            self.patches.Rectangle((x, y), width, height, facecolor=LIGHT.classes[colour], linewidth=0, zorder=3)
        )

    def _round(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        radius: float,
        fill: str,
        border: str | None,
        *,
        dashed: bool = False,
    ) -> None:
        self.axes.add_patch(
            self.patches.FancyBboxPatch(
                (x, y),
                width,
                height,
                boxstyle=f"round,pad=0,rounding_size={radius}",
                facecolor=fill,
                edgecolor=border or "none",
                linewidth=0.75,
                linestyle=(0, (4, 3)) if dashed else "solid",
                zorder=2,
            )
        )

    def _words(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        colour: str = LIGHT.words,
        *,
        bold: bool = False,
        side: str = "center",
    ) -> None:
        self.axes.text(
            x,
            y,
            printed(text),
            fontsize=0.75 * size * 0.92,  # this font is wider than those of browsers
            color=colour,
            fontweight="bold" if bold else "normal",
            fontfamily=_FONT,
            ha=side,
            va="baseline",
            parse_math=False,
            zorder=4,
        )


def printed(text: str) -> str:
    """Replace the characters that the font does not have.

    Examples
    --------
    >>> printed("n ≤ 3"), printed("天") == _LACKING
    ('n ≤ 3', True)
    """
    return "".join(one if ord(one) in _characters() else _LACKING for one in text)


@lru_cache(maxsize=1)
def _characters() -> frozenset[int]:
    """Return the characters that both the regular and the bold font have."""
    manager = import_extra("matplotlib.font_manager", "plots", "draw a tree as PDF or PNG")
    faces = [
        manager.get_font(manager.findfont(manager.FontProperties(family=_FONT, weight=weight)))
        for weight in ("normal", "bold")
    ]
    return frozenset(faces[0].get_charmap()) & frozenset(faces[1].get_charmap())
