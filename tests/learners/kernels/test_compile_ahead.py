"""A second process compiles the block kernels: it gets only the kinds of columns, and growth works without it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine_tables import random_table
from treewright.concurrency import processors
from treewright.data.samples import sample
from treewright.data.schema import Task
from treewright.learners.kernels import compile_ahead
from treewright.learners.recipe import C45, CART, Recipe, for_regression

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python

NOT_STOPPED = np.zeros(1, dtype=bool)


def _sleeper(seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, object]]:
    """Note what other processes are asked for, and let them end at once."""
    requests: list[dict[str, object]] = []

    def process(plain: dict[str, object]) -> subprocess.Popen[bytes]:
        requests.append(plain)
        return _sleeper(0)

    monkeypatch.setattr(compile_ahead, "_process", process)
    monkeypatch.setattr(compile_ahead, "_started", {})
    monkeypatch.setattr(compile_ahead, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(compile_ahead, "processors", lambda: 2)
    monkeypatch.setattr("numba.core.config.DISABLE_JIT", 0)
    return requests


def test_a_kind_is_compiled_ahead_once_and_never_again_when_that_has_ended(
    begun: list[dict[str, object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sample("play-tennis")
    first = compile_ahead.compile_ahead("kind", data, C45())
    assert first is not None
    assert compile_ahead.compile_ahead("kind", data, C45()) is first
    first.wait(NOT_STOPPED)
    assert (tmp_path / "subtrees-kind").exists()
    monkeypatch.setattr(compile_ahead, "_started", {})  # as in a new process
    assert compile_ahead.compile_ahead("kind", data, C45()) is None
    other = compile_ahead.compile_ahead("other", data, C45())
    assert other is not None
    other.wait(NOT_STOPPED)
    assert len(begun) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("treewright.learners.kernels.compile_ahead.cache_folder", lambda: None),
        ("treewright.learners.kernels.compile_ahead.processors", lambda: 1),
        ("numba.core.config.DISABLE_JIT", 1),
        ("sys.executable", "/usr/bin/uwsgi"),
        ("sys.executable", None),
    ],
)
def test_nothing_is_compiled_ahead_where_it_would_not_help_or_cannot_be(
    begun: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(name, value)
    assert compile_ahead.compile_ahead("kind", sample("play-tennis"), C45()) is None
    assert not begun


def test_a_growth_that_was_stopped_does_not_wait(tmp_path: Path) -> None:
    one = compile_ahead.CompileProcess(_sleeper(600), tmp_path / "mark")
    one.wait(np.ones(1, dtype=bool))
    one.stop()
    assert not (tmp_path / "mark").exists()


def test_a_process_that_does_not_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "TIMEOUT", 0.2)
    sleeper = _sleeper(600)
    compile_ahead.CompileProcess(sleeper, tmp_path / "mark").wait(NOT_STOPPED)
    assert sleeper.returncode
    assert (tmp_path / "mark").exists()


def test_a_process_that_fails_does_no_harm(tmp_path: Path) -> None:
    process = compile_ahead._process({"recipe": "unknown"})
    assert process is not None
    compile_ahead.CompileProcess(process, tmp_path / "mark").wait(NOT_STOPPED)
    assert process.returncode == 1
    assert (tmp_path / "mark").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_a_process_that_ends_before_it_has_read_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = tmp_path / "python-that-ends"
    ends.write_text("#!/bin/sh\nexit 3\n", encoding="ascii")
    ends.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(ends))
    process = compile_ahead._process({"kinds": ["numeric"] * 100_000})  # more than a pipe holds
    assert process is not None
    compile_ahead.CompileProcess(process, tmp_path / "mark").wait(NOT_STOPPED)
    assert process.returncode == 3


def test_where_no_process_is_granted_nothing_is_compiled_ahead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))  # there is none
    monkeypatch.setattr(compile_ahead, "_started", {})
    monkeypatch.setattr(compile_ahead, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(compile_ahead, "processors", lambda: 2)
    monkeypatch.setattr("numba.core.config.DISABLE_JIT", 0)
    assert compile_ahead.compile_ahead("kind", sample("play-tennis"), C45()) is None


def test_the_other_process_learns_kinds_of_columns_but_no_name_and_no_cell() -> None:
    requests = json.dumps(compile_ahead.compile_request(sample("play-tennis"), C45()))
    assert "outlook" not in requests
    assert "sunny" not in requests


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_made_cases_have_the_same_kinds_of_columns(regression: bool, missing: bool) -> None:
    data = random_table(3, rows=40, missing=missing, regression=regression)
    made = compile_ahead.synthetic_cases(compile_ahead.compile_request(data, CART()))
    assert [column.dtype for column in made.columns] == [column.dtype for column in data.columns]
    assert [len(one.values) for one in made.schema.columns] == [len(one.values) for one in data.schema.columns]
    assert made.schema.task is (Task.REGRESSION if regression else Task.CLASSIFICATION)
    assert made.has_missing == data.has_missing


@pytest.mark.parametrize("recipe", [C45(), for_regression(CART())])
def test_what_is_asked_for_is_grown(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_table(4, rows=40, regression=recipe != C45())
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(compile_ahead.compile_request(data, recipe))))
    compile_ahead.main()


_GROW = """
import numpy as np
import treewright
from treewright.learners.kernels import node_loop
rng = np.random.default_rng(0)
X = rng.normal(size=(9000, 3))
y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
model = treewright.CARTClassifier(engine="compiled").fit(X, y)
print(model.tree_.n_nodes, sum(node_loop.grow_nodes.stats.cache_hits.values()))
"""


@pytest.mark.slow
@pytest.mark.skipif(processors() < 2, reason="one processor compiles no sooner with a second process")
def test_the_kernels_of_subtrees_come_from_the_other_process(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    ran = subprocess.run(
        [sys.executable, "-c", _GROW],
        env=environment | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    nodes, from_disk = map(int, ran.stdout.split())
    assert nodes > 1000
    assert from_disk == 1
    assert [mark.name for mark in tmp_path.rglob("subtrees-*")] == ["subtrees-uint8-numbers"]
