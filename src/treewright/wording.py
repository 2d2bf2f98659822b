"""Names and numbers in messages: printable text, formatted numbers, lists, and "did you mean ...?" hints."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

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


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest known name, or an empty string.

    Examples
    --------
    >>> did_you_mean("outlok", ["outlook", "wind"])
    "; did you mean 'outlook'?"
    >>> did_you_mean("zzz", ["outlook", "wind"])
    ''
    """
    names = list(known)
    lowered = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(wrong.casefold(), lowered, n=1, cutoff=0.6)
    return f"; did you mean {lowered[close[0]]!r}?" if close else ""


def quoted_list(names: Iterable[str], limit: int = 12) -> str:
    """Quote and join names for a message; show at most `limit` of them.

    Examples
    --------
    >>> quoted_list(["a", "b"])
    "'a', 'b'"
    >>> quoted_list("abcdef", limit=3)
    "'a', 'b', 'c' and 3 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def unknown_name(what: str, wrong: str, known: Iterable[str]) -> str:
    """Return the error message for an unknown name.

    Examples
    --------
    >>> unknown_name("column", "outlok", ["outlook", "wind"])
    "there is no column 'outlok'; did you mean 'outlook'? There are: 'outlook', 'wind'"
    """
    names = list(known)
    hint = did_you_mean(wrong, names) or "."
    return f"there is no {what} {wrong!r}{hint} There are: {quoted_list(names)}"
