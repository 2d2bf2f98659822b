"""The choice of an engine for a command: by the expected work and the kernels that are there; never another model."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import Column, Dataset, Kind, Schema, c45, cart, chaid, forest, sample
from treewright.errors import ParameterError
from treewright.evaluation import fold_runs
from treewright.evaluation.learners import Learn
from treewright.fitting import engine_choice, warm_up
from treewright.fitting.engine_choice import VARIABLE, Compile, EngineChoice, kernel_kind, sums_are_exact
from treewright.fitting.learn import fit
from treewright.learners.grower import COMPILED_CELLS
from treewright.learners.recipe import CART, Stopping, for_regression


def table(rows: int, *, missing: bool = False, regression: bool = False, seed: int = 0) -> Dataset:
    """Return cases with two numeric and two nominal attributes, whose target is mostly noise."""
    draw = np.random.default_rng(seed)
    numbers, names = draw.normal(size=(2, rows)), draw.integers(0, 4, (2, rows)).astype(np.int32)
    target = numbers[0] + names[0] + draw.normal(size=rows)
    if missing:
        names[0, draw.random(rows) < 0.1] = -1
        numbers[0, draw.random(rows) < 0.1] = np.nan
    columns = [Column(f"x{index}", Kind.NUMERIC) for index in range(2)]
    columns += [Column(f"n{index}", Kind.NOMINAL, tuple("abcd")) for index in range(2)]
    last = Column("y", Kind.NUMERIC) if regression else Column("y", Kind.NOMINAL, ("no", "yes"))
    labels: Any = target if regression else (target > 1.5).astype(np.int32)
    return Dataset(Schema((*columns, last), target="y"), (*numbers, *names), rows, labels)


class Background:
    """Stands for a second process."""

    number = 4711

    def __init__(self) -> None:
        self.is_running, self.has_succeeded, self.done = True, False, ""

    def end(self) -> None:
        self.done = "ended"

    def leave(self) -> None:
        self.done = "left"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Background]:
    """Note the processes that are started; the folder of compiled code is empty."""
    processes: list[Background] = []

    def start(*_: object) -> Background:
        processes.append(Background())
        return processes[-1]

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(warm_up, "start_background", start)
    monkeypatch.setattr(engine_choice, "ready_mark", lambda kind: tmp_path / f"ready-{kind}")
    return processes


# -- what is chosen ----------------------------------------------------------------------------------------------------


def test_small_tables_are_left_to_the_interpreter_without_numba() -> None:
    code = (
        "import sys, treewright; from treewright.fitting.engine_choice import EngineChoice;"
        "choice = EngineChoice(treewright.sample('play-tennis'), treewright.c45(), 11);"
        "assert choice.for_model() == choice.for_fold() == 'interpreted'; assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_engine_that_is_asked_for_is_taken(started: list[Background]) -> None:
    choice = EngineChoice(table(50_000), cart(), 11, "interpreted")
    assert (choice.for_model(), choice.for_fold(), started) == ("interpreted", "interpreted", [])


def test_without_kernels_the_interpreter_begins_and_kernels_go_on_when_they_are_compiled(
    started: list[Background],
) -> None:
    told: list[bool] = []
    choice = EngineChoice(table(7_000), cart(), 11, on_start=lambda: told.append(True))
    assert choice.for_model() == "interpreted"
    choice.fitted("interpreted", 2.0)
    assert choice.for_fold() == "interpreted"
    assert (len(started), told) == (1, [True])
    started[0].has_succeeded = True
    assert choice.for_fold() == "compiled"


def test_kernels_that_are_there_are_used_for_little_work_too(started: list[Background], tmp_path: Path) -> None:
    data = table(3_000)
    (tmp_path / f"ready-{kernel_kind(data, cart())}").touch()
    choice = EngineChoice(data, cart(), 11)
    assert (choice.for_model(), choice.for_fold(), started) == ("compiled", "compiled", [])


def test_what_is_kept_has_the_sums_of_the_interpreter_where_sums_depend_on_their_order(
    started: list[Background], tmp_path: Path
) -> None:
    data = table(7_000, missing=True)
    (tmp_path / f"ready-{kernel_kind(data, c45())}").touch()
    choice = EngineChoice(data, c45(), 11)
    assert (choice.for_model(), choice.for_fold()) == ("canonical", "compiled")
    numbers = table(3_000, regression=True)
    plan = cart().for_schema(numbers.schema)
    (tmp_path / f"ready-{kernel_kind(numbers, plan)}").touch()
    choice = EngineChoice(numbers, cart(), 11)
    assert (choice.for_model(), choice.for_fold()) == ("canonical", "canonical")


def test_where_one_tree_takes_longer_than_compiling_kernels_are_compiled_first(
    started: list[Background], tmp_path: Path
) -> None:
    data = table(250_000)
    choice = EngineChoice(data, cart(), 2)
    assert (choice.for_model(), choice.compiles_here, started) == ("compiled", True, [])
    choice.fitted("compiled", 30.0)
    assert list(tmp_path.iterdir())  # the next command knows
    assert not started


def test_a_first_tree_that_took_long_makes_up_for_a_low_estimate(started: list[Background]) -> None:
    choice = EngineChoice(table(1_500), cart(), 11)
    assert choice.for_model() == "interpreted"
    assert not started
    choice.fitted("interpreted", 5.0)
    assert choice.for_fold() == "interpreted"
    assert len(started) == 1


def test_where_no_second_process_can_be_started_only_much_work_is_worth_compiling(
    started: list[Background], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "start_background", lambda *_: None)
    assert EngineChoice(table(7_000), cart(), 4).for_model() == "interpreted"
    assert EngineChoice(table(80_000), cart(), 11).for_model() == "compiled"


@pytest.mark.parametrize(
    ("setting", "engine"), [("off", "interpreted"), ("foreground", "compiled"), ("background", "interpreted")]
)
def test_compiling_can_be_switched_off_or_waited_for(
    started: list[Background], monkeypatch: pytest.MonkeyPatch, setting: str, engine: str
) -> None:
    monkeypatch.setenv(VARIABLE, setting)
    assert EngineChoice(table(7_000), cart(), 11).for_model() == engine
    assert len(started) == (setting == "background")


def test_switched_off_means_large_tables_too(started: list[Background], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, Compile.OFF.value)
    assert EngineChoice(table(250_000), cart(), 2).for_model() == "interpreted"


def test_a_setting_that_is_unknown_is_refused_with_the_allowed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "of")
    with pytest.raises(ParameterError, match="'background', 'foreground', 'off', not 'of'"):
        engine_choice.compile_setting()


def test_learners_of_another_kind_choose_for_themselves(started: list[Background]) -> None:
    data = table(7_000)
    assert EngineChoice(data, chaid(), 11).for_model() == "auto"
    assert EngineChoice(data, c45(max_leaves=5), 11).for_model() == "auto"
    assert EngineChoice(data, forest(trees=500), 1).for_model() == "auto"
    assert not started


@pytest.mark.parametrize(("compiled", "engine"), [(False, "interpreted"), (True, "auto")])
def test_a_small_forest_does_not_wait_for_the_first_kernels(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, engine: str
) -> None:
    monkeypatch.setattr("treewright.jit.is_compiled", lambda: compiled)
    assert EngineChoice(table(500), forest(trees=10), 1).for_model() == engine


# -- the second process ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("leave", "done"), [(True, "left"), (False, "ended")])
def test_the_second_process_ends_with_the_command_unless_it_may_go_on(
    started: list[Background], leave: bool, done: str
) -> None:
    with EngineChoice(table(7_000), cart(), 11).running(leave=lambda number: leave and number == 4711) as choice:
        choice.for_model()
    assert started[0].done == done


def test_an_interrupted_command_leaves_no_process(started: list[Background]) -> None:
    def interrupted() -> None:
        with EngineChoice(table(7_000), cart(), 11).running(leave=lambda _: True) as choice:
            choice.for_model()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert started[0].done == "ended"


# -- kinds -------------------------------------------------------------------------------------------------------------


def test_options_that_are_numbers_need_no_kernels_of_their_own_but_other_columns_do() -> None:
    data = table(100)
    kind = kernel_kind(data, c45())
    assert kernel_kind(table(200, seed=1), c45(confidence=0.1, min_objects=5)) == kind
    assert kernel_kind(data, c45(max_depth=3)) == kind
    others = [
        kernel_kind(table(100, missing=True), c45()),
        kernel_kind(table(20_000), c45()),
        kernel_kind(data, cart()),
        kernel_kind(data, c45(prune=False)),
        kernel_kind(replace(data, weights=np.full(100, 0.5)), c45()),
        kernel_kind(sample("play-tennis"), c45()),
    ]
    assert len({kind, *others}) == 7


def test_sums_are_exact_where_all_summands_are_whole() -> None:
    data = table(50, missing=True)
    recipes = c45().learner.recipe, CART()
    assert recipes[0] is not None
    assert [sums_are_exact(data, one) for one in recipes if one is not None] == [False, True]
    assert sums_are_exact(replace(data, weights=np.full(50, 2.0)), CART())
    assert not sums_are_exact(replace(data, weights=np.full(50, 0.5)), CART())
    assert not sums_are_exact(table(50, regression=True), CART())


# -- the model does not depend on it -----------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", [c45(), c45(prune=False), cart(), cart(stopping=Stopping(max_depth=4))])
@pytest.mark.parametrize("kind", ["missing", "weights", "number"])
def test_the_canonical_engine_saves_the_bytes_of_the_interpreter(plan: Any, kind: str, tmp_path: Path) -> None:
    if kind == "number" and plan.name != "CART":
        pytest.skip("C4.5 predicts classes")
    data = table(400, missing=kind == "missing", regression=kind == "number")
    if kind == "weights":
        data = replace(data, weights=np.random.default_rng(1).random(400) + 0.5)
    saved = []
    for engine in ("interpreted", "canonical"):
        fit(data, plan, engine=engine).save(tmp_path / engine)
        saved.append((tmp_path / engine).read_bytes())
    assert saved[0] == saved[1]


def test_the_canonical_engine_grows_single_trees_only() -> None:
    with pytest.raises(ParameterError, match="engine='canonical'"):
        fit(table(50), forest(trees=2), engine="canonical")


# -- folds of other commands -------------------------------------------------------------------------------------------


def test_folds_of_a_small_table_use_kernels_that_are_there_and_compile_none(
    started: list[Background], tmp_path: Path
) -> None:
    data = table(7_000)
    assert engine_choice.engine_of_folds(data, cart(), 10) == "auto"
    (tmp_path / f"ready-{kernel_kind(data, cart())}").touch()
    assert engine_choice.engine_of_folds(data, cart(), 10) == "compiled"
    assert engine_choice.engine_of_folds(table(26_000), cart(), 10) == "auto"  # chooses kernels by itself
    assert engine_choice.engine_of_folds(data, chaid(), 10) == "auto"
    assert not started


def test_a_table_below_the_limit_of_the_automatic_choice_has_the_sums_of_the_interpreter() -> None:
    rows = COMPILED_CELLS // 4 - 1
    longest = engine_choice.interpreted_seconds(table(rows, regression=True), for_regression(CART()))
    assert longest < engine_choice.FOREGROUND


def test_cross_validation_asks_once_for_all_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def engine(dataset: Dataset, learner: object, fits: int) -> str:
        asked.append(fits)
        return "canonical"

    monkeypatch.setattr(fold_runs, "engine_of_folds", engine)
    data = table(200, missing=True)
    splits = [(fold, (np.arange(fold * 20, 200), np.arange(fold * 20))) for fold in (1, 2, 3)]
    found, expected = (
        list(fold_runs.run_splits(data, Learn(c45(), engine=name), splits, 3, 1)) for name in ("auto", "interpreted")
    )
    assert asked == [3]
    assert [run.predicted.tolist() for run in found] == [run.predicted.tolist() for run in expected]
