"""The bundled tables are those of their sources."""

from __future__ import annotations

from collections import Counter

import pytest

from treewright.data.samples import SAMPLES, sample, sample_schema, sample_table
from treewright.errors import ParameterError

COUNTS = {
    "play-tennis": {"Yes": 9, "No": 5},
    "restaurant": {"T": 6, "F": 6},
    "contact-lenses": {"hard": 4, "soft": 5, "none": 15},
    "six-rows": {"A": 4, "B": 2},
    "cal2": {"A": 3, "B": 2},
    "cal3": {"A": 3, "B": 2},
}


def test_every_sample_has_its_counts_checked() -> None:
    assert set(SAMPLES) == set(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_the_classes_are_as_frequent_as_in_the_source(name: str) -> None:
    data = sample(name)
    assert Counter(data.y.tolist()) == COUNTS[name]
    assert len(SAMPLES[name].source) > 20
    assert data.source == f"sample:{name}"


def test_the_lenses_are_all_combinations_once() -> None:
    lenses = sample("contact-lenses")
    rows = set(zip(*(column.tolist() for column in lenses.columns), strict=True))
    assert len(rows) == len(lenses) == 24


@pytest.mark.parametrize("name", COUNTS)
def test_no_cell_is_missing_and_every_category_is_used(name: str) -> None:
    for column in sample(name).columns:
        assert column.min() >= 0
    for attribute in sample_schema(name).attributes:
        assert len(attribute.values) >= 2


def test_the_known_frequencies_of_the_tennis_table() -> None:
    weather = sample("play-tennis")
    pairs = Counter(zip(weather["Outlook"].tolist(), weather.y.tolist(), strict=True))
    assert pairs == {
        ("Sunny", "Yes"): 2,
        ("Sunny", "No"): 3,
        ("Overcast", "Yes"): 4,
        ("Rain", "Yes"): 3,
        ("Rain", "No"): 2,
    }


def test_the_table_form_has_lines_and_its_schema() -> None:
    raw = sample_table("six-rows")
    assert raw.lines is not None
    assert raw.lines.tolist() == [1, 2, 3, 4, 5, 6]
    assert raw.declared == sample_schema("six-rows")


def test_a_wrong_name_lists_the_samples() -> None:
    with pytest.raises(ParameterError, match="no sample 'restaurnt'; did you mean 'restaurant'"):
        sample("restaurnt")
