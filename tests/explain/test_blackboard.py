"""The derivation written out: the numbers of the lectures, and the forms for every recipe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from learners.tables_for_growing import numeric_table, tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.document import aligned
from treewright.explain.node import MOST_ROWS, blackboard, explain_node
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, CART, ID3, Recipe


def written(data: Dataset, recipe: Recipe, node: int = 0) -> str:
    return blackboard(explain_node(fit(data, recipe), node))


def test_the_root_of_play_tennis_as_in_the_lecture() -> None:
    """Every number of 004: .940, .985 and .592 giving .151(8), .811 and 1.0 giving .048, and Outlook's 0.247."""
    text = written(sample("play-tennis"), C45())
    paragraphs = text.split("\n\n")
    assert paragraphs[0] == "Node 0 (root): 14 cases, PlayTennis: Yes 9, No 5"
    assert paragraphs[1] == "H(PlayTennis) = - 9/14 log2 9/14 - 5/14 log2 5/14 = 0.940"
    assert paragraphs[2].splitlines() == [
        "Outlook   Yes  No  n      H",
        "Sunny       2   3  5  0.971",
        "Overcast    4   0  4  0.000",
        "Rain        3   2  5  0.971",
        "remainder = 5/14 * 0.971 + 4/14 * 0 + 5/14 * 0.971 = 0.694",
        "gain      = 0.940 - 0.694 = 0.247",
        "split information 1.577, gain ratio 0.156; Gini decrease 0.116; chi-square 3.55 with 2 df, p 0.17",
    ]
    assert paragraphs[3].splitlines() == [
        "Humidity  Yes  No  n      H",
        "High        3   4  7  0.985",
        "Normal      6   1  7  0.592",
        "remainder = 7/14 * 0.985 + 7/14 * 0.592 = 0.788",
        "gain      = 0.940 - 0.788 = 0.152",
        "split information 1.000, gain ratio 0.152; Gini decrease 0.092; chi-square 2.80 with 1 df, p 0.0943",
    ]
    assert paragraphs[4].splitlines()[:5] == [
        "Wind    Yes  No  n      H",
        "Weak      6   2  8  0.811",
        "Strong    3   3  6  1.000",
        "remainder = 8/14 * 0.811 + 6/14 * 1 = 0.892",
        "gain      = 0.940 - 0.892 = 0.048",
    ]
    assert paragraphs[6].splitlines() == [
        "attribute     gain  split info  gain ratio   Gini  chi-square       p",
        "Outlook      0.247       1.577       0.156  0.116        3.55    0.17  chosen",
        "Humidity     0.152       1.000       0.152  0.092        2.80  0.0943",
        "Wind         0.048       0.985           -  0.031        0.93   0.334  below the average gain 0.119",
        "Temperature  0.029       1.557           -  0.019        0.57   0.752  below the average gain 0.119",
    ]
    assert paragraphs[7] == (
        "Outlook is chosen: it has the highest gain ratio. Runner-up: Humidity, 0.005 behind. "
        "Only attributes with at least the average gain, 0.119, were compared by gain ratio."
    )


def test_the_six_rows_as_in_the_lecture() -> None:
    text = written(sample("six-rows"), ID3())
    assert "H(k) = - 4/6 log2 4/6 - 2/6 log2 2/6 = 0.918" in text
    assert "gain      = 0.918 - 0.667 = 0.252" in text
    assert "gain      = 0.918 - 0.874 = 0.044" in text


def test_a_leaf_explains_why_it_is_one() -> None:
    text = written(sample("six-rows"), ID3(), 1)
    assert text.startswith("Node 1 (x2 = 0): 2 cases, k: A 2")
    assert text.endswith("Leaf: A (pure).")


def test_unknown_cases_are_shown_and_scale_the_gain() -> None:
    """Quinlan's example with one Outlook unknown: gain 13/14 * 0.214 = 0.199, split information 1.809."""
    data = sample("play-tennis")
    outlook = data.columns[0].copy()
    outlook[11] = -1
    text = written(replace(data, columns=(outlook, *data.columns[1:])), C45(criterion="gain"))
    assert "(missing)           1" in text
    assert "gain      = 0.961 - 0.747 = 0.214, times 13/14 (fraction of known values) = 0.199" in text
    assert "split information 1.809" in text


def test_fractions_of_cases_are_written_with_decimals() -> None:
    data = sample("play-tennis")
    outlook = data.columns[0].copy()
    outlook[11] = -1
    model = fit(replace(data, columns=(outlook, *data.columns[1:])), C45(criterion="gain"))
    text = blackboard(explain_node(model, 1))
    assert text.startswith("Node 1 (Outlook = Sunny): 5.4 cases, PlayTennis: Yes 2.4, No 3")


def test_the_correction_for_the_choice_of_a_cut() -> None:
    data = numeric_table({"x": [float(row) for row in range(10)]}, list("AAAAABBBBB"), ("A", "B"))
    text = written(data, C45())
    assert "gain      = 1.000 - 0.000 = 1.000, minus log2(7)/10 (MDL correction for 7 thresholds) = 0.719" in text
    assert "<= 4" in text


def test_gini_is_written_as_gini() -> None:
    text = written(sample("play-tennis"), CART())
    assert "Gini(PlayTennis) = 1 - (9/14)^2 - (5/14)^2 = 0.459" in text
    assert "{Sunny, Rain}" in text
    assert "Gini after split = 10/14 * 0.5 + 4/14 * 0 = 0.357" in text
    assert "decrease         = 0.459 - 0.357 = 0.102  (best of 2 candidate splits)" in text


def test_variance_is_written_as_variance() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    text = written(Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, np.array([1.0, 1.0, 5.0, 5.0])), CART())
    assert text.splitlines()[0] == "Node 0 (root): 4 cases, mean y 3"
    assert "Var(y) = mean of (y - 3)^2 = 4" in text
    assert "decrease        = 4 - 0 = 4" in text
    assert "<= 2.5" in text


def test_many_values_are_cut_short() -> None:
    n = MOST_ROWS + 5
    column = Column("a", Kind.NOMINAL, tuple(f"v{code}" for code in range(n)))
    schema = Schema((column, Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    codes = np.repeat(np.arange(n), 2).astype(np.int32)
    text = written(Dataset(schema, (codes,), 2 * n, (np.arange(2 * n) % 2).astype(np.int32)), ID3())
    assert "... 5 more values" in text
    assert "+ ... = 1.000" in text


@settings(max_examples=40)
@given(tables(missing=True, weights="real"))
def test_every_node_of_every_tree_can_be_written(data: Dataset) -> None:
    for recipe in (ID3(), C45(min_objects=0.2), CART()):
        model = fit(data, recipe)
        for node in range(model.tree.n_nodes):
            text = blackboard(explain_node(model, node))
            assert text.startswith(f"Node {node} (")
            assert "nan" not in text
            assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("hostile", ["</script>", "a\nb", "\x1b[31m"])
def test_names_from_the_data_cannot_break_the_lines(hostile: str) -> None:
    schema = Schema((Column(hostile, Kind.NOMINAL, ("x", hostile)), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    codes = np.array([0, 0, 1, 1], dtype=np.int32)
    text = written(Dataset(schema, (codes,), 4, codes), ID3())
    assert "\x1b" not in text
    assert "a\nb" not in text


def test_columns_are_set_flush() -> None:
    rows = [["name", "n", ""], ["a", "10", "best"]]
    assert aligned(rows, last_left=True) == ["name   n", "a     10  best"]
