"""Which engine grows, and that it makes no difference."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import treewright
from made_tables import filled, made_table
from treewright.concurrency import Cancelled, CancelToken, processors
from treewright.counting.numpy import MemoryEngine
from treewright.data.samples import sample
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners import grower
from treewright.learners.recipe import C45, CART, ID3, Stopping
from treewright.plans import c45, cart, id3
from treewright.tree.split import LazyTrace


def test_small_tables_are_grown_by_the_interpreter_and_large_ones_by_kernels() -> None:
    assert not grower.is_compiled("auto", sample("play-tennis"))
    assert grower.is_compiled("compiled", sample("play-tennis"))
    rows = grower.COMPILED_CELLS // 4
    assert grower.is_compiled("auto", sample("play-tennis").take(np.zeros(rows, dtype=np.intp)))


def test_an_unknown_engine_is_refused_with_a_hint() -> None:
    with pytest.raises(ParameterError, match="did you mean 'compiled'"):
        fit(sample("play-tennis"), ID3(), engine="compile")


def test_learners_that_only_the_interpreter_grows_report_it() -> None:
    with pytest.raises(ParameterError, match="cannot be grown by engine="):
        fit(sample("play-tennis"), c45(dialect="r8"), engine="compiled")


@pytest.mark.parametrize("bad", [0, -2, 1.5, True])
def test_a_number_of_threads_must_be_one(bad: int) -> None:
    with pytest.raises(ParameterError, match="n_jobs must be"):
        grower.threads(bad)


def test_small_data_never_import_numba() -> None:
    code = (
        "import sys, treewright; treewright.fit(treewright.sample('play-tennis'), treewright.c45());"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "plan",
    [
        id3(),
        c45(),
        c45(prune=False),
        cart(),
        cart(stopping=Stopping(max_leaves=3)),
        c45(subset=True),
        cart(criterion="entropy"),
    ],
    ids=lambda plan: f"{plan.name} {plan.describe()}",
)
@pytest.mark.parametrize("seed", [1, 4, 9])
def test_saved_models_are_the_same_bytes_from_both_engines(plan, seed: int, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    table = made_table(seed)
    if table.has_missing or table.weights is not None:
        table = table.take(np.arange(table.n_rows))
        table = type(table)(
            table.schema,
            filled(table.columns),
            table.n_rows,
            table.target,
        )
    saved = []
    for engine in ("interpreted", "compiled"):
        fit(table, plan, engine=engine).save(tmp_path / f"{engine}.json")
        saved.append((tmp_path / f"{engine}.json").read_bytes())
    assert saved[0] == saved[1], _first_difference(*saved)


def _first_difference(one: bytes, other: bytes) -> str:
    here, there = json.loads(one), json.loads(other)
    return ", ".join(key for key in here if here[key] != there.get(key))


def test_a_recipe_that_kernels_leave_to_the_grower_is_counted_by_kernels() -> None:
    table = made_table(2)
    grown = grower.grow_tree(table, C45(subset=True, max_leaves=5), engine="compiled")
    assert grown.n_leaves <= 5


def test_the_split_trace_is_computed_on_access_and_survives_pickling() -> None:
    model = fit(sample("play-tennis"), CART(), engine="compiled")
    assert isinstance(model.trace, LazyTrace)
    again = pickle.loads(pickle.dumps(model.trace))  # noqa: S301 - our own bytes
    grown = fit(sample("play-tennis"), CART(), engine="interpreted").trace
    assert list(again) == list(model.trace) == list(grown)
    assert [one.status for one in again[0]] == [one.status for one in grown[0]]


def test_counting_engines_follow_the_choice() -> None:
    assert type(grower.counter_for(sample("play-tennis"), C45(), "auto")[0]) is MemoryEngine
    assert type(grower.counter_for(sample("play-tennis"), C45(), "compiled")[0]) is not MemoryEngine


def test_a_first_compilation_is_announced_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grower.announce_compilation.cache_clear()
    monkeypatch.setattr("treewright.jit.is_compiled", lambda: False)
    monkeypatch.setattr("treewright.jit.cache_folder", lambda: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    grower.announce_compilation()
    assert "compiling the growing kernels, once for this process" in capsys.readouterr().err


# -- progress and threads ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_never_falls_ends_with_all_cases_and_is_reported_in_the_thread_of_the_caller(
    engine: str, n_jobs: int
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 4))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    reported: list[tuple[int, int]] = []
    threads = set()

    def progress(done: int, of: int) -> None:
        reported.append((done, of))
        threads.add(threading.current_thread())

    treewright.CARTClassifier(max_depth=6, engine=engine, n_jobs=n_jobs, progress=progress).fit(X, y)
    done = [one for one, _ in reported]
    assert done == sorted(done)
    assert reported[-1] == (30_000, 30_000)
    assert {of for _, of in reported} == {30_000}
    assert threads == {threading.current_thread()}


def test_what_progress_raises_ends_the_growth() -> None:
    class Enough(Exception):  # noqa: N818
        pass

    def progress(done: int, of: int) -> None:
        raise Enough

    for engine in ("interpreted", "compiled"):
        with pytest.raises(Enough):
            fit(sample("play-tennis"), CART(), engine=engine, progress=progress)


def test_growing_that_was_stopped_gives_no_tree() -> None:
    from treewright.learners.kernels.grower import CompiledGrower

    token = CancelToken()
    token.cancel()
    small, large = made_table(3), sample("play-tennis").take(np.arange(20_000) % 14)
    for table, n_jobs in ((small, 1), (large, 1), (large, 2)):
        with pytest.raises(Cancelled):
            token.run(CompiledGrower(table, n_jobs).grow, CART())


def test_more_threads_than_processors_and_numbers_of_numpy_are_welcome() -> None:
    assert grower.threads(np.int64(2)) == 2  # type: ignore[arg-type]
    assert grower.threads(None) == grower.threads(-1) == processors()
    table = made_table(5)
    assert grower.grow_tree(table, CART(), engine="compiled", n_jobs=500).n_nodes == (
        grower.grow_tree(table, CART(), engine="interpreted").n_nodes
    )
