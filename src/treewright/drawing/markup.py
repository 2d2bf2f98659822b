"""Text in drawings: escaped for XML and HTML, and how wide it is.

Words from the data inside XML and HTML: inert and legible.

How wide words are when they are printed, without a font at hand. The widths are those of common sans-serif fonts,
rounded up, so that words fit whichever of them the reader has.
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
    r"""Escape a text for an element or an attribute in quotes; what XML cannot hold is spelled out.

    Examples
    --------
    >>> xml_text("</script> & 'x'"), xml_text("a\x00b\ufffe")
    ('&lt;/script&gt; &amp; &#x27;x&#x27;', 'a\\x00b\\ufffe')
    """
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return escape(spelled(text))


def spelled(text: str) -> str:
    r"""Spell out what XML cannot hold, so that it can be measured as it will be seen.

    Examples
    --------
    >>> spelled("a\x00b\ufffe")
    'a\\x00b\\ufffe'
    """
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def decimal(value: float) -> str:
    """Write a length with one decimal, or none where it is whole.

    Examples
    --------
    >>> decimal(12.0), decimal(3.14159), decimal(-0.01)
    ('12', '3.1', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def hundredth(value: float) -> str:
    """Write a length with two decimals at most: parts of a bar must add up.

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
"""Bold words are so much wider."""


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


def fitted(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Shorten a line to the room there is; an ellipsis says that something was left out.

    Examples
    --------
    >>> fitted("Humidity", 10, 60), fitted("Humidity in the afternoon", 10, 60)
    ('Humidity', 'Humidity …')
    """
    if room < text_width("…", size, bold=bold):
        raise ParameterError(f"there is no room for words in a width of {room}")
    # No character that has a width is narrower than a third: what is far too long need not be measured to its end.
    most = int(4 * room / size) + 8
    if len(text) <= most and text_width(text, size, bold=bold) <= room:
        return text
    scale = size * (BOLD if bold else 1.0)
    left = room / scale - _em("…")
    kept = 0
    for character in text[:most]:
        left -= _em(character)
        if left < 0:
            break
        kept += 1
    return text[:kept] + "…"
