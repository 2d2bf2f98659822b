"""Formatting of names and numbers for a terminal or a text file."""

from __future__ import annotations

import unicodedata

_ESCAPED_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def printable(text: str, limit: int | None = None) -> str:
    r"""Escape characters that break a line, control a terminal or change the text direction.

    Examples
    --------
    >>> printable("two\nlines"), printable("\x1b[31mred"), printable("a very long value", limit=10)
    ('two\\nlines', '\\x1b[31mred', 'a very lo…')
    """
    if not text.isprintable():
        text = "".join(
            character.encode("unicode_escape").decode("ascii")
            if unicodedata.category(character) in _ESCAPED_CATEGORIES
            else character
            for character in text
        )
    return text[: limit - 1] + "…" if limit is not None and len(text) > limit else text


def number(value: float, decimals: int = 1) -> str:
    """Format a weight: integers without decimals, other numbers with `decimals` of them.

    Examples
    --------
    >>> number(14.0), number(15.26785), number(2.0000000001)
    ('14', '15.3', '2')
    """
    text = f"{float(value):.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text  # a small negative number that rounds to zero
