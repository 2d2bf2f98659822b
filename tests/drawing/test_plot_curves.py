"""Figures of the curves: what they show, and that they can be saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.test_resampling import cases
from treewright.drawing.figure import save_figure
from treewright.drawing.plot_curves import curve_text, plot_curve
from treewright.evaluation.curves import ComplexityCurve, ComplexityPoint, complexity_curve, learning_curve
from treewright.evaluation.learners import Learn
from treewright.plans import c45, cart

pytest.importorskip("matplotlib")

LEARNING = learning_curve(cases(60), Learn(c45()), [10, 20, 40], repeats=2)
COMPLEXITY = complexity_curve(cases(60), cart(), folds=3)


def test_the_learning_curve_has_a_band() -> None:
    [axes] = plot_curve(LEARNING).axes
    assert axes.get_xlabel() == "training cases"
    assert axes.get_ylabel() == "accuracy"
    assert len(axes.lines) == 2
    assert len(axes.collections) == 1
    assert list(axes.lines[0].get_xdata()) == [10, 20, 40]


def test_the_complexity_curve_marks_the_optimum() -> None:
    [axes] = plot_curve(COMPLEXITY).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    best = COMPLEXITY.points[COMPLEXITY.best]
    assert f"least: {best.leaves:,} {'leaf' if best.leaves == 1 else 'leaves'}" in labels
    assert axes.get_xscale() == "log"


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_saved(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"curve{suffix}"
    save_figure(plot_curve(LEARNING), path)
    assert path.stat().st_size > 1000


def test_as_text() -> None:
    assert "* unseen cases   + training cases   o band, low   x band, high" in curve_text(LEARNING)
    assert "leaves" in curve_text(COMPLEXITY, braille=True)
    curve_text(COMPLEXITY).encode("ascii")


@pytest.mark.parametrize("best", [0, 1])
def test_the_text_marks_the_optimum(best: int) -> None:
    points = (ComplexityPoint(0.0, 20, 0.0, 0.3, 0.05), ComplexityPoint(0.1, 1, 0.3, 0.32, 0.05))
    text = curve_text(ComplexityCurve("cost_complexity", "errors", 5, points, best, 1))
    assert "^ least validation error: " + ("20 leaves" if best == 0 else "1 leaf") in text
    assert ("' within one standard error of it: 1 leaf" in text) == (best == 0)
    assert "best" in str(ComplexityCurve("cost_complexity", "errors", 5, points, best, 1))
