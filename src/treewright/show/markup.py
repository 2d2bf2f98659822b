"""Words from the data inside XML and HTML: inert and legible."""

from __future__ import annotations

import re
from html import escape

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
