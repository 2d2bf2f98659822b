"""One tree for a forest: its predictions are those of the forest, and its fidelity is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ensembles.made_cases import two_moons, wave
from treewright.data.samples import sample
from treewright.ensembles.distil import distil, with_artificial_cases
from treewright.ensembles.plan import forest
from treewright.errors import DataError, ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, Stopping
from treewright.plans import cart

TRAIN, TEST = two_moons(200, noise=0.15), two_moons(300, seed=9)
FOREST = fit(TRAIN, forest(trees=40))


def test_the_distilled_tree_is_nearer_to_the_forest_than_the_plain_one() -> None:
    found = distil(FOREST, TRAIN, test=TEST, plan=CART(stopping=Stopping(max_leaves=16)), made=2000)
    assert found.tested == "test"
    assert found.fidelity > found.plain_fidelity
    assert found.model.tree.n_leaves <= 16
    predicted, actual = found.model.predict_codes(TEST), TEST.target
    assert found.accuracy == pytest.approx(np.mean(predicted == actual))
    assert found.fidelity == pytest.approx(np.mean(predicted == FOREST.predict_codes(TEST)))
    assert found.forest_accuracy == pytest.approx(np.mean(FOREST.predict_codes(TEST) == actual))
    assert found.plain_accuracy == pytest.approx(np.mean(found.plain.predict_codes(TEST) == actual))


def test_without_test_cases_it_warns_that_the_figures_flatter() -> None:
    found = distil(FOREST, TRAIN, made=0)
    assert found.tested == "training"
    assert "flatter" in str(found)
    assert found.model.provenance["made"] == 0


def test_the_figures_are_printed_as_a_table_and_as_data() -> None:
    found = distil(FOREST, TRAIN, test=TEST)
    lines = str(found).splitlines()
    assert [line.split("  ")[0] for line in lines[1:4]] == ["forest", "distilled tree", "plain tree"]
    assert lines[-1] == "on unseen cases"
    plain = found.to_dict()
    assert plain["distilled"]["leaves"] == found.model.tree.n_leaves
    assert plain["plain"]["fidelity"] == found.plain_fidelity


def test_numbers_are_distilled_too() -> None:
    train, test = wave(200), wave(200, seed=3)
    found = distil(fit(train, forest(trees=30)), train, test=test)
    assert found.model.tree.n_leaves <= 32
    assert found.fidelity > found.plain_fidelity
    assert 0 < found.accuracy < 1


def test_a_constant_forest_is_copied_exactly() -> None:
    data = sample("play-tennis").take([2, 3, 4])
    assert distil(fit(data, forest(trees=2)), data, made=5).fidelity == 1.0
    flat = wave(10)
    flat = type(flat)(flat.schema, flat.columns, 10, np.ones(10))
    assert distil(fit(flat, forest(trees=2)), flat, made=3).accuracy == 1.0


def test_made_cases_are_mixed_from_the_training_cases() -> None:
    cases = with_artificial_cases(TRAIN, 500, seed=1)
    assert cases.n_rows == 700
    for column, own in zip(cases.columns, TRAIN.columns, strict=True):
        assert np.array_equal(column[:200], own)
        assert set(column[200:].tolist()) <= set(own.tolist())
    rows = {tuple(row) for row in np.stack(TRAIN.columns, axis=1).tolist()}
    made = [tuple(row) for row in np.stack(cases.columns, axis=1)[200:].tolist()]
    assert np.mean([row in rows for row in made]) < 0.3
    assert np.array_equal(cases.columns[0], with_artificial_cases(TRAIN, 500, seed=1).columns[0])


def test_weights_are_kept() -> None:
    from dataclasses import replace

    weighted = replace(TRAIN, weights=np.full(200, 2.0))
    assert with_artificial_cases(weighted, 3).weights.tolist() == [2.0] * 200 + [1.0] * 3  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: distil(FOREST, TRAIN.X), DataError, "no training cases"),
        (lambda: distil(FOREST, TRAIN, made=-1), ParameterError, "made must be"),
        (lambda: distil(FOREST, sample("play-tennis")), ParameterError, "attributes of the forest differ"),
        (lambda: distil(FOREST, TRAIN, test=TEST.X, plan=cart()), DataError, "the test cases have no target"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call()
