"""treewright distil: one tree that stands in for a forest, with its figures beside the plain tree's."""

from __future__ import annotations

import numpy as np
import pytest

from cli.shell import Shell
from treewright import TreeModel, load


def table(rows: int, seed: int) -> str:
    """Return cases whose class is an exclusive or of two numbers, with a third that does not matter."""
    x = np.random.default_rng(seed).uniform(-1, 1, (rows, 3)).round(3)
    lines = [f"{a},{b},{c},{'same' if a * b > 0 else 'other'}" for a, b, c in x.tolist()]
    return "\n".join(["a,b,c,y", *lines, ""])


@pytest.fixture
def forest(shell: Shell) -> str:
    """Train a forest and return the name of its file."""
    shell.write("train.csv", table(200, 1))
    shell.write("test.csv", table(300, 2))
    shell.fine("train", "train.csv", "-t", "y", "-a", "forest", "--trees", "20", "-o", "forest.json")
    return "forest.json"


def test_the_tree_is_saved_and_its_figures_are_printed_beside_the_plain_trees(shell: Shell, forest: str) -> None:
    printed = shell.fine("distil", forest, "train.csv", "--test", "test.csv", "-o", "tree.json").out
    model = load("tree.json")
    assert isinstance(model, TreeModel)
    assert model.tree.n_leaves > 1
    lines = printed.splitlines()
    assert [line.split()[0] for line in lines[-5:-2]] == ["forest", "distilled", "plain"]
    assert lines[-2:] == ["on unseen cases", "Model written to tree.json"]
    plain = shell.fine("distil", forest, "train.csv", "--test", "test.csv", "--json").json
    assert plain["distilled"]["leaves"] == model.tree.n_leaves
    assert plain["distilled"]["fidelity"] > 0.8
    assert plain["tested"] == "test"
    assert plain["model"] is None
    assert set(plain["plain"]) == {"accuracy", "fidelity", "leaves"}
    right = [line.split(",")[-1] for line in shell.fine("predict", "tree.json", "test.csv").out.splitlines()[1:]]
    actual = [line.split(",")[-1] for line in table(300, 2).splitlines()[1:]]
    assert plain["distilled"]["accuracy"] == pytest.approx(np.mean(np.array(right) == np.array(actual)))


def test_without_unseen_cases_it_warns_that_the_figures_flatter(shell: Shell, forest: str) -> None:
    assert "on the training cases, which flatter all of them" in shell.fine("distil", forest, "train.csv").out


def test_options_are_passed_to_the_tree_and_the_made_cases(shell: Shell, forest: str) -> None:
    shell.fine("distil", forest, "train.csv", "--base", "cart", "--made", "50", "--seed", "3", "-o", "tree.json")
    model = load("tree.json")
    assert model.recipe["name"] == "CART"
    assert model.provenance["made"] == 50


def test_numbers_are_distilled_too(shell: Shell) -> None:
    lines = [f"{x},{x * x}" for x in range(60)]
    shell.write("numbers.csv", "\n".join(["x,y", *lines, ""]))
    shell.fine("train", "numbers.csv", "-t", "y", "-a", "forest", "--trees", "10", "-o", "forest.json")
    document = shell.fine("distil", "forest.json", "numbers.csv", "--json").json
    assert document["distilled"]["fidelity"] > 0.9


def test_the_result_may_not_replace_its_inputs(shell: Shell, forest: str) -> None:
    result = shell("distil", forest, "train.csv", "-o", forest)
    assert result.code == 1
    assert "would be replaced" in result.error


def test_other_cases_are_reported(shell: Shell, forest: str) -> None:
    shell.write("odd.csv", "a,b,y\n1,2,same\n")
    result = shell("distil", forest, "odd.csv")
    assert result.code == 3
    assert "c" in result.error
