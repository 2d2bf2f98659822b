"""Small plots for a terminal: lines with axes, and bars. Pure functions from numbers to text.

The canvas is width times height characters inside the axes. A Braille character is two dots wide and four high; in
plain ASCII a character is one mark. In ASCII the series differ by their marks (``*+ox``); in Braille the first line is
solid and the others are dotted, each more widely. The legend names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, log10
from typing import NamedTuple

from treewright.wording import printable

MARKS = "*+ox#%"
"""The marks of the series in plain ASCII, in order."""

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a Braille character, by row and column."""

BLANK = 0x2800


class Series(NamedTuple):
    """A line: a name, and x and y values of equal length."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class Mark(NamedTuple):
    """A mark on the x axis: its position, one character, and its meaning."""

    x: float
    sign: str
    meaning: str


class _Frame(NamedTuple):
    """The range of both axes."""

    left: float
    right: float
    bottom: float
    top: float


def can_draw_braille(encoding: str | None) -> bool:
    """Return True if a stream of this encoding can show Braille and block characters.

    Examples
    --------
    >>> can_draw_braille("utf-8"), can_draw_braille("ascii"), can_draw_braille(None)
    (True, False, False)
    """
    try:
        "\u28ff\u2588\u2514".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def line_plot(
    series: Sequence[Series],
    *,
    width: int = 60,
    height: int = 12,
    braille: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    x_label: str = "",
    y_label: str = "",
    marks: Sequence[Mark] = (),
) -> str:
    """Draw lines with axes.

    Parameters
    ----------
    series : list of Series
        Points that are not finite are left out.
    width, height : int
        Size of the whole plot in characters, at least 20 by 5.
    braille : bool
        Fine dots instead of ASCII marks.
    log_x, log_y : bool
        A logarithmic axis; points at or below 0 are left out.
    x_label, y_label : str
    marks : list of Mark
        Marks below the x axis, with their meaning below; of two at one position the first is shown.

    Examples
    --------
    >>> print(line_plot([Series("y", [0, 1, 2, 3], [0, 1, 2, 3])], width=20, height=6))
    3 |              ***
      |         *****
      |   ******
    0 |***
      +-----------------
       0               3
    """
    points = [(one.name, _usable(one, log_x, log_y)) for one in series]
    everything = [point for _, line in points for point in line]
    if not everything:
        return "(nothing to draw)"
    frame = _frame(everything)
    ends = tuple(_number(10**end if log_y else end) for end in (frame.bottom, frame.top))
    margin = max(map(len, ends)) + 2
    columns = max(width, 20) - margin
    rows = max(height, 5) - 2
    canvas = _braille(points, frame, columns, rows) if braille else _ascii(points, frame, columns, rows)
    bar, corner, dash = ("\u2502", "\u2514", "\u2500") if braille else ("|", "+", "-")
    lines = [] if not y_label else [printable(y_label)]
    for row_number, row in enumerate(canvas):
        label = ends[1] if row_number == 0 else ends[0] if row_number == rows - 1 else ""
        lines.append(f"{label:>{margin - 2}} {bar}{row}".rstrip())
    lines.append(f"{'':>{margin - 1}}{corner}{dash * columns}")
    if marks:
        lines.append(f"{'':>{margin}}{_pointers(marks, frame, columns, log_x)}".rstrip())
    left, right = (_number(10**end if log_x else end) for end in (frame.left, frame.right))
    middle = printable(x_label) if len(left) + len(right) + len(x_label) + 2 <= columns else ""
    space = max(columns - len(left) - len(right), 1)
    lines.append(f"{'':>{margin}}{left}{middle:^{space}}{right}".rstrip())
    if len(series) > 1:
        dotted = ["\u2812\u2812\u2812", *(f"\u2802{' ' * at}\u2802" for at in range(1, len(series)))]
        signs = dotted if braille else [MARKS[at % len(MARKS)] for at in range(len(series))]
        legend = [f"{mark} {printable(one.name, 30)}" for mark, one in zip(signs, series, strict=True)]
        lines.append(f"{'':>{margin}}{'   '.join(legend)}")
    lines += [f"{'':>{margin}}{one.sign} {printable(one.meaning)}" for one in marks]
    return "\n".join(lines)


def _pointers(marks: Sequence[Mark], frame: _Frame, columns: int, log_x: bool) -> str:
    """Return the line below the axis, with the marks at their positions."""
    cells = [" "] * columns
    for one in reversed(marks):
        at = log10(one.x) if log_x else one.x
        column = round((at - frame.left) / (frame.right - frame.left) * (columns - 1))
        cells[min(max(column, 0), columns - 1)] = one.sign
    return "".join(cells)


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    *,
    width: int = 60,
    blocks: bool = False,
    largest: float | None = None,
) -> str:
    """Draw a bar for each value; negative values have none.

    Parameters
    ----------
    labels : list of str
    values : list of float
        A value that is not finite has no bar.
    width : int
        Width of the whole plot in characters.
    blocks : bool
        Block characters instead of ``#``.
    largest : float or None
        The value of a full bar; None takes the largest.

    Examples
    --------
    >>> print(bars(["yes", "no"], [9, 5], width=24))
    yes  ################  9
    no   #########         5
    """
    if not labels:
        return "(nothing to draw)"
    names = [printable(label, 24) for label in labels]
    numbers = [_number(value) for value in values]
    name_width, number_width = max(map(len, names)), max(map(len, numbers))
    bar_width = max(width - name_width - number_width - 4, 5)
    full = max((value for value in values if isfinite(value)), default=0.0) if largest is None else largest
    lines = []
    for name, value, number in zip(names, values, numbers, strict=True):
        share = min(max(value / full, 0.0), 1.0) if full > 0 and isfinite(value) else 0.0
        bar = ("\u2588" if blocks else "#") * round(share * bar_width)
        lines.append(f"{name:<{name_width}}  {bar:<{bar_width}}  {number:>{number_width}}")
    return "\n".join(lines)


def _usable(one: Series, log_x: bool, log_y: bool) -> list[tuple[float, float]]:
    found = []
    for x, y in zip(one.x, one.y, strict=True):
        if isfinite(x) and isfinite(y) and (x > 0 or not log_x) and (y > 0 or not log_y):
            found.append((log10(x) if log_x else float(x), log10(y) if log_y else float(y)))
    return sorted(found)


def _frame(points: Sequence[tuple[float, float]]) -> _Frame:
    """Return the range of the points; a range of a single value is widened."""
    ends: list[float] = []
    for axis in (0, 1):
        low, high = min(point[axis] for point in points), max(point[axis] for point in points)
        if low == high:
            half_range = abs(low) / 2 or 0.5
            low, high = low - half_range, high + half_range
        ends += [low, high]
    return _Frame(*ends)


def _cells(line: Sequence[tuple[float, float]], frame: _Frame, columns: int, rows: int) -> list[tuple[int, int]]:
    """Return the cells (row, column) that a line touches: one in each column between its ends."""
    span_x, span_y = frame.right - frame.left, frame.top - frame.bottom
    at = [((x - frame.left) / span_x * (columns - 1), (frame.top - y) / span_y * (rows - 1)) for x, y in line]
    cells = {(round(y), round(x)) for x, y in at}
    for (x0, y0), (x1, y1) in pairwise(at):
        for column in range(round(x0) + 1, round(x1)):
            share = (column - x0) / (x1 - x0)
            cells.add((round(y0 + share * (y1 - y0)), column))
    return sorted(cells)


def _ascii(
    points: Sequence[tuple[str, Sequence[tuple[float, float]]]], frame: _Frame, columns: int, rows: int
) -> list[str]:
    canvas = [[" "] * columns for _ in range(rows)]
    for index, (_, line) in reversed(list(enumerate(points))):  # the first is on top
        for row, column in _cells(line, frame, columns, rows):
            canvas[row][column] = MARKS[index % len(MARKS)]
    return ["".join(row) for row in canvas]


def _braille(
    points: Sequence[tuple[str, Sequence[tuple[float, float]]]], frame: _Frame, columns: int, rows: int
) -> list[str]:
    canvas = [[0] * columns for _ in range(rows)]
    for index, (_, line) in enumerate(points):
        for row, column in _cells(line, frame, 2 * columns, 4 * rows):
            if column % (1 + 3 * index):
                continue
            canvas[row // 4][column // 2] |= _DOTS[row % 4][column % 2]
    return ["".join(chr(BLANK + bits) if bits else " " for bits in row) for row in canvas]


def _number(value: float) -> str:
    """Format the end of an axis, short.

    Examples
    --------
    >>> _number(0.8479), _number(12000), _number(float("nan"))
    ('0.848', '12,000', '-')
    """
    if not isfinite(value):
        return "-"
    rounded = round(value)
    if abs(value - rounded) < 1e-9 and abs(value) < 1e6:
        return f"{rounded:,}"
    return f"{value:.3g}"
