"""Texts of the explanations in four languages, from one catalogue.

`messages.json` has for each key the text in every language: a template with named placeholders, or, where the number
matters, one template for the singular and one for the plural. Numbers have a decimal point in all languages, so that
they can be compared with each other and with a calculation.

English is the default; a parameter or the environment variable ``TREEWRIGHT_LANG`` chooses another language. The locale
of the machine is ignored, so that the same command prints the same everywhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from treewright.errors import ParameterError
from treewright.wording import did_you_mean, number

LANGUAGES = ("en", "de", "it", "zh")
"""English, German, Italian, Traditional Chinese."""

VARIABLE = "TREEWRIGHT_LANG"
"""The environment variable that chooses a language."""

_TAGS = {"en": "en", "de": "de", "it": "it", "zh": "zh-Hant"}
_OTHER_NAMES = {"zh-hant": "zh", "zh_hant": "zh", "zh-tw": "zh", "zh_tw": "zh"}

Template = str | Mapping[str, str]


@dataclass(frozen=True)
class Words:
    """The texts of one language; a call returns one of them.

    Examples
    --------
    >>> message = words("de")
    >>> message("cases", n=1), message("cases", n=14), message("status.chosen")
    ('1 Beispiel', '14 Beispiele', 'gewählt')
    """

    lang: str

    @property
    def html_lang(self) -> str:
        """The tag of the language in HTML."""
        return _TAGS[self.lang]

    def __call__(self, key: str, **placeholders: Any) -> str:
        """Return a text with its placeholders filled in; the number `n` decides between singular and plural."""
        entry = catalogue().get(key)
        if entry is None:
            raise KeyError(f"the catalogue has no message {key!r}")
        template = entry[self.lang]
        if "n" in placeholders and isinstance(placeholders["n"], (int, float)):
            placeholders["n"] = number(placeholders["n"])
        if not isinstance(template, str):
            template = template["one" if placeholders.get("n") == "1" else "other"]
        return template.format_map(placeholders)

    def has(self, key: str) -> bool:
        """Return True if the catalogue has this message."""
        return key in catalogue()

    def joined(self, texts: list[str]) -> str:
        """Return texts with an "and" between them."""
        return self("and").join(texts)


def words(lang: str | None = None) -> Words:
    """Return the texts of a language.

    Parameters
    ----------
    lang : {"en", "de", "it", "zh"} or None
        ``"zh-Hant"`` is "zh". None takes ``TREEWRIGHT_LANG`` or, without it, English.

    Examples
    --------
    >>> words("it")("status.chosen"), words("zh-Hant").html_lang
    ('scelto', 'zh-Hant')
    """
    source = f" (from {VARIABLE})" if lang is None else ""
    requested = (os.environ.get(VARIABLE) or "en") if lang is None else lang
    plain = str(requested).lower()
    known = _OTHER_NAMES.get(plain, plain)
    if known not in LANGUAGES:
        names = ", ".join(repr(one) for one in LANGUAGES)
        hint = did_you_mean(plain, LANGUAGES)
        raise ParameterError(f"the language must be one of {names}, not {requested!r}{source}{hint}")
    return Words(known)


@cache
def catalogue() -> dict[str, dict[str, Template]]:
    """Return all messages: key, language, template."""
    text = (resources.files("treewright.explain") / "messages.json").read_text(encoding="utf-8")
    messages: dict[str, dict[str, Template]] = json.loads(text)
    return messages
