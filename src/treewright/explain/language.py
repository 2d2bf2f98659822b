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
    """The texts of one language; calling it says one.

    Examples
    --------
    >>> say = words("de")
    >>> say("cases", n=1), say("cases", n=14), say("verdict.chosen")
    ('1 Beispiel', '14 Beispiele', 'gewählt')
    """

    lang: str

    @property
    def html_lang(self) -> str:
        """The tag of the language in HTML."""
        return _TAGS[self.lang]

    def __call__(self, key: str, **places: Any) -> str:
        """Return a text with its places filled; `n`, a number of things, decides between one and several."""
        entry = catalogue().get(key)
        if entry is None:
            raise KeyError(f"the catalogue has no message {key!r}")
        template = entry[self.lang]
        if "n" in places and isinstance(places["n"], (int, float)):
            places["n"] = number(places["n"])
        if not isinstance(template, str):
            template = template["one" if places.get("n") == "1" else "other"]
        return template.format_map(places)

    def has(self, key: str) -> bool:
        """Return True if the catalogue has this message."""
        return key in catalogue()

    def joined(self, texts: list[str]) -> str:
        """Return texts with an "and" between them."""
        return self("and").join(texts)


def words(lang: str | None = None) -> Words:
    """Return the words of a language.

    Parameters
    ----------
    lang : {"en", "de", "it", "zh"} or None
        ``"zh-Hant"`` is "zh". None takes ``TREEWRIGHT_LANG`` or, without it, English.

    Examples
    --------
    >>> words("it")("verdict.chosen"), words("zh-Hant").html_lang
    ('scelto', 'zh-Hant')
    """
    source = f" (from {VARIABLE})" if lang is None else ""
    asked = (os.environ.get(VARIABLE) or "en") if lang is None else lang
    plain = str(asked).lower()
    known = _OTHER_NAMES.get(plain, plain)
    if known not in LANGUAGES:
        names = ", ".join(repr(one) for one in LANGUAGES)
        hint = did_you_mean(plain, LANGUAGES)
        raise ParameterError(f"the language must be one of {names}, not {asked!r}{source}{hint}")
    return Words(known)


@cache
def catalogue() -> dict[str, dict[str, Template]]:
    """Return all messages: key, language, template."""
    text = (resources.files("treewright.explain") / "messages.json").read_text(encoding="utf-8")
    messages: dict[str, dict[str, Template]] = json.loads(text)
    return messages
