"""One catalogue, four languages: complete, with the same placeholders, nothing left in English."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest

import treewright.explain
from treewright.errors import ParameterError
from treewright.explain.language import LANGUAGES, Template, Words, catalogue, words
from treewright.learners.cal.trace import Event
from treewright.tree.split import SplitStatus
from treewright.tree.tree import Stop

THE_SAME_EVERYWHERE = {
    "condition.is",
    "condition.in",
    "condition.between",
    "node.counts",
    "pruning.label.p",
    "join.semicolon",
}
"""Messages of signs and names only."""

SIGNS = {"Gini", "Var", "MDL", "CP", "cp", "alpha", "s", "z", "p", "FILE", "data"}
"""Words that are formulas or options, in every language."""


def forms(template: Template) -> list[str]:
    return [template] if isinstance(template, str) else list(template.values())


def indices(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def original_nodes(entry: Mapping[str, Template]) -> bool:
    requested = [indices(text) for template in entry.values() for text in forms(template)]
    return all(found == requested[0] for found in requested)


def test_every_message_has_every_language_with_the_same_placeholders() -> None:
    assert [key for key, entry in catalogue().items() if tuple(entry) != LANGUAGES or not original_nodes(entry)] == []


def test_plural_forms_are_one_and_other() -> None:
    plurals = [
        (key, lang, template)
        for key, entry in catalogue().items()
        for lang, template in entry.items()
        if not isinstance(template, str)
    ]
    assert plurals
    assert [(key, lang) for key, lang, template in plurals if set(template) != {"one", "other"}] == []
    assert [
        (key, lang) for key, lang, template in plurals if not all("n" in indices(text) for text in template.values())
    ] == []


def test_nothing_is_left_in_english() -> None:
    left = [
        (key, lang)
        for key, entry in catalogue().items()
        if key not in THE_SAME_EVERYWHERE
        for lang in LANGUAGES[1:]
        if set(forms(entry["en"])) & set(forms(entry[lang]))
    ]
    assert left == []


def is_chinese(text: str, *, signs_only: bool) -> bool:
    """Return True if the Latin words are signs, and whether there are others, unless signs are enough."""
    bare = re.sub(r"\{\w+\}", "", text)
    if not set(re.findall(r"[A-Za-z]+", bare)) <= SIGNS:
        return False
    return signs_only or any("CJK" in unicodedata.name(sign, "") for sign in bare) or not bare.strip("，。：；（）- ")


def test_chinese_has_no_latin_words_but_signs() -> None:
    plain = {*THE_SAME_EVERYWHERE, "head.leaf"}
    wrong = [
        (key, text)
        for key, entry in catalogue().items()
        for text in forms(entry["zh"])
        if not is_chinese(text, signs_only=key in plain)
    ]
    assert wrong == []


def test_chinese_is_traditional() -> None:
    simplified = set("节点树训练数据错误计类别属这为与从样们关系边层")
    for entry in catalogue().values():
        for text in forms(entry["zh"]):
            assert not set(text) & simplified


def test_every_status_stop_and_event_has_its_message() -> None:
    known = set(catalogue())
    assert {f"status.{one.name.lower()}" for one in SplitStatus} <= known
    assert {f"stop.{one.name.lower()}" for one in Stop} <= known
    assert {f"cal.{one.name.lower()}" for one in Event} <= known


def test_no_message_is_unused_and_none_is_asked_for_that_is_not_there() -> None:
    folder = Path(treewright.explain.__file__).parent
    source = "\n".join(path.read_text() for path in folder.glob("*.py"))
    requested = set(re.findall(r"(?:message|self)\(\s*\"([a-z_.]+)\"", source))
    assert requested <= set(catalogue())
    made = set(re.findall(r"f[\"']([a-z_]+\.[a-z_.]*)\{", source))
    quoted = set(re.findall(r"[\"']([a-z_]+(?:\.[a-z_]+)*)[\"']", source))
    for key in catalogue():
        assert key in quoted or any(key.startswith(start) for start in made), key


def test_numbers_of_things_choose_the_form() -> None:
    assert [words("en")("cases", n=n) for n in (0, 1, 1.0, 1.5, 2)] == [
        "0 cases",
        "1 case",
        "1 case",
        "1.5 cases",
        "2 cases",
    ]
    assert words("it")("leaves", n=1) == "1 foglia"
    assert words("zh")("cases", n=1) == "1 筆案例"


def test_english_is_spoken_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREEWRIGHT_LANG", raising=False)
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert words() == Words("en")
    monkeypatch.setenv("TREEWRIGHT_LANG", "zh-Hant")
    assert words() == Words("zh")
    assert words("DE").lang == "de"


def test_unknown_language_is_reported_with_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=r"must be one of 'en', 'de', 'it', 'zh', not 'xx'$"):
        words("xx")
    monkeypatch.setenv("TREEWRIGHT_LANG", "klingon")
    with pytest.raises(ParameterError, match=r"not 'klingon' \(from TREEWRIGHT_LANG\)"):
        words()


def test_message_that_is_not_there_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError, match=r"no message 'nothing\.such'"):
        words("en")("nothing.such")
