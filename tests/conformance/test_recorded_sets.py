"""Every engine learns the same bytes from the recorded sets."""

from __future__ import annotations

import functools

import pytest

from conformance.engines import ALL, ENGINES, OTHERS, OUT_OF_CORE, REFERENCE, marks_of, saved
from conformance.likeness import differences
from oracle_sets import load_set, set_names
from treewright.errors import ParameterError
from treewright.plans import Plan, c45, cart, chaid, id3
from treewright.tree.model import TreeModel

PLANS: dict[str, Plan] = {"id3": id3(), "c45": c45(), "cart": cart(), "chaid": chaid()}

FEW = ("weather-nominal", "weather-numeric", "contact-lenses")
"""Sets that every engine learns from."""

SOME = (*FEW, "restaurant", "labor", "zoo", "monks-1", "iris", "lymph")
"""Sets that engines learn from which answer quickly."""

MANY = (*SOME, "monks-3", "wine", "glass", "heart-statlog", "ecoli", "breast-cancer", "balance-scale", "vote")

NAMED = {
    "compiled": MANY,
    "duckdb": SOME,
    "duckdb by runs": ("iris", "weather-numeric"),
    "postgresql": FEW,
    "spark": ("weather-numeric",),
    "dask": SOME,
    "dask by runs": ("iris", "weather-numeric", "glass"),
    "dask cluster": FEW,
}
"""The sets of an ordinary run; all of them with ``TREEWRIGHT_ALL_ENGINES=1`` (``make test-long``)."""

CLASSIFICATION = [
    pytest.param(engine, name, marks=marks_of(engine))
    for name in set_names("classification")
    for engine in OTHERS
    if ALL or name in NAMED[engine]
]
REGRESSION = [
    pytest.param(engine, name, marks=marks_of(engine))
    for name in set_names("regression")
    for engine in OTHERS
    if ALL or (name in ("auto-mpg", "cpu") and engine in ("compiled", "duckdb", "dask"))
]

pytestmark = pytest.mark.oracle


@functools.cache
def _reference(name: str, plan: str) -> TreeModel:
    return ENGINES[REFERENCE](load_set(name), PLANS[plan])


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize(("engine", "name"), CLASSIFICATION)
def test_the_saved_model_is_the_same_to_the_byte(engine: str, name: str, plan: str) -> None:
    data = load_set(name)
    if plan == "c45" and data.has_missing:
        if engine in OUT_OF_CORE:
            with pytest.raises(
                ParameterError, match=r"C4\.5 sends cases with a missing value down several branches, which"
            ):
                ENGINES[engine](data, PLANS[plan])
        else:
            assert differences(_reference(name, plan), ENGINES[engine](data, PLANS[plan])) == []
        return
    assert saved(ENGINES[engine](data, PLANS[plan])) == saved(_reference(name, plan))


@pytest.mark.parametrize(("engine", "name"), REGRESSION)
def test_a_regression_tree_is_the_same_and_its_numbers_are_to_a_billionth(engine: str, name: str) -> None:
    assert differences(_reference(name, "cart"), ENGINES[engine](load_set(name), PLANS["cart"])) == []
