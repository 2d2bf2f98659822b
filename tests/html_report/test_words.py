"""The words of the page: complete in every language, and every word that a module uses is there."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from treewright.errors import ParameterError
from treewright.explain.language import LANGUAGES
from treewright.html_report.document import page_catalogue, page_words


def sources() -> str:
    folder = files("treewright.html_report") / "static"
    return "\n".join(one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith((".js", ".html")))


def test_every_text_is_there_in_every_language_with_the_same_placeholders() -> None:
    for key, texts in page_catalogue().items():
        assert len(texts) == len(LANGUAGES), key
        assert all(text.strip() for text in texts), key
        indices = [set(re.findall(r"\{(\w+)\}", text)) for text in texts]
        assert all(one == indices[0] for one in indices), key


def test_every_word_of_the_page_is_in_the_catalogue() -> None:
    result = set(page_words("en"))
    text = sources()
    predicted = set(re.findall(r'\bt\("([a-z_.]+)"', text)) | set(re.findall(r"\{\{word\.([a-z_]+)\}\}", text))
    predicted |= {word for pair in re.findall(r'\bt\([^()]*? \? "([a-z_]+)" : "([a-z_]+)"', text) for word in pair}
    assert predicted - result == set()
    assert len(predicted) > 150


def test_no_word_is_left_over() -> None:
    text = sources() + (files("treewright.html_report") / "make.py").read_text(encoding="utf-8")
    for key in page_catalogue():
        prefix = key.split(".", maxsplit=1)[0]
        assert re.search(rf'["`.]{re.escape(key)}["}}]', text) or f"`{prefix}.$" in text, key


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ParameterError, match="de"):
        page_words("deu")
