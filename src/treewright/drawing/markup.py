"""Text in drawings: escaping for XML and HTML, and its width.

Widths are estimated without a font: they are those of common sans-serif fonts, rounded up, so that the text fits
whichever of them the reader has.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import escape

from treewright.errors import ParameterError

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may hold, not even escaped."""


def xml_text(text: str, limit: int | None = None) -> str:
    r"""Escape a text for an element or a quoted attribute; characters not allowed in XML become escape sequences.

    Examples
    --------
    >>> xml_text("</script> & 'x'"), xml_text("a\x00b\ufffe")
    ('&lt;/script&gt; &amp; &#x27;x&#x27;', 'a\\x00b\\ufffe')
    """
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return escape(spelled(text))


def spelled(text: str) -> str:
    r"""Replace characters not allowed in XML by escape sequences, so that the text is measured as it is shown.

    Examples
    --------
    >>> spelled("a\x00b\ufffe")
    'a\\x00b\\ufffe'
    """
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def decimal(value: float) -> str:
    """Format a length with one decimal, or none if it is whole.

    Examples
    --------
    >>> decimal(12.0), decimal(3.14159), decimal(-0.01)
    ('12', '3.1', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def hundredth(value: float) -> str:
    """Format a length with at most two decimals: parts of a bar must add up.

    Examples
    --------
    >>> hundredth(7.0), hundredth(3.14159), hundredth(2.5)
    ('7', '3.14', '2.5')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_NARROW = frozenset("iljI.,:;'|!()[]/\\ ft-·")
_WIDE = frozenset("mwMW@%…—")
_SIGNS = frozenset("<>=+~^#≤≥≠±")

BOLD = 1.12
"""Width of bold text relative to regular text."""


@lru_cache(maxsize=4096)
def _em(character: str) -> float:
    """Return the width of a character as a share of the font size."""
    if character in _NARROW:
        return 0.37
    if character in _WIDE:
        return 0.95
    if character in _SIGNS:
        return 0.84
    if character < "\x7f":
        return 0.70 if character.isupper() else 0.59
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF" or character >= "\U0001f000":
        return 1.25 if character >= "\U0001f000" else 1.02
    return 0.95 if character.isupper() else 0.70


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a line in the unit of the font size.

    Examples
    --------
    >>> round(text_width("Outlook", 10), 1), round(text_width("天氣", 10), 1)
    (38.0, 20.4)
    """
    return size * sum(map(_em, text)) * (BOLD if bold else 1.0)


def fitted(text: str, size: float, max_width: float, *, bold: bool = False) -> str:
    """Shorten a line to a width; an ellipsis marks the cut.

    Examples
    --------
    >>> fitted("Humidity", 10, 60), fitted("Humidity in the afternoon", 10, 60)
    ('Humidity', 'Humidity …')
    """
    if max_width < text_width("…", size, bold=bold):
        raise ParameterError(f"a width of {max_width} is too small for text")
    # No visible character is narrower than a third of the size: a text that is far too long is not measured to its end.
    most = int(4 * max_width / size) + 8
    if len(text) <= most and text_width(text, size, bold=bold) <= max_width:
        return text
    scale = size * (BOLD if bold else 1.0)
    left = max_width / scale - _em("…")
    kept = 0
    for character in text[:most]:
        left -= _em(character)
        if left < 0:
            break
        kept += 1
    return text[:kept] + "…"
