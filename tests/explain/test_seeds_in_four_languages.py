"""The numbers of the lectures stand in the explanations of their tables, whatever the language and the form."""

from __future__ import annotations

import re

import pytest

from treewright.data.samples import sample
from treewright.explain.language import LANGUAGES
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.plans import c45, cart, id3

NUMBERS = {
    "six-rows": ["0.918", "0.252", "0.044", "0.126"],
    "play-tennis": ["0.940", "0.985", "0.592", "0.152", "0.811", "1.000", "0.048", "0.247", "0.029"],
    "restaurant": ["1.000", "0.459", "0.541"],
    "contact-lenses": ["1.326", "1.287"],
}
"""The entropies, remainders and gains that the lectures write down, to three decimals."""


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("table", NUMBERS)
def test_numbers_of_the_blackboard_are_there(table: str, lang: str) -> None:
    root = explain_node(fit(sample(table), id3()))
    for shown in (root.to_text(lang), root.to_markdown(lang).replace("\\", ""), root.to_html(lang)):
        for number in NUMBERS[table]:
            assert number in shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_ratio_and_split_information_of_the_italian_lecture(lang: str) -> None:
    text = explain_node(fit(sample("play-tennis"), c45())).to_text(lang)
    assert "1.577" in text
    assert "0.156" in text
    assert "- 9/14 log2 9/14 - 5/14 log2 5/14 = 0.940" in text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_gini_of_the_contact_lenses_is_there_too(lang: str) -> None:
    """Of 4, 5 and 15 cases, as in the lecture; it rounds to 0.538."""
    text = explain_node(fit(sample("contact-lenses"), cart())).to_text(lang)
    assert re.search(r"= 1 (- \((4|5|15)/24\)\^2 ){3}= 0\.538$", text, re.MULTILINE)


def test_all_languages_have_the_same_numbers() -> None:
    root = explain_node(fit(sample("play-tennis"), c45()))
    numbers = {lang: sorted(re.findall(r"\d+\.\d+", root.to_text(lang))) for lang in LANGUAGES}
    assert len({tuple(found) for found in numbers.values()}) == 1


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_no_english_word_is_left_in_a_whole_explanation(lang: str) -> None:
    """Only names from the table, signs and commands may look English."""
    data = sample("play-tennis")
    model = fit(data, c45())
    named = {
        *data.schema.attribute_names,
        "PlayTennis",
        "Yes",
        "No",
        *(v for c in data.schema.columns for v in c.values),
    }
    result = "\n".join(
        one.to_text(lang)
        for one in (
            explain_node(model),
            model.explain(),
            model.explain({"Humidity": "High"}),
            model.explain(steps=True, data=data),
            model.explain(pruning=True, data=data),
            model.explain(pruning=True),
        )
    )
    english = {"node", "root", "cases", "leaf", "gain", "the", "and", "is", "chosen", "ratio", "attribute", "missing"}
    found = set(re.findall(r"[A-Za-z]+", result)) - named
    assert not found & english
