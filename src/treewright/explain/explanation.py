"""What every explanation can do, whatever it explains: be data, lines, Markdown, HTML, in any of the languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any

from treewright.explain.document import Document
from treewright.explain.forms import LARGEST_FRAGMENT, Emphasis, html_of, markdown_of, text_of
from treewright.explain.language import Words, words


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
