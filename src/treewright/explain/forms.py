"""A document set in a form: lines for a terminal, Markdown with LaTeX, or a fragment of HTML.

Every text of a block is escaped here, all of it and for the form at hand; see `treewright.explain.document`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from treewright.explain.document import (
    Block,
    Document,
    Heading,
    Items,
    Paragraph,
    Table,
    Together,
    Verbatim,
    Working,
    aligned,
)
from treewright.explain.language import Words

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
