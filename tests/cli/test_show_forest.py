"""treewright show for forests: size, importance, error against trees, and single trees."""

from __future__ import annotations

import pytest

from cli.shell import Shell


@pytest.fixture
def model(shell: Shell) -> str:
    return shell.model("-a", "forest", "--trees", "15")


def test_a_forest_is_shown_with_importances_and_errors(shell: Shell, model: str) -> None:
    out = shell.fine("show", model).out
    assert out.startswith("Random forest of CART trees for play, trained on training.csv (14 rows)")
    assert "15 trees, " in out
    assert "outlook" in out
    assert "out-of-bag error" in out


def test_one_tree_is_shown_as_a_tree(shell: Shell, model: str) -> None:
    out = shell.fine("show", model, "--tree", "3").out
    assert "leaves, depth" in out
    assert "there is no tree 15" in shell("show", model, "--tree", "15").error


def test_a_forest_as_data(shell: Shell, model: str) -> None:
    found = shell.fine("show", model, "--json").json
    assert (found["trees"], found["wanted"]) == (15, 15)
    assert sum(found["importance"].values()) == pytest.approx(1.0)
    assert len(found["log"]["oob_error"]) == 15


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_errors_are_drawn_on_paper(shell: Shell, model: str, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    result = shell.fine("show", model, "-o", f"errors.{suffix}")
    assert f"written to errors.{suffix}" in result.err
    assert (shell.folder / f"errors.{suffix}").stat().st_size > 1000


def test_other_forms_need_one_tree(shell: Shell, model: str) -> None:
    assert "choose a tree with --tree N" in shell("show", model, "--format", "dot").error


def test_boosting_shows_its_rounds(shell: Shell) -> None:
    model = shell.model("-a", "adaboost", "--trees", "30")
    out = shell.fine("show", model).out
    assert "round     error     alpha  resets" in out
    assert "  ..." in out
    assert "weighted error" in out


def test_without_a_log_there_is_nothing_to_draw(shell: Shell) -> None:
    from treewright import fit, forest, sample

    fit(sample("play-tennis"), forest(trees=2)).save("plain.json")
    assert "error" not in shell.fine("show", "plain.json").out
    assert "none was recorded" in shell("show", "plain.json", "-o", "e.png").error


def test_hostile_names_are_printed_harmlessly(shell: Shell) -> None:
    import numpy as np

    from treewright import Column, Dataset, Kind, Schema, fit, forest

    name = "\x1b[31m</script>"
    schema = Schema((Column(name, Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    data = Dataset(schema, (np.arange(20.0),), 20, (np.arange(20) % 2).astype(np.int32))
    fit(data, forest(trees=2)).save("hostile.json")
    assert "\x1b" not in shell.fine("show", "hostile.json").out
