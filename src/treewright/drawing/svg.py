"""A tree as SVG: one file without script or link, light or dark by the reader's system.

A node is a box with its text and, below it, the bar of class shares, the histogram with the threshold, or the error
bar. Every text from the data goes through `xml_text`. The same tree gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from treewright.drawing.figure import DARK, LIGHT, Ground, blended
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
from treewright.drawing.markup import decimal, hundredth, text_width, xml_text
from treewright.export.view_model import OTHER, Shape, VisibleNode

LONGEST_TITLE = 1000
"""Most characters of the tooltip of a node."""

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif"


def svg_text(layout: TreeLayout, *, background: bool = True, longest_title: int = LONGEST_TITLE) -> str:
    """Return the text of an SVG file.

    Parameters
    ----------
    layout : TreeLayout
        See `treewright.drawing.layout.lay_out`.
    background : bool
        Paint the background; otherwise it is transparent.
    longest_title : int
        Most characters of the tooltip of a node.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import visible_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> from treewright.drawing.layout import lay_out
    >>> text = svg_text(lay_out(visible_tree(fit(sample("play-tennis"), ID3()).tree)))
    >>> text[:39], text.count('class="tw-node')
    ('<svg xmlns="http://www.w3.org/2000/svg"', 8)
    """
    return "\n".join(_fragments(layout, background, longest_title)) + "\n"


def _fragments(layout: TreeLayout, background: bool, longest_title: int) -> Iterator[str]:
    width, height = decimal(layout.width), decimal(layout.height)
    nodes = layout.view.nodes
    name = xml_text(f"Decision tree. {layout.heading}", longest_title)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="treewright" role="img" aria-label="{name}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONTS}">'
    )
    yield f"<style>{_style(layout)}</style>"
    if background:
        yield f'<rect class="tw-page" width="{width}" height="{height}"/>'
    if layout.heading:
        yield _words("head", MARGIN, MARGIN + 11, layout.heading)
    for swatch in layout.legend:
        yield _bar(swatch.colour, swatch.x, swatch.y, 11, 11) + _words(
            "small", swatch.x + 16, swatch.y + 9.5, swatch.text
        )
    yield '<g class="tw-edges" fill="none">'
    for one, box in zip(nodes, layout.boxes, strict=True):
        if one.parent >= 0:
            yield _edge(layout.boxes[one.parent], box)
    yield "</g>"
    yield '<g text-anchor="middle">'
    for position, (one, box) in enumerate(zip(nodes, layout.boxes, strict=True)):
        yield "".join(_card(layout, position, one, box, longest_title))
    yield "</g>"
    yield "</svg>"


def _edge(above: Box, box: Box) -> str:
    """Draw a curve from the parent's lower side down to the label of the branch, and on to the child."""
    from_x, to_x = decimal(box.start), decimal(box.x)
    y = [decimal(height) for height in edge_heights(above, box)]
    curve = f"M{from_x} {y[0]}C{from_x} {y[1]} {to_x} {y[2]} {to_x} {y[3]}V{decimal(box.y)}"
    return f'<path d="{curve}" stroke-width="{decimal(box.edge)}"/>'


def _card(layout: TreeLayout, position: int, one: VisibleNode, box: Box, longest_title: int) -> Iterator[str]:
    left = box.x - box.width / 2
    yield f'<g class="tw-node tw-{one.shape}" data-node="{one.number}">'
    yield f"<title>{xml_text(box.title, longest_title)}</title>"
    if box.branch:
        label = text_width(box.branch, SMALL) + 8
        yield (
            f'<rect class="tw-page" x="{decimal(box.x - label / 2)}" y="{decimal(box.y - 22)}" '
            f'width="{decimal(label)}" height="16" rx="4"/>'
        )
        yield _words("branch", box.x, box.y - 10.5, box.branch)
    kind = "tw-box"
    if one.shape is Shape.LEAF:
        kind = f"tw-box tw-l{layout.view.colours[int(one.outcome)] if one.counts else 0}"
    yield (
        f'<rect class="{kind}" x="{decimal(left)}" y="{decimal(box.y)}" '
        f'width="{decimal(box.width)}" height="{decimal(box.height)}" rx="7"/>'
    )
    baseline = box.y + PADDING + 11
    yield _words("head", box.x, baseline, box.lines[0])
    for line in box.lines[1:]:
        baseline += LINE
        yield _words("small", box.x, baseline, line)
    top = box.picture
    inner = box.width - 2 * PADDING
    if box.histogram is not None:
        yield from _histogram(layout, box, left + PADDING, top + 2, inner)
    elif box.error_bar:
        yield from _error_bar(box, left + PADDING, top, inner)
    else:
        yield from _mix(layout.view.colours, one.counts, left + PADDING, top, inner)
    yield "</g>"


