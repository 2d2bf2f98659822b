"""A learner that is written in this file and registered works everywhere: no other line knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright as tw
from cli.shell import WEATHER, Shell
from treewright.counting.numpy import MemoryEngine
from treewright.data.samples import sample
from treewright.data.schema import Task
from treewright.ensembles.plan import bagging
from treewright.learners.base import Grown, Run, TreeLearner
from treewright.learners.registry import Algorithm, AlgorithmOption, register, unregister
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop


@dataclass(frozen=True)
class OneRule(TreeLearner):
    """Split once, on the nominal attribute whose branches make the fewest errors (Holte's 1R)."""

    skip: int = 0

    @property
    def title(self) -> str:
        return "One rule"

    def criterion_for(self, task: Task) -> str:
        return "gain"

    def grow(self, cases: tw.Dataset, run: Run) -> Grown:
        engine = MemoryEngine(cases)
        nominal = [at for at, column in enumerate(cases.schema.attributes) if not column.is_numeric]
        [tables] = engine.count([(engine.root(), nominal)])
        errors = [float(table.counts.sum() - table.counts.max(axis=1).sum()) for table in tables]
        at = int(np.argsort(errors, kind="stable")[self.skip])
        n_values = len(cases.schema.attributes[nominal[at]].values)
        whole = tables[at].counts.sum(axis=0)
        root = node(whole, whole)
        root.split, root.children = Split.multiway(nominal[at], n_values), list(range(1, n_values + 1))
        leaves = [node(row, whole, Stop.DEPTH) for row in tables[at].counts]
        return Grown(build_tree(cases.schema, [root, *leaves])[0], traced=False)


def node(counts: Any, parent: Any, stop: Stop | None = None) -> NodeRecord:
    """Return a node; an empty one predicts the class of its parent."""
    return NodeRecord(float(counts.sum()), counts, int(np.argmax(counts if counts.any() else parent)), stop=stop)


SKIP = AlgorithmOption("skip", "Attributes to pass over.", type=int, low=0, default="0")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    opened = Shell(tmp_path, capsys)
    opened.write("weather.csv", WEATHER)
    return opened


@pytest.fixture
def one_rule() -> Iterator[None]:
    register(Algorithm("one-rule", OneRule, (SKIP,)))
    yield
    unregister("one-rule")


def test_a_new_learner_trains_on_the_command_line_with_its_own_option(one_rule: None, shell: Shell) -> None:
    trained = shell.fine("train", "weather.csv", "-t", "play", "--algorithm", "one-rule", "-o", "m.json")
    assert "One rule" in trained.out
    assert "10-fold estimate" in trained.out
    assert shell.fine("show", "m.json", "--json").json["attr"] == "outlook"
    shell.fine("train", "weather.csv", "-t", "play", "-a", "one-rule", "--skip", "1", "-o", "next.json")
    assert shell.fine("show", "next.json", "--json").json["attr"] != "outlook"
    assert len(shell.fine("predict", "m.json", "weather.csv").out.splitlines()) == 15


def test_a_new_learner_is_listed_in_help_and_its_option_is_refused_elsewhere(one_rule: None, shell: Shell) -> None:
    assert "one-rule" in shell.fine("train", "--help").out
    assert "--skip N" in shell.fine("train", "--help-algorithm", "one-rule").out
    refused = shell("train", "weather.csv", "-t", "play", "-a", "id3", "--skip", "1")
    assert "--skip is not an option of id3, only of one-rule" in refused.error
    assert (
        "--min-split is not an option of one-rule"
        in shell("train", "weather.csv", "-t", "play", "-a", "one-rule", "--min-split", "3").error
    )


def test_a_new_learner_is_compared_and_cross_validated(one_rule: None, shell: Shell) -> None:
    found = shell.fine("compare", "weather.csv", "-t", "play", "-a", "one-rule,c45", "--folds", "3", "--json").json
    assert {one["name"] for one in found["learners"]} == {"one-rule", "c45"}
    assert "One rule" in shell.fine("cv", "weather.csv", "-t", "play", "-a", "one-rule", "--folds", "3").out
    assert "one-rule" in str(tw.compare(sample("play-tennis"), ["one-rule", "id3"], 3))


def test_a_new_learner_is_bagged_and_boosted(one_rule: None, shell: Shell) -> None:
    assert tw.fit(sample("play-tennis"), bagging("one-rule", trees=5)).n_trees == 5
    for ensemble in ("bagging", "adaboost"):
        words = shell.fine(
            "train", "weather.csv", "-t", "play", "-a", ensemble, "--base", "one-rule", "--skip", "1", "--trees", "4"
        ).out
        assert "One rule trees" in words


def test_a_new_learner_is_explained_pruned_and_reported(one_rule: None, shell: Shell) -> None:
    shell.fine("train", "weather.csv", "-t", "play", "-a", "one-rule", "-o", "m.json", "--folds", "0")
    assert "outlook" in shell.fine("explain", "m.json", "--node", "root").out
    shell.fine("prune", "m.json", "--method", "error_based", "--data", "weather.csv", "-o", "p.json")
    shell.fine("report", "weather.csv", "-t", "play", "-a", "one-rule", "-o", "r.html", "--no-curve")
    assert "One rule" in (shell.folder / "r.html").read_text(encoding="utf-8")
