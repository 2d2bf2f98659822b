"""An explanation as a document, and its forms: text, Markdown, HTML, data.

An explanation before it is rendered: headings, paragraphs, formulas, tables. The texts of a block are plain: not
escaped, and without markup. The renderers (`treewright.explain.document`) escape all of them, so that names from the
data stay inert. A formula exists twice, as a line for a terminal and as LaTeX; the functions below escape names for
LaTeX when they insert them. A right-to-left name stands between Unicode isolates, so that it cannot reorder its
neighbours.

A document set in a form: lines for a terminal, Markdown with LaTeX, or a fragment of HTML. Every text of a block is
escaped here, all of it and for the form at hand; see `treewright.explain.document`.

What every explanation can do, whatever it explains: be data, lines, Markdown, HTML, in any of the languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from html import escape
from math import isfinite
from typing import Any, Literal

from treewright.explain.language import Words, words
from treewright.wording import number, printable

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


_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~$^&:@])")
"""What Markdown, in some dialect, could take for markup."""

Emphasis = Callable[[str], str]

LARGEST_FRAGMENT = 50_000
"""Bytes of HTML that an explanation shows in a notebook at most."""


# -- text --------------------------------------------------------------------------------------------------------------


def text_of(document: Document, emphasise: Emphasis | None = None) -> str:
    """Return lines for a terminal; blocks have an empty line between them."""
    return "\n\n".join(_text(block, emphasise or str) for block in document)


def _text(block: Block, strong: Emphasis) -> str:
    match block:
        case Heading(text, _):
            return strong(text)
        case Paragraph(text) | Verbatim(text):
            return text
        case Working(lines):
            return "\n".join(f"{formula.plain}{behind}" for formula, behind in lines)
        case Table():
            heads, *rows = aligned([block.heads, *block.rows], last_left=block.last_left)
            rows = [heads, *(strong(row) if place in block.marked else row for place, row in enumerate(rows))]
            return "\n".join([*rows, block.more] if block.more else rows)
        case Items(texts, numbered):
            return "\n".join(
                f"{place}. {text}" if numbered else f"- {text}" for place, text in enumerate(texts, start=1)
            )
        case Together(blocks):
            return "\n".join(_text(one, strong) for one in blocks)


# -- Markdown ----------------------------------------------------------------------------------------------------------


def markdown_of(document: Document) -> str:
    """Return Markdown; formulas are LaTeX between ``$$``."""
    return "\n\n".join(_markdown(block) for block in document) + "\n"


def markdown_text(text: str) -> str:
    r"""Escape a text for Markdown.

    Examples
    --------
    >>> print(markdown_text("<b>*x*"))
    \<b\>\*x\*
    """
    return _MARKUP.sub(r"\\\1", text)


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Working(lines):
            return "\n\n".join(f"$$ {formula.latex} $${_behind(behind)}" for formula, behind in lines)
        case Table():
            return _markdown_table(block)
        case Items(texts, numbered):
            return "\n".join(
                f"{place}. {markdown_text(text)}" if numbered else f"- {markdown_text(text)}"
                for place, text in enumerate(texts, start=1)
            )
        case Verbatim(text):
            # In a fence longer than any in the text nothing is markup.
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}\n{text}\n{fence}"
        case Together(blocks):
            return "\n\n".join(_markdown(one) for one in blocks)


def _behind(text: str) -> str:
    return f"\n\n{markdown_text(text.strip(' ,;'))}" if text.strip(" ,;") else ""


def _markdown_table(table: Table) -> str:
    last = len(table.heads) - 1
    dashes = [":--" if column == 0 or (table.last_left and column == last) else "--:" for column in range(last + 1)]
    lines = [_markdown_row(table.heads), "| " + " | ".join(dashes) + " |"]
    for place, row in enumerate(table.rows):
        cells = [markdown_text(cell) for cell in row]
        if place in table.marked:
            cells[0] = f"**{cells[0]}**"
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", markdown_text(table.more)] if table.more else lines)


def _markdown_row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(markdown_text(cell) for cell in cells) + " |"


# -- HTML --------------------------------------------------------------------------------------------------------------


def html_of(document: Document, words: Words, largest: int | None = None) -> str:
    """Return a fragment of HTML without scripts and styles.

    Parameters
    ----------
    document : Document
    words : Words
    largest : int or None
        Bytes; blocks that do not fit any more are left out, and it is said so.
    """
    opening = f'<section class="treewright-explanation" lang="{words.html_lang}" dir="ltr">'
    closing = "</section>"
    pieces, size = [opening], len(opening) + len(closing) + 500
    for block in document:
        piece = _html(block)
        size += len(piece.encode()) + 1
        if largest is not None and size > largest:
            pieces.append(f"<p>{escape(words('html.more'))}</p>")
            break
        pieces.append(piece)
    return "\n".join([*pieces, closing])


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level + 2}>{escape(text)}</h{level + 2}>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Working(lines):
            rows = "<br>".join(f"<code>{escape(formula.plain)}</code>{escape(behind)}" for formula, behind in lines)
            return f"<p>{rows}</p>"
        case Table():
            return _html_table(block)
        case Items(texts, numbered):
            kind = "ol" if numbered else "ul"
            return f"<{kind}>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + f"</{kind}>"
        case Verbatim(text):
            return f"<pre>{escape(text)}</pre>"
        case Together(blocks):
            return "".join(_html(one) for one in blocks)


def _html_table(table: Table) -> str:
    last = len(table.heads) - 1
    left, right = (f' style="text-align:{side};padding:0 .5em"' for side in ("left", "right"))
    sides = [left if column == 0 or (table.last_left and column == last) else right for column in range(last + 1)]
    heads = "".join(f'<th scope="col"{side}>{escape(head)}</th>' for head, side in zip(table.heads, sides, strict=True))
    lines = [f"<table><thead><tr>{heads}</tr></thead><tbody>"]
    for place, row in enumerate(table.rows):
        first = f'<th scope="row"{sides[0]}>{escape(row[0])}</th>'
        rest = "".join(f"<td{side}>{escape(cell)}</td>" for cell, side in zip(row[1:], sides[1:], strict=True))
        row_tag = '<tr class="chosen">' if place in table.marked else "<tr>"
        lines.append(f"{row_tag}{first}{rest}</tr>")
    lines.append("</tbody></table>" + (f"<p>{escape(table.more)}</p>" if table.more else ""))
    return "".join(lines)


class Explanation:
    """Base of the explanations; subclasses are frozen dataclasses that say themselves as a document."""

    def document(self, say: Words) -> Document:
        """Return what is to be said, in the words of a language."""
        raise NotImplementedError  # every explanation has its own

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; numbers that do not exist are left out."""
        plain: dict[str, Any] = plain_data(self)
        return plain

    def to_text(self, lang: str | None = None, *, emphasise: Emphasis | None = None) -> str:
        """Return lines for a terminal.

        Parameters
        ----------
        lang : {"en", "de", "it", "zh"} or None
            See `treewright.explain.language.words`.
        emphasise : callable or None
            What is done to the lines that matter: headings, and the row of what was chosen.
        """
        return text_of(self.document(words(lang)), emphasise)

    def to_markdown(self, lang: str | None = None) -> str:
        """Return Markdown with formulas in LaTeX."""
        return markdown_of(self.document(words(lang)))

    def to_html(self, lang: str | None = None) -> str:
        """Return a fragment of HTML; everything in it is escaped and nothing runs."""
        say = words(lang)
        return html_of(self.document(say), say)

    def _repr_html_(self) -> str:
        say = words(None)
        return html_of(self.document(say), say, LARGEST_FRAGMENT)

    def __str__(self) -> str:
        return self.to_text()


def plain_data(value: Any) -> Any:
    """Return lists, dicts, texts and finite numbers for an explanation or a part of it."""
    if is_dataclass(value) and not isinstance(value, type):
        told = {field.name: getattr(value, field.name) for field in fields(value)}
        return {key: plain_data(one) for key, one in told.items() if not _absent(one)}
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain_data(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [None if isinstance(one, float) and not isfinite(one) else plain_data(one) for one in value]
    return value


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not isfinite(value))
