"""Texts of the page in the four languages of `treewright.explain.language`.

The page has its own catalogue, `words.json`: a list of texts for each key, in the order of `LANGUAGES`. The texts of
explanations (status of attributes, reasons to stop, notes) come from the catalogue of the explanations.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from treewright.explain.language import LANGUAGES, catalogue, words
from treewright.model.tree import STOPS
from treewright.model.working import SplitStatus


def page_words(lang: str | None = None) -> dict[str, str]:
    """Return all texts of the page in a language.

    Examples
    --------
    >>> page_words("de")["leaves"], page_words("en")["verdict.chosen"]
    ('Blätter', 'chosen')
    """
    say = words(lang)
    place = LANGUAGES.index(say.lang)
    told = {key: texts[place] for key, texts in page_catalogue().items()}
    keys = [f"verdict.{verdict.name.lower()}" for verdict in SplitStatus]
    keys += [f"stop.{stop.name.lower()}" for stop in STOPS]
    keys += [key for key in catalogue() if key.startswith("note.")]
    return told | {key: say(key) for key in keys}


@cache
def page_catalogue() -> dict[str, list[str]]:
    """Return the texts of the page: for each key one in every language."""
    text = (files("treewright.show.report") / "words.json").read_text(encoding="utf-8")
    catalogue_of_page: dict[str, list[str]] = json.loads(text)
    return catalogue_of_page
