"""The errors and importances of a forest, as text and on paper."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.drawing.plot_curves import error_curves, errors_text, importance_text, plot_errors
from treewright.ensembles.plan import adaboost, forest
from treewright.ensembles.random_forest import with_log
from treewright.errors import ParameterError
from treewright.fitting.learn import fit

FOREST = with_log(fit(sample("play-tennis"), forest(trees=4)), oob_error=(0.5, 0.4, 0.4, 0.3))


def test_the_curve_is_what_was_noted() -> None:
    [curve] = error_curves(FOREST)
    assert list(curve.x) == [1, 2, 3, 4]
    assert list(curve.y) == [0.5, 0.4, 0.4, 0.3]
    assert errors_text(FOREST, width=40).splitlines()[0] == "out-of-bag error"


def test_boosting_has_two_curves() -> None:
    boosted = fit(sample("restaurant"), adaboost(trees=5))
    assert [curve.name for curve in error_curves(boosted)] == ["training error", "weighted error of a tree"]
    assert errors_text(boosted).splitlines()[0] == "error"


def test_without_a_log_there_is_no_curve() -> None:
    plain = fit(sample("play-tennis"), forest(trees=2))
    assert errors_text(plain) == ""
    with pytest.raises(ParameterError, match="none was recorded"):
        plot_errors(plain)


def test_a_figure_has_a_line_for_each_curve() -> None:
    pytest.importorskip("matplotlib")
    [axes] = plot_errors(FOREST).axes
    assert len(axes.lines) == 1
    assert axes.get_xlabel() == "trees"


def test_the_most_important_comes_first_and_many_are_cut() -> None:
    lines = importance_text(FOREST, most=2).splitlines()
    assert len(lines) == 3
    assert lines[-1] == "... and 2 more"
    shares = [float(line.split()[-1]) for line in lines[:2]]
    assert shares[0] >= shares[1]


def test_numbers_have_squared_errors() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.arange(10.0),), 10, np.arange(10.0))
    model = with_log(fit(data, forest(trees=2)), oob_error=(2.0, 1.0))
    assert errors_text(model).splitlines()[0] == "out-of-bag error (mean squared error)"
