"""How wide words are when they are printed, without a font at hand.

The widths are those of common sans-serif fonts, rounded up, so that words fit whichever of them the reader has.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from treewright._base.errors import ParameterError

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
