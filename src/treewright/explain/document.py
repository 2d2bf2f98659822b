"""An explanation before it is rendered: headings, paragraphs, formulas, tables.

The texts of a block are plain: not escaped, and without markup. The renderers (`treewright.explain.forms`) escape all
of them, so that names from the data stay inert. A formula exists twice, as a line for a terminal and as LaTeX; the
functions below escape names for LaTeX when they insert them. A right-to-left name stands between Unicode isolates, so
that it cannot reorder its neighbours.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from treewright._base.printable import number, printable

_ISOLATE, _END = "\u2068", "\u2069"

_LATEX = {
    "\\": r"\backslash ",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "_": r"\_",
    "^": r"\wedge ",
    "~": r"\sim ",
    "<": r"\lt ",
    ">": r"\gt ",
    "`": r"\prime ",
    "[": r"\lbrack ",
    "]": r"\rbrack ",
    "*": r"\ast ",
    "|": r"\vert ",
}
"""Characters that mean something in LaTeX or in Markdown around it, and what stands for them."""


@dataclass(frozen=True)
class Formula:
    """A formula as a plain line and as LaTeX."""

    plain: str
    latex: str

    def __add__(self, other: Formula) -> Formula:
        return Formula(self.plain + other.plain, self.latex + other.latex)


@dataclass(frozen=True)
class Heading:
    """A title; level 1 opens a document."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A few words."""

    text: str


@dataclass(frozen=True)
class Working:
    """Formulas below each other, each with what is said behind it."""

    lines: tuple[tuple[Formula, str], ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells: the first column is flush left, numbers flush right; `last_left` for a column of remarks.

    `marked` are the rows to be set off. `more` is said below.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    last_left: bool = False
    marked: frozenset[int] = frozenset()
    more: str = ""


@dataclass(frozen=True)
class Items:
    """Points below each other."""

    texts: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class Verbatim:
    """Lines that stand as they are, a drawn tree for example."""

    text: str


@dataclass(frozen=True)
class Together:
    """Blocks that stand close: on a terminal without empty lines between them."""

    blocks: tuple[Heading | Paragraph | Working | Table | Items | Verbatim, ...]


Block = Heading | Paragraph | Working | Table | Items | Verbatim | Together
Document = tuple[Block, ...]


def name(text: str, limit: int | None = None) -> str:
    r"""Return a name from the data as it may stand in a line, whatever it consists of.

    Examples
    --------
    >>> name("two\nlines"), len(name("\u05d0\u05d1"))
    ('two\\nlines', 4)
    """
    shown = printable(text, limit)
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in shown):
        return f"{_ISOLATE}{shown}{_END}"
    return shown


def latex_name(text: str) -> str:
    r"""Return a name from the data as LaTeX that says it and does nothing.

    Examples
    --------
    >>> print(latex_name("play_tennis"), latex_name("a<b"))
    \text{play}\_\text{tennis} \text{a}\lt \text{b}
    """
    parts: list[str] = []
    plain = ""
    for character in printable(text):
        if character in _LATEX:
            parts += [rf"\text{{{plain}}}"] if plain else []
            parts.append(_LATEX[character])
            plain = ""
        else:
            plain += character
    parts += [rf"\text{{{plain}}}"] if plain else []
    return "".join(parts).rstrip() if parts else r"\text{}"


def said(plain: str, latex: str | None = None) -> Formula:
    """Return a piece of a formula that is ours; where LaTeX differs, both are given."""
    return Formula(plain, plain if latex is None else latex)


def named(text: str) -> Formula:
    """Return a name from the data as a piece of a formula."""
    return Formula(name(text), latex_name(text))


def worded(text: str) -> Formula:
    """Return words of a language as a piece of a formula."""
    return Formula(text, latex_name(text))


def fraction(above: float | str, below: float | str) -> Formula:
    r"""Return a fraction of two weights.

    Examples
    --------
    >>> print(fraction(9, 14).plain, fraction(9, 14).latex)
    9/14 \frac{9}{14}
    """
    top = above if isinstance(above, str) else number(above)
    bottom = below if isinstance(below, str) else number(below)
    return Formula(f"{top}/{bottom}", rf"\frac{{{top}}}{{{bottom}}}")


def joined(parts: Iterable[Formula], between: Formula) -> Formula:
    """Return pieces with another one between them."""
    pieces = list(parts)
    return Formula(
        between.plain.join(piece.plain for piece in pieces), between.latex.join(piece.latex for piece in pieces)
    )


EQUALS = Formula(" = ", " = ")
PLUS = Formula(" + ", " + ")
MINUS = Formula(" - ", " - ")
TIMES = Formula(" * ", r" \cdot ")
LOG2 = Formula(" log2 ", r" \log_2 ")


def width(text: str) -> int:
    """Return the columns that a text takes on a terminal: East Asian characters take two, marks and isolates none.

    Examples
    --------
    >>> width("gain"), width("屬性"), width("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    columns = 0
    for character in text:
        if unicodedata.category(character) in ("Mn", "Me", "Cf"):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return columns


def padded(text: str, columns: int, side: Literal["left", "right"]) -> str:
    """Return a text filled up to so many columns, flush on a side."""
    filling = " " * (columns - width(text))
    return text + filling if side == "left" else filling + text


def aligned(rows: Sequence[Sequence[str]], *, last_left: bool = False) -> list[str]:
    """Set rows of cells in columns: the first flush left, the others flush right.

    Examples
    --------
    >>> aligned([["outlook", "yes"], ["sunny", "2"]])
    ['outlook  yes', 'sunny      2']
    """
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [padded(row[0], widths[0], "left")]
        for column in range(1, len(row)):
            left = last_left and column == len(row) - 1
            cells.append(padded(row[column], widths[column], "left" if left else "right"))
        lines.append("  ".join(cells).rstrip())
    return lines
