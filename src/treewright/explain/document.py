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
class MathFormula:
    """A formula as a plain line and as LaTeX."""

    plain: str
    latex: str

    def __add__(self, other: MathFormula) -> MathFormula:
        return MathFormula(self.plain + other.plain, self.latex + other.latex)


@dataclass(frozen=True)
class Heading:
    """A title; level 1 opens a document."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text."""

    text: str


@dataclass(frozen=True)
class Derivation:
    """Formulas below each other, each with a remark behind it."""

    lines: tuple[tuple[MathFormula, str], ...]


@dataclass(frozen=True)
class TableBlock:
    """Rows of cells: the first column is flush left, numbers flush right; `last_left` for a column of remarks.

    `marked` are the rows to highlight. `more` is a line below the table.
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
    """Preformatted lines, such as a tree drawn as text."""

    text: str


@dataclass(frozen=True)
class Together:
    """Blocks that belong together: on a terminal there is no empty line between them."""

    blocks: tuple[Heading | Paragraph | Derivation | TableBlock | Items | Verbatim, ...]


Block = Heading | Paragraph | Derivation | TableBlock | Items | Verbatim | Together
Document = tuple[Block, ...]


def name(text: str, limit: int | None = None) -> str:
    r"""Return a name from the data as printable text in one line.

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
    r"""Return a name from the data as LaTeX text without commands of its own.

    Examples
    --------
    >>> print(latex_name("play_tennis"), latex_name("a<b"))
    \text{play}\_\text{tennis} \text{a}\lt \text{b}
    """
    split_held_out: list[str] = []
    plain = ""
    for character in printable(text):
        if character in _LATEX:
            split_held_out += [rf"\text{{{plain}}}"] if plain else []
            split_held_out.append(_LATEX[character])
            plain = ""
        else:
            plain += character
    split_held_out += [rf"\text{{{plain}}}"] if plain else []
    return "".join(split_held_out).rstrip() if split_held_out else r"\text{}"


def literal(plain: str, latex: str | None = None) -> MathFormula:
    """Return a literal part of a formula; `latex` only where it differs."""
    return MathFormula(plain, plain if latex is None else latex)


def named(text: str) -> MathFormula:
    """Return a name from the data as a part of a formula."""
    return MathFormula(name(text), latex_name(text))


def worded(text: str) -> MathFormula:
    """Return text as a part of a formula."""
    return MathFormula(text, latex_name(text))


def fraction(above: float | str, below: float | str) -> MathFormula:
    r"""Return a fraction of two weights.

    Examples
    --------
    >>> print(fraction(9, 14).plain, fraction(9, 14).latex)
    9/14 \frac{9}{14}
    """
    top = above if isinstance(above, str) else number(above)
    bottom = below if isinstance(below, str) else number(below)
    return MathFormula(f"{top}/{bottom}", rf"\frac{{{top}}}{{{bottom}}}")


def joined(split_held_out: Iterable[MathFormula], between: MathFormula) -> MathFormula:
    """Return the parts with a separator between them."""
    fragments = list(split_held_out)
    return MathFormula(
        between.plain.join(fragment.plain for fragment in fragments),
        between.latex.join(fragment.latex for fragment in fragments),
    )


EQUALS = MathFormula(" = ", " = ")
PLUS = MathFormula(" + ", " + ")
MINUS = MathFormula(" - ", " - ")
TIMES = MathFormula(" * ", r" \cdot ")
LOG2 = MathFormula(" log2 ", r" \log_2 ")


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
"""Most bytes of HTML that an explanation shows in a notebook."""


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
        case Derivation(lines):
            return "\n".join(f"{formula.plain}{behind}" for formula, behind in lines)
        case TableBlock():
            heads, *rows = aligned([block.heads, *block.rows], last_left=block.last_left)
            rows = [heads, *(strong(row) if index in block.marked else row for index, row in enumerate(rows))]
            return "\n".join([*rows, block.more] if block.more else rows)
        case Items(texts, numbered):
            return "\n".join(
                f"{index}. {text}" if numbered else f"- {text}" for index, text in enumerate(texts, start=1)
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
        case Derivation(lines):
            return "\n\n".join(f"$$ {formula.latex} $${_behind(behind)}" for formula, behind in lines)
        case TableBlock():
            return _markdown_table(block)
        case Items(texts, numbered):
            return "\n".join(
                f"{index}. {markdown_text(text)}" if numbered else f"- {markdown_text(text)}"
                for index, text in enumerate(texts, start=1)
            )
        case Verbatim(text):
            # In a fence longer than any in the text nothing is markup.
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}\n{text}\n{fence}"
        case Together(blocks):
            return "\n\n".join(_markdown(one) for one in blocks)


