from __future__ import annotations

from pathlib import Path

import pytest

from treewright.drawing.figure import save_figure
from treewright.drawing.plot_compare import critical_difference_figure, critical_difference_text, group_spans
from treewright.errors import ParameterError
from treewright.evaluation.compare import ManyComparison, compare_over


def result(tables: int = 10, names: tuple[str, ...] = ("x", "y", "z")) -> ManyComparison:
    """Make a result in which the learners rank 1, 2, 3, ... on every table."""
    row = {name: 1 - index / 10 for index, name in enumerate(names)}
    return compare_over({str(i): row for i in range(tables)})


def test_spans() -> None:
    # The critical difference of 3 learners on 10 tables is 2.343 sqrt(12 / 60) = 1.048 (Demsar 2006).
    assert group_spans(result()) == [(1, 2), (2, 3)]
    assert group_spans(result(100)) == []


def test_figure() -> None:
    figure = critical_difference_figure(result())
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "critical difference 1.05 (Nemenyi, 5%, 10 tables)" in texts
    assert "x  1.00 " in texts
    assert " 3.00  z" in texts
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 4]
    assert [list(bar.get_xdata()) for bar in bars] == [pytest.approx([0.97, 2.03]), pytest.approx([1.97, 3.03])]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_saved_twice_it_is_the_same(tmp_path: Path, suffix: str) -> None:
    for name in ("one", "two"):
        save_figure(
            critical_difference_figure(result(names=("a$b$", "<i>", "ü", "x" * 50))), tmp_path / (name + suffix)
        )
    one = (tmp_path / f"one{suffix}").read_bytes()
    assert len(one) > 1000
    assert one == (tmp_path / f"two{suffix}").read_bytes()


def test_text() -> None:
    lines = critical_difference_text(result(names=("id3", "c45")), width=40).splitlines()
    assert lines == [
        "rank      1                           2",
        "          ├───────────────────────────┤",
        "id3 1.00  ●",
        "c45 2.00                              ●",
        "          ├────────────────┤",
        "critical difference 0.62 (Nemenyi, 5%, 10 tables)",
    ]
    wide = critical_difference_text(result(100, ("id3", "c45")), width=100).splitlines()
    assert wide[-1].endswith("┤ critical difference 0.20 (Nemenyi, 5%, 100 tables)")


def test_text_in_plain_ascii() -> None:
    text = critical_difference_text(result(), width=40, lines=False)
    text.encode("ascii")
    shape = str.maketrans("├─┼┤→●┃", "+-++>*|")
    assert text == critical_difference_text(result(), width=40).translate(shape)


def test_long_names_stay_different() -> None:
    names = tuple(f"{'a very long name of a learner ' * 3}{i}" for i in range(3))
    text = critical_difference_text(result(names=names))
    assert len({line.split("  ")[0] for line in text.splitlines()[2:5]}) == 3
    drawn = [one.get_text() for one in critical_difference_figure(result(names=names)).axes[0].texts]
    assert len({one.replace("  ", " ") for one in drawn if "very long" in one}) == 3
    assert all(len(one) < 45 for one in drawn if "very long" in one)


def test_text_with_a_difference_beyond_the_axis() -> None:
    lines = critical_difference_text(result(2), width=40).splitlines()
    assert lines[-2] == "        ├───────────────────────────→"
    assert lines[-1].startswith("critical difference 2.34")
    assert [line.count("┃") for line in lines] == [0, 0, 1, 1, 1, 0, 0]


def test_text_of_many_learners_in_little_space() -> None:
    names = tuple(f"learner {i}" for i in range(12))
    lines = critical_difference_text(result(names=names), width=20).splitlines()
    assert len(lines) == 16
    assert lines[1].count("┼") == 10


def test_text_needs_space() -> None:
    with pytest.raises(ParameterError, match="width of at least 20"):
        critical_difference_text(result(), width=5)