def by_colour(colours: tuple[int, ...], counts: tuple[float, ...]) -> list[float]:
    """Return the weight of each colour: the sum over its classes.

    Examples
    --------
    >>> by_colour((0, 7, 1, 7), (4.0, 1.0, 2.0, 3.0))
    [4.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0]
    """
    sums = [0.0] * (OTHER + 1)
    for colour, count in zip(colours, counts, strict=True):
        sums[colour] += count
    return sums


def _mix(colours: tuple[int, ...], counts: tuple[float, ...], x: float, y: float, width: float) -> Iterator[str]:
    sums = by_colour(colours, counts)
    total = sum(sums)
    for colour, weight in enumerate(sums):
        if weight > 0:
            part = width * weight / total
            yield _bar(colour, x, y, part, BAR)
            x += part


def _error_bar(box: Box, x: float, y: float, width: float) -> Iterator[str]:
    low, mean, high = (x + width * share for share in box.error_bar)
    middle = decimal(y + BAR / 2)
    yield f'<path class="tw-axis" d="M{decimal(x)} {middle}h{decimal(width)}"/>'
    yield (
        f'<rect class="tw-c0" fill-opacity=".4" x="{decimal(low)}" y="{decimal(y)}" '
        f'width="{decimal(high - low)}" height="{decimal(BAR)}" rx="3"/>'
        f'<circle class="tw-c0" cx="{decimal(mean)}" cy="{middle}" r="3.5"/>'
    )


def _histogram(layout: TreeLayout, box: Box, x: float, y: float, width: float) -> Iterator[str]:
    plot = box.histogram
    assert plot is not None  # noqa: S101 - only called for boxes that have one
    colours = layout.view.colours if len(plot.counts[0]) == len(layout.view.colours) else (0,)
    highest = max(sum(row) for row in plot.counts)
    step, floor = width / len(plot.counts), y + PLOT_HEIGHT
    for column, row in enumerate(plot.counts):
        top = floor
        for colour, weight in enumerate(by_colour(colours, row)):
            if weight > 0:
                part = PLOT_HEIGHT * weight / highest
                top -= part
                yield _bar(colour, x + column * step + 0.4, top, step - 0.8, part)
    yield f'<path class="tw-axis" d="M{decimal(x)} {decimal(floor)}h{decimal(width)}"/>'
    for cut in plot.cuts:
        at = decimal(x + width * plot.share(cut))
        yield (
            f'<path class="tw-cut" d="M{at} {decimal(y - 2)}V{decimal(floor)}"/>'
            f'<path class="tw-mark" d="M{at} {decimal(floor)}l-3.5 6h7z"/>'
        )
    low, high = plot.ends()
    yield _words("tick tw-from", x, floor + 12, low) + _words("tick tw-to", x + width, floor + 12, high)


def _words(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="tw-{kind}" x="{decimal(x)}" y="{decimal(y)}">{xml_text(text)}</text>'


def _bar(colour: int, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="tw-c{colour}" x="{hundredth(x)}" y="{hundredth(y)}" '
        f'width="{hundredth(width)}" height="{hundredth(height)}"/>'
    )


def _style(layout: TreeLayout) -> str:
    used = sorted({swatch.colour for swatch in layout.legend} | {0})
    fixed = (
        f"svg.treewright text{{unicode-bidi:plaintext}}.tw-head{{font-size:{decimal(HEADING)}px;font-weight:600}}"
        f".tw-small,.tw-branch{{font-size:{decimal(SMALL)}px}}.tw-tick{{font-size:9px}}"
        ".tw-from{text-anchor:start}.tw-to{text-anchor:end}"
        ".tw-folded .tw-box,.tw-rest .tw-box{stroke-dasharray:4 3}.tw-axis,.tw-cut{fill:none}.tw-cut{stroke-width:1.5}"
    )
    return fixed + _coloured(LIGHT, used) + f"@media (prefers-color-scheme:dark){{{_coloured(DARK, used)}}}"


def _coloured(ground: Ground, used: list[int]) -> str:
    rules = [
        f".tw-page{{fill:{ground.page}}}",
        f".tw-box{{fill:{ground.box};stroke:{ground.border}}}",
        f".tw-edges{{stroke:{ground.edge}}}",
        f".tw-head,.tw-branch{{fill:{ground.words}}}",
        f".tw-small,.tw-tick{{fill:{ground.quiet}}}",
        f".tw-axis{{stroke:{ground.border}}}",
        f".tw-cut{{stroke:{ground.cut}}}.tw-mark{{fill:{ground.cut}}}",
    ]
    for number in used:
        colour = ground.classes[number]
        rules.append(
            f".tw-c{number}{{fill:{colour}}}.tw-l{number}{{fill:{blended(colour, ground.page)};stroke:{colour}}}"
        )
    return "".join(rules)
