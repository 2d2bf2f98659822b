"""Compiling ahead: what other processes are asked for, and when they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fitting.test_engine_choice import table
from treewright import c45, cart, sample
from treewright.errors import TreewrightError
from treewright.fitting import warm_up
from treewright.fitting.engine_choice import kernel_kind
from treewright.fitting.learn import fit
from treewright.fitting.warm_up import Family, Request, compile_all, compile_for, families, request_for
from treewright.learners.kernels import compile_ahead
from treewright.learners.kernels.compile_ahead import LAST, BackgroundProcess

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python


def small(request: Request) -> Request:
    """Return the same work with few cases."""
    return {**request, "rows": 60}


# -- requests ----------------------------------------------------------------------------------------------------------


def test_a_request_has_kinds_of_columns_but_no_name_and_no_cell() -> None:
    text = json.dumps(request_for(sample("play-tennis"), c45())).lower()
    assert not any(word in text for word in ("outlook", "sunny", "wind"))


def test_a_wide_table_is_asked_for_by_a_few_of_its_columns() -> None:
    data = table(50)
    wide = data.take(np.arange(50))
    request = request_for(wide, c45())
    assert len(request["kinds"]) == 5
    assert request["rows"] == warm_up.ROWS_OF_BLOCK


@pytest.mark.parametrize("missing", [False, True])
def test_the_work_of_a_request_marks_its_kind_and_its_cases_make_a_tree_to_prune(
    missing: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(warm_up, "ready_mark", lambda kind: tmp_path / kind)
    data = table(60, missing=missing)
    request = small(request_for(data, c45()))
    assert fit(warm_up._cases_of(request), c45(prune=False), engine="interpreted").tree.n_leaves > 2
    compile_for(request)
    assert {path.name for path in tmp_path.iterdir()} == {kernel_kind(data, plan) for plan in (c45(), c45(prune=False))}


def test_all_works_are_for_different_kinds_of_tables() -> None:
    texts = [json.dumps(request, sort_keys=True) for family in families() for request in family.requests]
    assert len(texts) == len(set(texts))
    forests = [request for family in families() for request in family.requests if request["trees"]]
    compile_for({**forests[0], "rows": 60})


# -- processes ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def background() -> Iterator[BackgroundProcess]:
    """Start a second process, which has nothing to do yet."""
    process = compile_ahead.started("treewright.fitting.warm_up", subprocess.PIPE, "background", own_session=True)
    assert process is not None
    background = BackgroundProcess(process)
    yield background
    background.end()


def _ends(background: BackgroundProcess) -> bool:
    for _ in range(600):
        if not background.is_running:
            return True
        time.sleep(0.1)
    return False


def test_a_second_process_ends_when_its_work_is_done(background: BackgroundProcess) -> None:
    background.send(LAST)
    assert _ends(background)
    assert background.has_succeeded


def test_a_second_process_does_not_outlive_the_one_that_started_it(background: BackgroundProcess) -> None:
    background._process.stdin.close()  # type: ignore[union-attr]  # as the system does when a process is killed
    assert _ends(background)
    assert not background.has_succeeded


def test_a_second_process_that_may_goes_on_alone(background: BackgroundProcess) -> None:
    process = background._process
    background.leave()
    process.returncode = None
    assert process.wait(60) == 0


def test_a_second_process_is_ended_with_the_command(background: BackgroundProcess) -> None:
    background.end()
    assert not background.is_running


def test_no_process_is_started_where_none_can_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "processors", lambda: 1)
    assert warm_up.start_background(table(50), cart()) is None


# -- all kinds ---------------------------------------------------------------------------------------------------------


def test_all_works_are_done_by_other_processes_with_progress(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    works = [small(request_for(table(60), plan)) for plan in (c45(), cart())]
    monkeypatch.setattr(warm_up, "families", lambda: [Family("one", tuple(works))])
    monkeypatch.setattr(warm_up, "cache_folder", lambda: tmp_path)
    reported: list[tuple[int, int]] = []
    assert compile_all(2, lambda done, of: reported.append((done, of))) == tmp_path
    assert reported == sorted(reported)
    assert reported[-1] == (2, 2)


def test_a_work_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(warm_up, "families", lambda: [Family("none", ({"kinds": []},))])
    monkeypatch.setattr(warm_up, "cache_folder", lambda: tmp_path)
    with pytest.raises(TreewrightError, match="failed after 0 of 1"):
        compile_all(1)


def test_where_no_folder_is_writable_the_message_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_up, "cache_folder", lambda: None)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/nowhere")
    with pytest.raises(TreewrightError, match=r"none of these folders is writable: .*proc.*set NUMBA_CACHE_DIR"):
        compile_all()


@pytest.mark.skipif(sys.platform == "win32", reason="priorities of Unix")
def test_the_second_process_has_low_priority(background: BackgroundProcess) -> None:
    for _ in range(100):
        if os.getpriority(os.PRIO_PROCESS, background.number) == warm_up.LOW_PRIORITY:
            return
        time.sleep(0.1)
    raise AssertionError("the process has the priority of the first")