def _behind(text: str) -> str:
    return f"\n\n{markdown_text(text.strip(' ,;'))}" if text.strip(" ,;") else ""


def _markdown_table(table: TableBlock) -> str:
    last = len(table.heads) - 1
    dashes = [":--" if column == 0 or (table.last_left and column == last) else "--:" for column in range(last + 1)]
    lines = [_markdown_row(table.heads), "| " + " | ".join(dashes) + " |"]
    for index, row in enumerate(table.rows):
        cells = [markdown_text(cell) for cell in row]
        if index in table.marked:
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
        Most bytes; blocks beyond that are left out, and a sentence says so.
    """
    opening = f'<section class="treewright-explanation" lang="{words.html_lang}" dir="ltr">'
    closing = "</section>"
    fragments, size = [opening], len(opening) + len(closing) + 500
    for block in document:
        fragment = _html(block)
        size += len(fragment.encode()) + 1
        if largest is not None and size > largest:
            fragments.append(f"<p>{escape(words('html.more'))}</p>")
            break
        fragments.append(fragment)
    return "\n".join([*fragments, closing])


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level + 2}>{escape(text)}</h{level + 2}>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Derivation(lines):
            rows = "<br>".join(f"<code>{escape(formula.plain)}</code>{escape(behind)}" for formula, behind in lines)
            return f"<p>{rows}</p>"
        case TableBlock():
            return _html_table(block)
        case Items(texts, numbered):
            kind = "ol" if numbered else "ul"
            return f"<{kind}>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + f"</{kind}>"
        case Verbatim(text):
            return f"<pre>{escape(text)}</pre>"
        case Together(blocks):
            return "".join(_html(one) for one in blocks)


def _html_table(table: TableBlock) -> str:
    last = len(table.heads) - 1
    left, right = (f' style="text-align:{side};padding:0 .5em"' for side in ("left", "right"))
    sides = [left if column == 0 or (table.last_left and column == last) else right for column in range(last + 1)]
    heads = "".join(f'<th scope="col"{side}>{escape(head)}</th>' for head, side in zip(table.heads, sides, strict=True))
    lines = [f"<table><thead><tr>{heads}</tr></thead><tbody>"]
    for index, row in enumerate(table.rows):
        first = f'<th scope="row"{sides[0]}>{escape(row[0])}</th>'
        rest = "".join(f"<td{side}>{escape(cell)}</td>" for cell, side in zip(row[1:], sides[1:], strict=True))
        row_tag = '<tr class="chosen">' if index in table.marked else "<tr>"
        lines.append(f"{row_tag}{first}{rest}</tr>")
    lines.append("</tbody></table>" + (f"<p>{escape(table.more)}</p>" if table.more else ""))
    return "".join(lines)


class Explanation:
    """Base of the explanations; subclasses are frozen dataclasses that return themselves as a document."""

    def document(self, message: Words) -> Document:
        """Return the explanation as a document in a language."""
        raise NotImplementedError  # every explanation has its own

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; missing and non-finite numbers are left out."""
        plain: dict[str, Any] = plain_data(self)
        return plain

    def to_text(self, lang: str | None = None, *, emphasise: Emphasis | None = None) -> str:
        """Return lines for a terminal.

        Parameters
        ----------
        lang : {"en", "de", "it", "zh"} or None
            See `treewright.explain.language.words`.
        emphasise : callable or None
            Applied to headings and to the row of the chosen attribute.
        """
        return text_of(self.document(words(lang)), emphasise)

    def to_markdown(self, lang: str | None = None) -> str:
        """Return Markdown with formulas in LaTeX."""
        return markdown_of(self.document(words(lang)))

    def to_html(self, lang: str | None = None) -> str:
        """Return a fragment of HTML; everything in it is escaped and nothing runs."""
        message = words(lang)
        return html_of(self.document(message), message)

    def _repr_html_(self) -> str:
        message = words(None)
        return html_of(self.document(message), message, LARGEST_FRAGMENT)

    def __str__(self) -> str:
        return self.to_text()


def plain_data(value: Any) -> Any:
    """Return lists, dicts, texts and finite numbers for an explanation or a part of it."""
    if is_dataclass(value) and not isinstance(value, type):
        values = {field.name: getattr(value, field.name) for field in fields(value)}
        return {key: plain_data(one) for key, one in values.items() if not _absent(one)}
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain_data(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [None if isinstance(one, float) and not isfinite(one) else plain_data(one) for one in value]
    return value


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not isfinite(value))
