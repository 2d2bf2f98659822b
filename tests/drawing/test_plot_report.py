"""Figures and text pictures of a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treewright.drawing.figure import save_figure
from treewright.drawing.plot_report import (
    FIGURES,
    HEIGHT,
    MOST_CURVES,
    PICTURES,
    WIDTH,
    bar,
    recall_bars,
    report_figure,
    report_text_plot,
    roc_text,
)
from treewright.errors import ParameterError
from treewright.evaluation.classification import ClassificationReport, classification_report
from treewright.evaluation.regression import regression_report


def some_report(k: int = 2, names: list[str] | None = None, n: int = 200) -> ClassificationReport:
    """Return a report of scores that are a little better than chance."""
    rng = np.random.default_rng(k)
    actual = np.concatenate((np.arange(k), rng.integers(0, k, n)))
    shares = rng.dirichlet(np.ones(k), len(actual)) + 0.5 * np.eye(k)[actual]
    shares /= shares.sum(axis=1, keepdims=True)
    labels = names or [f"c{code}" for code in range(k)]
    return classification_report(
        [labels[code] for code in actual], [labels[code] for code in shares.argmax(axis=1)], shares, labels
    )


@pytest.mark.parametrize("kind", FIGURES)
@pytest.mark.parametrize("k", [2, 3, 25])
def test_figures_are_written_and_not_empty(kind: str, k: int, tmp_path: Path) -> None:
    figure = report_figure(some_report(k), kind)
    path = tmp_path / f"{kind}.png"
    save_figure(figure, path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5000
    axes = figure.axes[0]
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.get_title()


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_other_formats_come_by_their_suffix(suffix: str, start: bytes, tmp_path: Path) -> None:
    save_figure(report_figure(some_report()), tmp_path / f"roc{suffix}")
    assert (tmp_path / f"roc{suffix}").read_bytes().startswith(start)


def test_the_drawn_roc_curve_is_that_of_the_report() -> None:
    report = some_report()
    assert report.probabilities is not None
    (curves,) = report.probabilities.curves
    line = report_figure(report, "roc").axes[0].get_lines()[1]
    assert line.get_xdata().tolist() == curves.fpr.tolist()
    assert line.get_ydata().tolist() == curves.tpr.tolist()
    assert line.get_label() == f'"c1" AUC {curves.auc:.3f}'


def test_the_drawn_confusion_has_the_numbers() -> None:
    report = classification_report("aab", "abb")
    texts = [text.get_text() for text in report_figure(report, "confusion").axes[0].texts]
    assert texts == ["1", "1", "0", "1"]


def test_of_many_classes_the_most_frequent_are_drawn() -> None:
    axes = report_figure(some_report(MOST_CURVES + 3), "roc").axes[0]
    assert len(axes.get_lines()) == MOST_CURVES + 1
    assert axes.get_title() == f"ROC, {MOST_CURVES} of {MOST_CURVES + 3} classes"


@pytest.mark.parametrize("kind", FIGURES)
def test_names_are_no_formulas_and_are_shown_whatever_they_are(kind: str, tmp_path: Path) -> None:
    report = some_report(3, ["_hidden", r"$\frac{$", "<b>two\nlines"])
    figure = report_figure(report, kind)
    save_figure(figure, tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert "_hidden" in text
    assert r"\frac{" in text
    assert "<b>" not in text
    assert "&lt;b&gt;two" in text


def test_what_cannot_be_drawn_is_reported() -> None:
    numbers = regression_report([1, 2], [1, 2])
    without = classification_report("ab", "ab")
    single = classification_report("aa", "aa", [0.1, 0.2], "ab")
    for draw in (report_figure, report_text_plot):
        with pytest.raises(ParameterError, match="kind of"):
            draw(without, "rok")
        with pytest.raises(ParameterError, match="needs class probabilities"):
            draw(without, "roc")
        with pytest.raises(ParameterError, match="these are all of one"):
            draw(single, "roc")
        with pytest.raises(ParameterError, match="these are numbers"):
            draw(numbers, "confusion")
        with pytest.raises(ParameterError, match="these are numbers"):
            draw(numbers, "roc")
        assert draw(single, "calibration")
        assert draw(without, "confusion")


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("k", [2, 3, 12])
def test_text_pictures_are_small_and_name_the_classes(kind: str, k: int) -> None:
    text = report_text_plot(some_report(k), kind)
    assert "c1" in text
    assert max(len(line) for line in text.splitlines()) <= 80


@pytest.mark.parametrize("kind", PICTURES)
def test_text_pictures_can_be_plain_ascii(kind: str) -> None:
    report_text_plot(some_report(3), kind, plain=True).encode("ascii")
    assert any(ord(character) > 127 for character in report_text_plot(some_report(3), kind))


@pytest.mark.parametrize("kind", FIGURES)
def test_long_names_that_begin_alike_stay_different(kind: str) -> None:
    start = "a class whose name is so long that no label could hold it: "
    report = some_report(3, [f"{start}one", f"{start}two", f"{start}three"])
    axes = report_figure(report, kind).axes[0]
    legend = axes.get_legend()
    labels = axes.get_yticklabels() if legend is None else legend.get_texts()
    texts = [label.get_text() for label in labels]
    assert len(set(texts)) == len(texts)
    for end in ("one", "two", "three"):
        assert sum(f"{end}" in text for text in texts) == 1
        assert end in report_text_plot(report, kind)
        assert end in str(report)


def test_text_of_a_perfect_roc_runs_along_the_edges() -> None:
    rows = roc_text(classification_report("ab", "ab", [0.1, 0.9], "ab")).splitlines()
    assert rows[1] == "1.0 │" + "*" * WIDTH
    assert all(row[5] == "*" for row in rows[1 : HEIGHT + 1])
    assert '* "b" AUC 1.000' in rows


def test_text_of_tied_scores_runs_along_the_diagonal() -> None:
    text = roc_text(classification_report("ab", "aa", [0.5, 0.5], "ab"))
    assert "·" not in text
    assert text.splitlines()[HEIGHT].endswith("│***") or "*" in text.splitlines()[HEIGHT]


def test_bars_are_as_long_as_their_share() -> None:
    assert [len(bar(share, 10)) for share in (0, 0.5, 1, 2)] == [0, 5, 10, 10]
    result = recall_bars(classification_report("aab", "aaa")).splitlines()
    assert result[1].startswith("a  100 %  █")
    assert result[2] == "b    0 %"
